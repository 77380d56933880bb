#pragma once

#include <string_view>

namespace archguard {

// PTX is ASCII text (PTX ISA, "Syntax"): comments are C++'s, a directive begins with a dot, and the first
// directive of a module is `.version`, then `.target`.

// The text after a byte order mark, blanks and comments; empty where nothing follows or a comment is not
// closed.
std::string_view skip_ptx_blanks(std::string_view text);

// Is this the beginning of a PTX module?
bool is_ptx(std::string_view text);

// What follows `.version` and the name after `.target` in the head of a module, "9.0" and "sm_90a"; empty
// where absent.
struct PtxHead {
  std::string_view version;
  std::string_view target;
};
PtxHead read_ptx_head(std::string_view text);

}  // namespace archguard
