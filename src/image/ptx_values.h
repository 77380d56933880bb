#pragma once

#include "base/result.h"
#include "image/ptx_names.h"
#include "image/ptx_variables.h"

namespace archguard {

// An error where no compiler takes the value that a variable at module scope begins with:
//   .global .v2 .u32 a[2][] = { {{1, 2}, {3, 4}}, {} };   .const .f32 f = 0f3F800000;   .global .u64 p =
//   generic(a) + 8;
// Looked at are how values stand in braces, how many there are, whether a number is whole or not as the type
// is, and whether a name is known where it stands. Of values with more than kPtxValuesMost bytes, tables,
// only how many there are, where they stand in a row. (PTX ISA, "Initializers"; ptxas 11.7 to 13.5,
// real.ptx.)
inline constexpr std::size_t kPtxValuesMost = 4096;

// `space` of the variable: `.global`, `.const`, `.shared`. `names` has those before it, and its own.
Status check_ptx_values(const PtxVariable& variable, std::string_view space, const PtxNames& names);

}  // namespace archguard
