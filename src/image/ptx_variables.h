#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "image/image.h"
#include "image/ptx_directives.h"
#include "image/ptx_lexer.h"

namespace archguard {

struct PtxVariable {
  std::string_view name;
  VariableSpace space = VariableSpace::device;
  std::uint64_t size = 0;
};

// `.b8`, `.u32`, `.f16x2`: bytes; 0 for what is no type of a variable in memory.
std::uint64_t bytes_of_ptx_type(std::string_view type);

// Moves behind `[4][8]`, multiplies the size by it, and gives the token that follows; the size is 0 where a
// number of them is no plain one.
std::string_view take_ptx_dimensions(PtxLexer& lexer, std::uint64_t& size);

// What one statement at module scope declares (PTX ISA, "Variables"):
//   .global .attribute(.managed) .align 4 .v2 .f32 name[4][8] = {…}, other = generic(name) + 16;
// `.global .texref name;` declares a reference; samplers, which host code cannot name, are nothing here.
class PtxVariables {
 public:
  // `space`, `.global`, `.const` or `.shared`, was taken from the lexer.
  PtxVariables(PtxLexer& lexer, std::string_view space, PtxLevel level);

  // The next variable; nothing behind the last, where the lexer is behind the `;`, or where the text ends
  // first.
  std::optional<PtxVariable> next();
  // An error where the text ends first, or where a word before the names is not known.
  const std::optional<Error>& error() const { return error_; }

 private:
  std::string_view end_of_initializer();

  PtxLexer& lexer_;
  PtxVariable all_;         // what holds for each variable; the size is that of one element
  std::string_view token_;  // the next name; `;` behind the last
  std::optional<Error> error_;
};

}  // namespace archguard
