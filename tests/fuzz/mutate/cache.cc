#include "layout.h"

// ld.so.cache of glibc: a header of 48 bytes, entries of 24, texts; offsets count from the header.
namespace archguard::fuzz {

void find_loader_cache(Layout& layout, std::size_t at) {
  const std::size_t group = layout.new_group();
  const std::uint64_t number = layout.count(at + 20, 4, group);
  if (!layout.in.holds(at, 48)) return;
  layout.size(at + 24, 4, at + 48);
  layout.value(at + 28, 1);  // endianness
  for (std::size_t i = 0; i < number && i < 64; ++i) {
    const std::size_t entry = at + 48 + i * 24;
    if (!layout.in.holds(entry, 24)) break;
    layout.value(entry, 4);  // flags
    layout.offset(entry + 4, 4, at);
    layout.offset(entry + 8, 4, at);
    layout.value(entry + 16, 8);  // hardware capabilities
    layout.unit(entry, 24, group, Kind::record);
  }
}

}  // namespace archguard::fuzz
