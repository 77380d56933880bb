#pragma once

#include <string_view>

namespace archguard {

// A word that begins with a digit, or with a dot and a digit (PTX ISA, "Constants"; as ptxas 11.8 to 13.5
// take them, real.ptx).
enum class PtxNumber {
  none,      // no compiler takes it: `1k`, `08`, `0f3F8`, `1e400`
  integer,   // `16`, `020`, `0x10`, `0b10000`, each also with `U` behind it
  fraction,  // `1.0`, `.5`, `1e5`, `0d3FF0000000000000`
  single,    // `0f3F800000`, which takes no operators
};
PtxNumber kind_of_ptx_number(std::string_view word);

}  // namespace archguard
