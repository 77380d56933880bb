#include "fatbin/host_tables.h"

#include <algorithm>

#include "base/text.h"
#include "elf/elf.h"

namespace archguard::fatbin {
namespace {

constexpr std::uint64_t kTableEntrySize = 24;  // of both, in 64-bit files
constexpr std::uint64_t kTableBlock = std::uint64_t{64} * 1024 / kTableEntrySize * kTableEntrySize;

// Of 28,000 objects of compilers and toolkits, no entry but a symbol table's first is zeros. `ld -r` empties
// what leads into sections that it drops, each with a place of its own: two in a row are none of those.
Result<bool> holds_zeros(const ByteSource& source, const Section& table, bool symbols) {
  const std::uint64_t size = table.size / kTableEntrySize * kTableEntrySize;
  std::uint64_t at = symbols ? kTableEntrySize : 0, in_a_row = 0;
  const std::uint64_t too_many = !symbols && size == kTableEntrySize ? 1 : 2;
  while (at < size) {
    ARCHGUARD_TRY(block, read_bytes(source, table.offset + at, std::min(kTableBlock, size - at)));
    for (std::size_t i = 0; i < block.size(); i += kTableEntrySize) {
      in_a_row = are_zeros({block.data() + i, kTableEntrySize}) ? in_a_row + 1 : 0;
      if (in_a_row == too_many) return true;
    }
    at += block.size();
  }
  return false;
}

}  // namespace

Result<const Section*> find_zeroed_table(const ByteSource& source, const HostObject& object) {
  const Section* none = nullptr;
  ARCHGUARD_TRY(header, read_elf_header(source));
  if (!header.is64) return none;
  std::uint64_t left = source.size();  // sections that share bytes would let a small file cost without end
  for (const Section& section : object.sections) {
    const bool symbols = section.name == ".symtab";
    // What debuggers read is no part of the program.
    const bool wanted =
        symbols || (starts_with(section.name, ".rela") && !starts_with(section.name, ".rela.debug"));
    if (!wanted || !section.has_bytes) continue;
    if (section.size > left) return none;
    left -= section.size;
    ARCHGUARD_TRY(lost, holds_zeros(source, section, symbols));
    if (lost) return &section;
  }
  return none;
}

}  // namespace archguard::fatbin
