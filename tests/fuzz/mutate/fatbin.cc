#include "layout.h"

// docs/reference/fatbin.md, and LLVM's OffloadBinary.
namespace archguard::fuzz {

void find_entries(Layout& layout, std::size_t at, std::uint64_t size) {
  const std::size_t group = layout.new_group();
  const std::size_t end = layout.in.holds(at, size) ? at + static_cast<std::size_t>(size) : layout.in.size();
  while (end - at >= 64 && !layout.full()) {
    layout.values(at, 2, 2);  // kind, version
    const std::uint64_t header = layout.size(at + 4, 4, at);
    const std::size_t payload_at = layout.in.holds(at, header) ? at + static_cast<std::size_t>(header) : end;
    const std::uint64_t payload = layout.size(at + 8, 8, payload_at);
    layout.size(at + 16, 4, payload_at);
    layout.offset(at + 20, 4, at);  // options
    layout.values(at + 24, 2, 2);   // minor, major
    layout.value(at + 28, 4);       // arch
    const std::uint64_t name = layout.offset(at + 32, 4, at);
    layout.size(at + 36, 4, layout.in.holds(at, name) ? at + static_cast<std::size_t>(name) : end);
    layout.values(at + 40, 8, 3);  // flags, nothing known, inflated size
    if (header < 8 || payload_at >= end || payload > end - payload_at) break;
    layout.unit(at, header + payload, group, Kind::entry);
    at = payload_at + static_cast<std::size_t>(payload);
  }
}

void find_fatbin(Layout& layout, std::size_t at) {
  layout.value(at, 4);
  layout.values(at + 4, 2, 2);  // version, header's size
  const std::uint64_t size = layout.size(at + 8, 8, at + 16);
  if (!layout.in.holds(at, 16)) return;
  if (layout.in.holds(at + 16, size)) layout.unit(at, 16 + size, 0, Kind::fatbin);
  find_entries(layout, at + 16, size);
}

void find_wrapper(Layout& layout, std::size_t at) {
  layout.values(at, 4, 2);      // magic, version
  layout.values(at + 8, 8, 2);  // addresses
  layout.unit(at, 24, 0, Kind::wrapper);
}

void find_offload(Layout& layout, std::size_t at) {
  layout.values(at, 4, 2);  // magic, version
  layout.unit(at, layout.size(at + 8, 8, at), 0, Kind::piece);
  const std::uint64_t entry = layout.offset(at + 16, 8, at);
  if (!layout.in.holds(at, entry)) return;
  const std::size_t from = at + static_cast<std::size_t>(entry);
  layout.size(at + 24, 8, from);
  layout.values(from, 2, 2);  // kind, producer
  layout.value(from + 4, 4);  // flags
  const std::uint64_t strings = layout.table(from + 8, 8, at);
  const std::size_t group = layout.new_group();
  const std::uint64_t number = layout.count(from + 16, 8, group);
  const std::uint64_t image = layout.offset(from + 24, 8, at);
  layout.size(from + 32, 8,
              layout.in.holds(at, image) ? at + static_cast<std::size_t>(image) : layout.in.size());
  if (!layout.in.holds(at, strings)) return;
  for (std::size_t i = 0; i < number && i < 8; ++i) {
    const std::size_t string = at + static_cast<std::size_t>(strings) + i * 16;
    layout.offset(string, 8, at);  // key
    layout.offset(string + 8, 8, at);
    layout.unit(string, 16, group, Kind::record);
  }
}

}  // namespace archguard::fuzz
