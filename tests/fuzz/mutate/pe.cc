#include <algorithm>

#include "layout.h"

// Microsoft's PE images, COFF objects and those for many sections (/bigobj).
namespace archguard::fuzz {
namespace {

constexpr std::size_t kCoffSectionsMost = 32, kCoffSymbolsMost = 32, kImportsMost = 16, kThunksMost = 8;
constexpr std::size_t kImportTable = 1, kDelayedTable = 13;

class CoffFinder {
 public:
  CoffFinder(Layout& layout, std::size_t base) : layout_(layout), base_(base) {}

  void find_headers(std::size_t at) {
    const std::size_t group = layout_.new_group();
    layout_.value(at, 2);  // machine
    const std::uint64_t sections = layout_.count(at + 2, 2, group);
    find_strings(at + 8, 18);
    const std::uint64_t optional = layout_.size(at + 16, 2, at + 20);
    layout_.value(at + 18, 2);
    find_sections(at + 20 + static_cast<std::size_t>(optional), sections, group);
    if (optional >= 28) find_optional(at + 20);
  }

  void find_big() {
    const std::size_t group = layout_.new_group();
    layout_.values(base_, 2, 4);  // 0, 0xffff, version, machine
    const std::uint64_t sections = layout_.count(base_ + 44, 4, group);
    find_strings(base_ + 48, 20);
    find_sections(base_ + 56, sections, group);
  }

 private:
  // The symbols, with the texts behind them; `at` is that of their offset, and their number follows.
  void find_strings(std::size_t at, std::size_t size) {
    const std::size_t group = layout_.new_group();
    const std::uint64_t symbols = layout_.table(at, 4, base_), number = layout_.count(at + 4, 4, group);
    if (symbols == 0 || !layout_.in.holds(base_ + symbols, number * size)) return;
    const std::size_t from = base_ + static_cast<std::size_t>(symbols);
    const std::size_t strings = from + static_cast<std::size_t>(number) * size;
    layout_.size(strings, 4, strings);
    for (std::size_t i = 0; i < std::min<std::uint64_t>(number, kCoffSymbolsMost); ++i) {
      const std::size_t symbol = from + i * size;
      layout_.value(symbol, 4);
      layout_.offset(symbol + 4, 4, strings);
      layout_.value(symbol + 8, 4);
      layout_.value(symbol + 12, size - 16);  // section
      layout_.values(symbol + size - 4, 2, 1);
      layout_.values(symbol + size - 2, 1, 2);
      layout_.unit(symbol, size, group, Kind::symbol);
    }
  }

  void find_sections(std::size_t at, std::uint64_t number, std::size_t group) {
    sections_at_ = at;
    for (sections_ = 0; sections_ < std::min<std::uint64_t>(number, kCoffSectionsMost);
         ++sections_, at += 40) {
      if (!layout_.in.holds(at, 40)) return;
      layout_.value(at, 8);
      if (layout_.says(at, "/")) layout_.value(at + 1, 7, Form::decimal);
      layout_.values(at + 8, 4, 2);  // size in memory, address
      const std::uint64_t data = layout_.offset(at + 20, 4, base_);
      layout_.size(at + 16, 4, layout_.in.holds(base_, data) ? base_ + data : layout_.in.size());
      layout_.values(at + 24, 4, 2);  // relocations, lines, their numbers, flags
      layout_.values(at + 32, 2, 2);
      layout_.value(at + 36, 4);
      layout_.unit(at, 40, group, Kind::coff_section);
    }
  }

  void find_optional(std::size_t at) {
    const bool wide = layout_.value(at, 2) == 0x20b;
    layout_.value(at + (wide ? 24 : 28), wide ? 8 : 4);  // the image's base
    layout_.values(at + 32, 4, 2);                       // alignments
    layout_.values(at + 56, 4, 2);                       // sizes of the image, of the headers
    const std::size_t tables = at + (wide ? 112 : 96);
    const std::uint64_t number = layout_.value(tables - 4, 4);
    for (std::size_t i = 0; i < std::min<std::uint64_t>(number, 16); ++i) {
      const std::uint64_t address = layout_.value(tables + i * 8, 4);
      layout_.value(tables + i * 8 + 4, 4);
      if (i == kImportTable) find_imports(place(address), 20, wide ? 8 : 4);
      if (i == kDelayedTable) find_imports(place(address), 32, wide ? 8 : 4);
    }
  }

  void find_imports(std::size_t at, std::size_t size, std::size_t thunk) {
    const std::size_t group = layout_.new_group();
    for (std::size_t i = 0; i < kImportsMost && layout_.in.holds(at, size); ++i, at += size) {
      layout_.values(at, 4, size / 4);
      layout_.unit(at, size, group, Kind::import);
      const std::uint64_t thunks = layout_.in.u32(at + (size == 20 ? 0 : 16));
      if (thunks == 0) return;  // the last one
      std::size_t each = place(thunks);
      for (std::size_t j = 0; j < kThunksMost && layout_.in.holds(each, thunk); ++j, each += thunk)
        if (layout_.value(each, thunk) == 0) break;
    }
  }

  // Where the byte of an address stands; the input's end for none.
  std::size_t place(std::uint64_t address) const {
    const Cursor& in = layout_.in;
    for (std::size_t i = 0; i < sections_; ++i) {
      const std::size_t at = sections_at_ + i * 40;
      const std::uint64_t begin = in.u32(at + 12), data = in.u32(at + 20);
      if (address == 0 || address < begin || address - begin >= in.u32(at + 16)) continue;
      if (in.holds(base_, data + (address - begin)))
        return base_ + static_cast<std::size_t>(data + (address - begin));
    }
    return in.size();
  }

  Layout& layout_;
  const std::size_t base_;
  std::size_t sections_at_ = 0, sections_ = 0;
};

}  // namespace

void find_image(Layout& layout, std::size_t at) {
  if (!layout.in.holds(at, 64)) return;
  const std::uint64_t header = layout.offset(at + 0x3c, 4, at);
  if (!layout.in.holds(at, header)) return;
  const std::size_t from = at + static_cast<std::size_t>(header);
  if (!layout.says(from, std::string_view("PE\0\0", 4))) return;
  layout.value(from, 4);
  CoffFinder(layout, at).find_headers(from + 4);
}

void find_coff_object(Layout& layout, std::size_t at) {
  const Cursor& in = layout.in;
  if (!in.holds(at, 20)) return;
  if (in.u16(at) == 0x8664 || in.u16(at) == 0xaa64) CoffFinder(layout, at).find_headers(at);
  if (in.u16(at) == 0 && in.u16(at + 2) == 0xffff && in.holds(at, 56)) CoffFinder(layout, at).find_big();
}

}  // namespace archguard::fuzz
