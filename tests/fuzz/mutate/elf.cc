#include <algorithm>

#include "layout.h"

// ELF of 64 and of 32 bits, little-endian, a cubin too.
namespace archguard::fuzz {
namespace {

constexpr std::uint64_t kSymbols = 2, kRela = 4, kDynamic = 6, kNotes = 7, kRel = 9, kDynamicSymbols = 11,
                        kNoBits = 8, kOfCuda = 0x70000000;
constexpr std::size_t kSectionsMost = 64, kSymbolsMost = 48, kRecordsMost = 24;

struct ElfSection {
  std::uint64_t type = 0, link = 0, offset = 0, size = 0;
};

class ElfFinder {
 public:
  ElfFinder(Layout& layout, std::size_t at)
      : layout_(layout), base_(at), wide_(layout.in.u8(at + 4) != 1), word_(wide_ ? 8 : 4) {}

  void find() {
    layout_.values(base_ + 4, 1, 5);   // class, data, version, OS/ABI and its version
    layout_.values(base_ + 16, 2, 2);  // type, machine
    layout_.value(base_ + 20, 4);
    const std::size_t offsets = base_ + 24 + word_, rest = offsets + 2 * word_;
    layout_.value(base_ + 24, word_);  // entry point
    const std::uint64_t segments = layout_.table(offsets, word_, base_);
    const std::uint64_t sections = layout_.table(offsets + word_, word_, base_);
    layout_.value(rest, 4);      // flags,
    layout_.values(rest, 1, 2);  // whose lowest bytes are a cubin's arch
    layout_.values(rest + 4, 2, 2);
    layout_.value(rest + 10, 2);
    layout_.value(rest + 14, 2);
    const std::size_t segment_group = layout_.new_group(), section_group = layout_.new_group();
    const std::uint64_t segment_count = layout_.count(rest + 8, 2, segment_group);
    const std::uint64_t section_count = layout_.count(rest + 12, 2, section_group);
    find_segments(segments, segment_count, segment_group);
    find_sections(sections, section_count, layout_.in.u16(rest + 14), section_group);
  }

 private:
  // The place in the input of an offset in the file; its end where it lies outside.
  std::size_t place(std::uint64_t offset) const {
    return layout_.in.holds(base_, offset) ? base_ + static_cast<std::size_t>(offset) : layout_.in.size();
  }

  std::uint64_t word(std::size_t at) const { return wide_ ? layout_.in.u64(at) : layout_.in.u32(at); }

  void find_segments(std::uint64_t from, std::uint64_t count, std::size_t group) {
    const std::size_t size = wide_ ? 56 : 32;
    for (std::size_t i = 0; i < std::min<std::uint64_t>(count, kSectionsMost); ++i) {
      const std::size_t at = place(from) + i * size;
      if (!layout_.in.holds(at, size)) return;
      layout_.value(at, 4);                     // type
      layout_.value(at + (wide_ ? 4 : 24), 4);  // flags
      const std::size_t fields = at + word_;    // offset, two addresses, size in the file, in memory
      const std::uint64_t offset = layout_.offset(fields, word_, base_);
      layout_.values(fields + word_, word_, 2);
      layout_.size(fields + 3 * word_, word_, place(offset));
      layout_.value(fields + 4 * word_, word_);
      layout_.value(at + (wide_ ? 48 : 28), word_);  // alignment
      layout_.unit(at, size, group, Kind::segment);
    }
  }

  ElfSection header_at(std::size_t at) const {
    const std::size_t fields = at + 8 + 2 * word_;
    return {layout_.in.u32(at + 4), layout_.in.u32(fields + 2 * word_), word(fields), word(fields + word_)};
  }

  void find_sections(std::uint64_t from, std::uint64_t count, std::uint64_t names, std::size_t group) {
    const std::size_t size = wide_ ? 64 : 40, table = place(from);
    const std::size_t name_base = place(header_at(table + static_cast<std::size_t>(names) * size).offset);
    for (std::size_t i = 0; i < std::min<std::uint64_t>(count, kSectionsMost); ++i) {
      const std::size_t at = table + i * size;
      if (!layout_.in.holds(at, size)) return;
      const ElfSection section = header_at(at);
      layout_.offset(at, 4, name_base);
      layout_.value(at + 4, 4);          // type
      layout_.values(at + 8, word_, 2);  // flags, address
      const std::size_t fields = at + 8 + 2 * word_;
      layout_.offset(fields, word_, base_);
      if (section.type == kNoBits)
        layout_.value(fields + word_, word_);
      else
        layout_.size(fields + word_, word_, place(section.offset));
      layout_.values(fields + 2 * word_, 4, 2);          // link, info
      layout_.values(fields + 2 * word_ + 8, word_, 2);  // alignment, size of an entry
      layout_.unit(at, size, group, Kind::section);
      find_content(section, place(header_at(table + static_cast<std::size_t>(section.link) * size).offset));
    }
  }

  void find_content(const ElfSection& section, std::size_t names) {
    const std::size_t at = place(section.offset);
    const std::size_t end =
        layout_.in.holds(at, section.size) ? at + static_cast<std::size_t>(section.size) : layout_.in.size();
    switch (section.type) {
      case kSymbols:
      case kDynamicSymbols:
        return find_symbols(at, end, names);
      case kRela:
        return find_words(at, end, 3);
      case kRel:
      case kDynamic:
        return find_words(at, end, 2);
      case kNotes:
        return find_notes(at, end);
      default:
        if (section.type >= kOfCuda) find_attributes(at, end);
    }
  }

  void find_symbols(std::size_t at, std::size_t end, std::size_t names) {
    const std::size_t group = layout_.new_group(), size = wide_ ? 24 : 16;
    for (std::size_t i = 0; i < kSymbolsMost && end - at >= size; ++i, at += size) {
      layout_.offset(at, 4, names);
      const std::size_t info = at + (wide_ ? 4 : 12), value = at + (wide_ ? 8 : 4);
      layout_.values(info, 1, 2);  // type and binding, other
      layout_.value(info + 2, 2);  // section
      layout_.values(value, word_, 2);
      layout_.unit(at, size, group, Kind::symbol);
    }
  }

  // Relocations and what the dynamic linker reads: words only.
  void find_words(std::size_t at, std::size_t end, std::size_t words) {
    const std::size_t group = layout_.new_group(), size = words * word_;
    for (std::size_t i = 0; i < kRecordsMost && end - at >= size; ++i, at += size) {
      layout_.values(at, word_, words);
      layout_.unit(at, size, group, Kind::record);
    }
  }

  void find_notes(std::size_t at, std::size_t end) {
    const std::size_t group = layout_.new_group();
    for (std::size_t i = 0; i < kRecordsMost && end - at >= 12; ++i) {
      const std::uint64_t name = layout_.size(at, 4, at + 12), padded = (name + 3) / 4 * 4;
      const std::uint64_t text = layout_.in.holds(at + 12, padded) ? layout_.size(at + 4, 4, at + 12 + padded)
                                                                   : layout_.value(at + 4, 4);
      layout_.value(at + 8, 4);  // type
      const std::uint64_t size = 12 + padded + (text + 3) / 4 * 4;
      if (size > end - at) return;
      layout_.values(at + 12 + padded, 4, std::min<std::size_t>(6, static_cast<std::size_t>(text / 4)));
      layout_.unit(at, size, group, Kind::record);
      at += static_cast<std::size_t>(size);
    }
  }

  // .nv.info and .nv.compat: u8 form, u8 attribute, u16 value; of form 4 it is the size of what follows.
  void find_attributes(std::size_t at, std::size_t end) {
    const std::size_t group = layout_.new_group();
    for (std::size_t i = 0; i < kRecordsMost && end - at >= 4; ++i) {
      layout_.values(at, 1, 2);
      const bool sized = layout_.in.u8(at) == 4;
      const std::uint64_t size = 4 + (sized ? layout_.size(at + 2, 2, at + 4) : 0);
      if (!sized) layout_.value(at + 2, 2);
      if (size > end - at) return;
      layout_.unit(at, size, group, Kind::record);
      at += static_cast<std::size_t>(size);
    }
  }

  Layout& layout_;
  const std::size_t base_;
  const bool wide_;
  const std::size_t word_;
};

}  // namespace

void find_elf(Layout& layout, std::size_t at) {
  ElfFinder(layout, at).find();
}

}  // namespace archguard::fuzz
