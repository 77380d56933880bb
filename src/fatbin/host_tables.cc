#include "fatbin/host_tables.h"

#include <algorithm>

#include "base/text.h"
#include "elf/elf.h"

namespace archguard::fatbin {
namespace {

constexpr std::uint64_t kTableEntrySize = 24;  // of both, in 64-bit files
constexpr std::uint64_t kTableBlock = std::uint64_t{64} * 1024 / kTableEntrySize * kTableEntrySize;

// How many entries of zeros in a row are too many, and whether some must stand behind them.
struct Zeros {
  std::uint64_t most = 2;
  bool within = false;
  std::uint32_t type = 0;  // of what must follow, a relocation, where it is told
};

// "Base plus addend"; 0 where that of the machine is not known (System V ABI, its supplements).
std::uint32_t relative_type(std::uint16_t machine) {
  return machine == kElfMachineX64 ? 8 : machine == kElfMachineArm64 ? 1027 : 0;
}

// Of 28,000 objects of compilers and toolkits, no entry but a symbol table's first is zeros. `ld -r` empties
// what leads into sections that it drops, each with a place of its own: two in a row are none of those. Of
// 6,600 linked files none has more than one either, but old linkers may leave some at the end, and GNU ld
// puts what it made of none behind the relative ones, which come first (-mcmodel=large without -fPIC, in a
// PIE).
Result<bool> holds_zeros(const ByteSource& source, const Section& table, bool symbols, Zeros zeros) {
  const std::uint64_t size = table.size / kTableEntrySize * kTableEntrySize;
  std::uint64_t at = symbols ? kTableEntrySize : 0, in_a_row = 0;
  while (at < size) {
    ARCHGUARD_TRY(block, read_bytes(source, table.offset + at, std::min(kTableBlock, size - at)));
    for (std::size_t i = 0; i < block.size(); i += kTableEntrySize) {
      const bool empty = are_zeros({block.data() + i, kTableEntrySize});
      const bool follows = !empty && (zeros.type == 0 || Cursor(block).u32(i + 8) == zeros.type);
      if (in_a_row + empty >= zeros.most && (!zeros.within || follows)) return true;
      in_a_row = empty ? in_a_row + 1 : 0;
    }
    at += block.size();
  }
  return false;
}

// Members are sections, of which none has the number 0 (1.1 million groups of objects).
Result<bool> holds_no_member(const ByteSource& source, const Section& group) {
  constexpr std::uint64_t kWord = 4, kGroupMost = 1 << 16;
  ARCHGUARD_TRY(words, read_bytes(source, group.offset, std::min(group.size, kGroupMost)));
  const Cursor in(words);
  for (std::uint64_t at = kWord; at + kWord <= words.size(); at += kWord)
    if (in.u32(at) == 0) return true;
  return false;
}

// Of 32,000 objects none has two NULs in a row among the names of its symbols.
Result<bool> holds_no_names(const ByteSource& source, const Section& names) {
  constexpr std::size_t kNoNames = 16;
  std::size_t in_a_row = 0;
  for (std::uint64_t at = 0; at < names.size; at += kTableBlock) {
    ARCHGUARD_TRY(block, read_bytes(source, names.offset + at, std::min(kTableBlock, names.size - at)));
    for (const std::uint8_t byte : block) {
      in_a_row = byte == 0 ? in_a_row + 1 : 0;
      if (in_a_row == kNoNames) return true;
    }
  }
  return false;
}

Result<bool> is_zeroed(const ByteSource& source, const Section& section, bool linked, std::uint16_t machine) {
  if (!linked && section.name == ".strtab") return holds_no_names(source, section);
  if (!linked && section.name == ".group") return holds_no_member(source, section);
  if (section.name == (linked ? ".dynsym" : ".symtab"))
    return holds_zeros(source, section, true, linked ? Zeros{4, true} : Zeros{});
  if (linked && section.name == ".rela.dyn")
    return holds_zeros(source, section, false, {4, true, relative_type(machine)});
  if (linked && section.name == ".rela.plt") return holds_zeros(source, section, false, {4, true});
  // What debuggers read is no part of the program, nor what --emit-relocs left.
  if (linked || !starts_with(section.name, ".rela") || starts_with(section.name, ".rela.debug")) return false;
  return holds_zeros(source, section, false, {section.size < 2 * kTableEntrySize ? 1U : 2U, false});
}

}  // namespace

Result<const Section*> find_zeroed_table(const ByteSource& source, const HostObject& object) {
  const Section* none = nullptr;
  ARCHGUARD_TRY(header, read_elf_header(source));
  if (!header.is64) return none;
  std::uint64_t left = source.size();  // sections that share bytes would let a small file cost without end
  for (const Section& section : object.sections) {
    if (!section.has_bytes) continue;
    if (section.size > left) return none;
    left -= section.size;
    ARCHGUARD_TRY(lost, is_zeroed(source, section, object.linked, header.machine));
    if (lost) return &section;
  }
  return none;
}

}  // namespace archguard::fatbin
