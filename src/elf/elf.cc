#include "elf/elf.h"

#include "base/text.h"

namespace archguard {
namespace {

constexpr const char* kCutOff = "the file is cut off: build it again, or copy it whole";

constexpr std::size_t kHeaderSize32 = 52;
constexpr std::uint64_t kSectionSize32 = 40, kSectionSize64 = 64;

}  // namespace

bool has_elf_magic(ByteView start) {
  return Cursor(start).u32(0) == 0x464c457f;  // 7f 'E' 'L' 'F'
}

bool is_big_endian_elf(ByteView start) {
  const Cursor in(start);
  const unsigned file_class = in.u8(4);
  return has_elf_magic(start) && in.size() >= kHeaderSize32 && (file_class == 1 || file_class == 2) &&
         in.u8(5) == 2 && in.u8(6) == 1 && in.u8(18) == 0;  // of the machine's number, which is below 256
}

bool is_elf_table(std::uint32_t type) {
  switch (type) {
    case 2:           // SHT_SYMTAB
    case 3:           // SHT_STRTAB
    case 4:           // SHT_RELA
    case 5:           // SHT_HASH
    case 9:           // SHT_REL
    case 11:          // SHT_DYNSYM
    case 0x6ffffff6:  // SHT_GNU_HASH
    case 0x6ffffffd:  // SHT_GNU_verdef
    case 0x6ffffffe:  // SHT_GNU_verneed
    case 0x6fffffff:  // SHT_GNU_versym
      return true;
    default:
      return false;
  }
}

Result<ElfHeader> parse_elf_header(ByteView start) {
  const Cursor in(start);
  if (in.size() < kHeaderSize32)
    return Error{{}, "ELF header needs 52 bytes, the file has " + std::to_string(in.size()), kCutOff};
  const unsigned file_class = in.u8(4);
  if (file_class != 1 && file_class != 2)
    return Error{{}, "ELF class must be 1 or 2, found " + std::to_string(file_class), {}};
  if (in.u8(5) != 1)
    return Error{{}, "ELF byte order must be 1 (little-endian), found " + std::to_string(in.u8(5)), {}};
  ElfHeader header;
  header.is64 = file_class == 2;
  if (header.is64 && in.size() < kElfHeaderMost)
    return Error{{}, "ELF header needs 64 bytes, the file has " + std::to_string(in.size()), kCutOff};
  header.osabi = in.u8(7);
  header.abi_version = in.u8(8);
  header.type = in.u16(16);
  header.machine = in.u16(18);
  header.version = in.u32(20);
  header.segments_offset = header.is64 ? in.u64(32) : in.u32(28);
  header.sections_offset = header.is64 ? in.u64(40) : in.u32(32);
  const std::uint64_t flags_at = header.is64 ? 48 : 36;
  header.flags = in.u32(flags_at);
  header.segment_size = in.u16(flags_at + 6);
  header.segment_count = in.u16(flags_at + 8);
  header.section_size = in.u16(flags_at + 10);
  header.section_count = in.u16(flags_at + 12);
  header.names_index = in.u16(flags_at + 14);
  return header;
}

Result<ElfHeader> read_elf_header(const ByteSource& source) {
  ARCHGUARD_TRY(start, read_bytes(source, 0, std::min<std::uint64_t>(kElfHeaderMost, source.size())));
  if (!has_elf_magic(start)) return Error{{}, "is no ELF file", {}};
  return parse_elf_header(start);
}

void apply_section_zero(ElfHeader& header, ByteView section_zero) {
  const ElfSection zero = parse_elf_section(header, section_zero);
  if (header.section_count == 0) header.section_count = zero.size;
  if (header.names_index == kElfIndexInSectionZero) header.names_index = zero.link;
}

ElfSection parse_elf_section(const ElfHeader& header, ByteView bytes) {
  const Cursor in(bytes);
  ElfSection section;
  section.name = in.u32(0);
  section.type = in.u32(4);
  section.flags = header.is64 ? in.u64(8) : in.u32(8);
  section.address = header.is64 ? in.u64(16) : in.u32(12);
  section.offset = header.is64 ? in.u64(24) : in.u32(16);
  section.size = header.is64 ? in.u64(32) : in.u32(20);
  section.link = in.u32(header.is64 ? 40 : 24);
  section.info = in.u32(header.is64 ? 44 : 28);
  section.entry_size = header.is64 ? in.u64(56) : in.u32(36);
  return section;
}

Status check_section_table(const ElfHeader& header, std::uint64_t file_size) {
  const std::uint64_t least = header.is64 ? kSectionSize64 : kSectionSize32;
  if (header.section_size != least)
    return Error{{},
                 "ELF section headers must have " + std::to_string(least) + " bytes, found " +
                     std::to_string(header.section_size),
                 {}};
  const std::uint64_t remain = header.sections_offset < file_size ? file_size - header.sections_offset : 0;
  if (header.section_count > remain / header.section_size)
    return Error{{},
                 "ELF section table at " + hex(header.sections_offset) + " needs " +
                     count_of(header.section_count, "header") + " of " +
                     count_of(header.section_size, "byte") + ", " + count_of(remain, "byte") + " remain",
                 kCutOff};
  return Done{};
}

// A note: the sizes of name and description, a type, then both, padded to four bytes each.
ByteView build_id_in(ByteView notes) {
  constexpr std::uint64_t kHead = 12;
  constexpr std::uint32_t kBuildId = 3;
  const Cursor at(notes);
  const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  for (std::uint64_t note = 0; at.holds(note, kHead);) {
    const std::uint64_t name = at.u32(note), size = at.u32(note + 4);
    const std::uint64_t id = note + kHead + padded(name);
    if (!at.holds(id, size)) break;
    if (at.u32(note + 8) == kBuildId && name == 4 && at.c_string(note + kHead) == "GNU")
      return at.part(id, size);
    note = id + padded(size);
  }
  return {};
}

}  // namespace archguard
