#include "host/coff.h"

#include <algorithm>

#include "base/text.h"

namespace archguard {
namespace {

// An image begins with "MZ"; the u32 at 0x3c is the offset of "PE\0\0", behind which stands a COFF header,
// which in an object file is the first thing:
//   0 u16 machine, 2 u16 sections, 8 u32 symbol table, 12 u32 symbols, 16 u16 optional header's size, 18 u16
//   flags
// The section headers follow the optional header, 40 bytes each:
//   0 name (8), 8 u32 size in memory, 12 u32 address from the base of the image, 16 u32 size in the file, 20
//   u32 offset in the file, 36 u32 flags
// An object for many sections (/bigobj) has a header of 56 bytes instead: u16 0, u16 0xffff, u16 version 2,
// u16 machine, …, 44 u32 sections, 48 u32 symbol table, 52 u32 symbols.
// The string table follows the symbols (18 bytes each, 20 under /bigobj).
constexpr std::uint32_t kPeOffsetAt = 0x3c, kPeMagic = 0x00004550;
constexpr std::size_t kCoffHeaderSize = 20, kBigSize = 56, kNameSize = 8;
constexpr std::uint64_t kCoffSymbolSize = 18, kBigSymbolSize = 20;
constexpr std::uint16_t kCoffX64 = 0x8664, kCoffArm64 = 0xaa64;
constexpr std::uint32_t kCodeFlag = 0x20, kNoBytesFlag = 0x80;

bool is_big_object(const Cursor& start) {
  return start.u16(0) == 0 && start.u16(2) == 0xffff && start.u16(4) >= 2;
}

Result<CoffHeader> read_big_header(Window& in) {
  ARCHGUARD_TRY(bytes, in.at(0, kBigSize));
  const Cursor header(bytes);
  CoffHeader read;
  read.sections = header.u32(44);
  read.sections_at = kBigSize;
  read.symbols_at = header.u32(48);
  read.strings_at = header.u32(48) + header.u32(52) * kBigSymbolSize;
  return read;
}

}  // namespace

bool is_pe(ByteView start) {
  return starts_with(start.text(), "MZ");
}

// u16 offset of the relocations at 0x18: behind a header that has room for the PE header's offset it is 0x40
// or more.
bool is_dos_program(ByteView start, const ByteSource& source) {
  constexpr std::uint64_t kRelocationsAt = 0x18, kOfDosHeader = 0x1c, kOfPe = 0x40;
  const Cursor in(start);
  if (!is_pe(start) || in.size() < kOfPe) return false;
  const std::uint64_t relocations = in.u16(kRelocationsAt), next = in.u32(kPeOffsetAt);
  const auto signature = next != 0 ? read_bytes(source, next, 2) : Result<Bytes>(Error{});
  const std::string_view text = signature ? ByteView(*signature).text() : std::string_view();
  if (text == "PE") return false;  // Windows does not look at the relocations
  return (relocations >= kOfDosHeader && relocations < kOfPe) || text == "NE" || text == "LE" || text == "LX";
}

bool is_coff_object(ByteView start, std::uint64_t file_size) {
  const Cursor in(start);
  if (is_big_object(in)) return in.holds(0, kBigSize) && (in.u16(6) == kCoffX64 || in.u16(6) == kCoffArm64);
  // Two bytes are a weak sign: the rest of the header must be that of an object.
  const std::uint64_t sections = in.u16(2);
  return (in.u16(0) == kCoffX64 || in.u16(0) == kCoffArm64) && sections != 0 && in.u16(16) == 0 &&
         kCoffHeaderSize + sections * kCoffSectionSize <= file_size;
}

Result<CoffHeader> read_coff_header(Window& in, std::uint64_t file_size) {
  ARCHGUARD_TRY(start, in.at(0, static_cast<std::size_t>(std::min<std::uint64_t>(64, file_size))));
  CoffHeader read;
  read.linked = is_pe(start);
  if (!read.linked && is_big_object(Cursor(start))) return read_big_header(in);
  std::uint64_t coff_at = 0;
  if (read.linked) {
    const std::uint64_t pe_at = Cursor(start).u32(kPeOffsetAt);
    const auto signature = in.at(pe_at, 4);
    if (!signature || Cursor(*signature).u32(0) != kPeMagic)
      return Error{{}, "begins with MZ and has no PE header at " + hex(pe_at), {}};
    coff_at = pe_at + 4;
  }
  ARCHGUARD_TRY(bytes, in.at(coff_at, kCoffHeaderSize));
  const Cursor header(bytes);
  read.sections = header.u16(2);
  read.symbols_at = header.u32(8);
  if (read.symbols_at != 0) read.strings_at = read.symbols_at + header.u32(12) * kCoffSymbolSize;
  read.optional_at = coff_at + kCoffHeaderSize;
  read.optional_size = header.u16(16);
  read.sections_at = read.optional_at + read.optional_size;
  return read;
}

CoffSection coff_section(ByteView bytes) {
  const Cursor header(bytes);
  const std::string_view name = header.part(0, kNameSize).text();
  const std::uint32_t flags = header.u32(36);
  CoffSection section;
  section.name = name.substr(0, name.find('\0'));
  section.size_in_memory = header.u32(8);
  section.address = header.u32(12);
  section.size_in_file = header.u32(16);
  section.offset = header.u32(20);
  section.is_code = (flags & kCodeFlag) != 0;
  section.has_bytes = (flags & kNoBytesFlag) == 0;
  return section;
}

}  // namespace archguard
