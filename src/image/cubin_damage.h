#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "elf/elf.h"

namespace archguard {

// Is a section of that name, which may be cut, of a type that the tools give it? In each cubin of CUDA 8.0 to
// 13.5 code is SHT_PROGBITS, attributes 0x70000000, and a bank of constants SHT_PROGBITS or, from 13.0 on, of
// a type of its own. Other names may have any, and each SHT_NOBITS.
bool has_type_of_its_name(std::string_view name, std::uint32_t type);

// Zeros where the tools write none: what a page that was never written leaves of a cubin. Each gives the
// offset within the section, nothing where it finds none.

// Of `.nv.info` and `.nv.info.<kernel>`: a record whose form is not 1 to 4 (docs/reference/fatbin.md), or
// that is cut off, or holds 128 zeros in a row (in 49,000 of these sections of CUDA 11.8 to 13.5 up to 23).
std::optional<std::uint64_t> find_broken_attribute(ByteView section);
// Of SHT_REL and SHT_RELA: a relocation of zeros, one beyond the `size` of the section that it is for, or, of
// 64 bits, one of a symbol beyond `symbols`, or of type 0 or one that is beyond any (115 is the highest in
// 5,400 cubins of CUDA 11.8 to 13.5). Symbol 0 is real: of `shfl.sync` with a mask that is not known (68,
// 69).
struct RelocationsOf {
  std::uint32_t type = 0;
  bool is64 = true;
  std::uint64_t symbols = 0, size = 0;
};
std::optional<std::uint64_t> find_broken_relocation(ByteView section, const RelocationsOf& of);

// Is it `.nv.callgraph`, `.nv.compat`, `.nv.prototype`, `.nv.rel.action`, or a table of the second form that
// code has from sm_100 on: its attributes, relocations or symbols?
bool is_table_of_entries(std::string_view name);
// Of one of those: a record of attributes as above, or an entry of zeros but for the first symbol. Of calls
// each has two numbers of symbols, or 0 and a negative number (4,700 of these sections). The three others are
// small: zeros throughout (none of 6,600 is).
std::optional<std::uint64_t> find_broken_entry(std::string_view name, ByteView section);
// That code itself, `.nv.capmerc.text.<kernel>`: a head of three words, the second 0xc0000001 and the third a
// number of bits; these bits, which may all be 0; and a stream that has up to 35 zeros in a row and does not
// end with one (35,000 kernels of sm_100 to 121, CUDA 13.0 to 13.5). Gives where zeros stand, or where a head
// is cut off or has bits that end behind the section. Another form is not known, and passes.
std::optional<std::uint64_t> find_broken_second_code(ByteView section);

}  // namespace archguard
