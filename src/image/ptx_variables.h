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
  bool sampler = false;  // a `.samplerref`, which host code cannot name; its space is a reference
};

// `.b8`, `.u32`, `.f16x2`: bytes; 0 for what is no type of a variable in memory.
std::uint64_t bytes_of_ptx_type(std::string_view type);

// Moves behind `[4][8]`, multiplies the size by it, and gives the token that follows; the size is 0 where a
// number of them is no plain one. `has_size` becomes false for `[]` and `[0]`.
std::string_view take_ptx_dimensions(PtxLexer& lexer, std::uint64_t& size, bool& has_size);

// What one statement at module scope declares (PTX ISA, "Variables"):
//   .global .attribute(.managed) .align 4 .v2 .f32 name[4][8] = {…}, other = generic(name) + 16;
// `.global .texref name;` declares a reference.
class PtxVariables {
 public:
  // `space`, `.global`, `.const` or `.shared`, was taken from the lexer. `external`: behind `.extern`.
  PtxVariables(PtxLexer& lexer, std::string_view space, PtxLevel level, bool external);

  // The next variable; nothing behind the last, where the lexer is behind the `;`, or where the text ends
  // first.
  std::optional<PtxVariable> next();
  // An error where the text ends first, or where no compiler takes the statement.
  const std::optional<Error>& error() const { return error_; }

 private:
  std::string_view end_of_initializer(bool& is_empty);
  void refuse(Error error);
  void read_bank(std::string_view space, Version isa);

  PtxLexer& lexer_;
  bool external_;
  PtxVariable all_;         // what holds for each variable; the size is that of one element
  std::string_view token_;  // the next name; `;` behind the last
  std::optional<Error> error_;
};

}  // namespace archguard
