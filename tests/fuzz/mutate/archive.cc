#include <algorithm>

#include "layout.h"

// `ar` archives of GNU, BSD and Microsoft: headers of 60 characters, with sizes in decimal.
namespace archguard::fuzz {
namespace {

constexpr std::size_t kArHeader = 60, kArSymbolsMost = 32;

// The symbol table: how many, then the offset of each one's member; big-endian.
void find_ar_symbols(Layout& layout, std::size_t at, std::uint64_t size, std::size_t width,
                     std::size_t base) {
  if (size < width) return;
  const std::size_t group = layout.new_group();
  const std::uint64_t number = layout.count(at, width, group, Form::big);
  const std::uint64_t most = std::min<std::uint64_t>(size / width - 1, kArSymbolsMost);
  for (std::size_t i = 1; i <= std::min(number, most); ++i) {
    layout.offset(at + i * width, width, base, Form::big);
    layout.unit(at + i * width, width, group, Kind::record);
  }
}

}  // namespace

void find_archive(Layout& layout, std::size_t base) {
  const bool thin = layout.says(base, "!<thin>\n");
  const std::size_t group = layout.new_group();
  layout.value(base + 2, 4);  // "arch" or "thin"
  std::size_t at = base + 8;
  while (layout.in.holds(at, kArHeader) && layout.says(at + 58, "`\n") && !layout.full()) {
    const std::size_t data = at + kArHeader;
    const bool symbols = layout.says(at, "/ ") || layout.says(at, "/SYM64/ ");
    const bool elsewhere = thin && !symbols && !layout.says(at, "//");
    layout.value(at, 8);  // the name
    if (layout.says(at, "/") && !symbols && !layout.says(at, "//")) layout.value(at + 1, 15, Form::decimal);
    if (layout.says(at, "#1/")) layout.size(at + 3, 13, data, Form::decimal);
    const std::uint64_t size =
        elsewhere ? layout.value(at + 48, 10, Form::decimal) : layout.size(at + 48, 10, data, Form::decimal);
    layout.value(at + 58, 2);
    const std::uint64_t held = elsewhere ? 0 : size;
    if (!layout.in.holds(data, held)) return;
    if (symbols) find_ar_symbols(layout, data, held, layout.says(at, "/ ") ? 4 : 8, base);
    find_coff_object(layout, data);
    const std::size_t end = data + static_cast<std::size_t>(held);
    const std::size_t next = std::min(end + (end - base) % 2, layout.in.size());
    layout.unit(at, next - at, group, Kind::member);
    at = next;
  }
}

}  // namespace archguard::fuzz
