#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace archguard {

// The header of an ELF file, host object or cubin, and where its tables are. Every count and offset below has
// been checked against the file's size.
//
// ELF (System V ABI, "Object Files"): 16 bytes e_ident (magic, class 32/64, byte order, OS/ABI), then type,
// machine, version, entry, offsets of the program and section tables, flags, sizes and counts. The 64-bit
// header has 64 bytes, the 32-bit one 52; a section header 64 or 40; a program header 56 or 32; a symbol 24
// or 16.
struct ElfHeader {
  bool is64 = true;
  std::uint8_t osabi = 0;
  std::uint8_t abi_version = 0;
  std::uint16_t type = 0;     // kElfRelocatable, …
  std::uint16_t machine = 0;  // kElfMachineCuda for a cubin
  std::uint32_t version = 0;
  std::uint32_t flags = 0;
  std::uint64_t segments_offset = 0;
  std::uint64_t segment_count = 0;
  std::uint64_t segment_size = 0;  // of one header
  std::uint64_t sections_offset = 0;
  std::uint64_t section_count = 0;
  std::uint64_t section_size = 0;  // of one header
  std::uint64_t names_index = 0;   // of the section that holds the sections' names
};

struct ElfSection {
  std::uint32_t name = 0;  // offset into the names
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;  // where the loader puts it; 0 in objects
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;        // of what belongs to another section: that one's index
  std::uint64_t entry_size = 0;  // of a table, of each of its entries
};

constexpr std::uint16_t kElfRelocatable = 1, kElfExecutable = 2, kElfShared = 3;
constexpr std::uint16_t kElfMachineX64 = 62, kElfMachineArm64 = 183, kElfMachineCuda = 190;
constexpr std::uint32_t kElfProgramBits = 1;
constexpr std::uint32_t kElfSymbols = 2, kElfStrings = 3, kElfRelocationsWithAddends = 4, kElfNote = 7,
                        kElfNoBits = 8, kElfRelocations = 9, kElfDynamicSymbols = 11;
constexpr std::uint64_t kElfLoaded = 0x2, kElfCode = 0x4;
// Types from here on are the machine's own. CUDA gives some a size and no bytes: .nv_debug.shared, type
// 0x7000000a, in NCCL 2.28's relocatable cubins, has its size in memory.
constexpr std::uint32_t kElfMachineTypes = 0x70000000;
constexpr std::uint16_t kElfReservedSections = 0xff00;    // of a symbol's section: from there on no index
constexpr std::uint32_t kElfCompat = 0x70000086;          // .nv.compat
constexpr std::uint16_t kElfIndexInSectionZero = 0xffff;  // SHN_XINDEX: section 0 has what did not fit
constexpr std::size_t kElfHeaderMost = 64;

bool has_elf_magic(ByteView start);
bool is_big_endian_elf(ByteView start);  // by its identification and its machine's number

// Is a section of this type a table of ELF's own: symbols, their names, versions and hashes, relocations?
bool is_elf_table(std::uint32_t type);

// From the first bytes of the file (64, or all of a smaller one). Table positions are not checked yet.
// Errors: cut short, big-endian, unknown class.
Result<ElfHeader> parse_elf_header(ByteView start);
// Of a whole file, also by its magic.
Result<ElfHeader> read_elf_header(const ByteSource& source);

// The header of section 0 holds the counts that did not fit (more than 65,279 sections).
void apply_section_zero(ElfHeader& header, ByteView section_zero);

// One section header of `header.section_size` bytes.
ElfSection parse_elf_section(const ElfHeader& header, ByteView bytes);

// The note that the linker makes of all that it links (ld's --build-id), in a PT_NOTE segment; empty where it
// is not there.
ByteView build_id_in(ByteView notes);

// Does the section table lie inside a file of this size, with headers that are large enough?
Status check_section_table(const ElfHeader& header, std::uint64_t file_size);

}  // namespace archguard
