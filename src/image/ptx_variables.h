#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "image/image.h"
#include "image/ptx_directives.h"
#include "image/ptx_lexer.h"

namespace archguard {

// Bytes of a vector, `.v4 .f32`.
inline constexpr std::uint64_t kPtxVectorMost = 16;

struct PtxVariable {
  std::string_view name;
  std::string_view type;                  // `.f32`
  std::uint64_t lanes = 1;                // `.v4`
  std::vector<std::uint64_t> sizes;       // of its dimensions; 0 for `[]`
  std::optional<std::string_view> value;  // what stands behind `=`
  VariableSpace space = VariableSpace::device;
  std::uint64_t size = 0;
  bool sampler = false;  // a `.samplerref`, which host code cannot name; its space is a reference
};

// `.b8`, `.u32`, `.f16x2`: bytes; 0 for what is no type of a variable in memory.
std::uint64_t bytes_of_ptx_type(std::string_view type);

// Numbers that stand for what declarations of one name must agree in.
std::uint64_t hash_of_ptx_type(std::string_view type);
std::uint64_t mix_ptx_hash(std::uint64_t hash, std::uint64_t part);

// Of a register that no compiler passes to a function, or returns: predicates, and numbers of 8 or 16 bits;
// it does take `.b8`, `.b16` and `.f16`.
bool is_small_ptx_type(std::string_view type);

// `[4][8]` behind a name.
struct PtxDimensions {
  std::uint64_t elements = 1;        // `[]` left out
  bool has_size = true;              // false for `[]` and `[0]`
  bool is_open = false;              // `[]`: the values of the variable tell it
  std::string_view refused;          // what is no number, as no compiler takes it
  std::vector<std::uint64_t> sizes;  // 0 for `[]`

  // Moves behind it, and gives the token that follows.
  std::string_view take(PtxLexer& lexer);
  Status check(std::string_view name) const;
};

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
  bool is_unified() const { return attributes_.unified; }

 private:
  std::string_view end_of_initializer(bool count, std::uint64_t& values);
  void refuse(Error error);
  void refuse(std::string_view word, const char* why);
  void read_word(std::string_view space, PtxLevel level);
  void read_attribute(std::string_view space, PtxLevel level);
  void read_type();
  void read_bank(std::string_view space, Version isa);

  PtxLexer& lexer_;
  bool external_;
  PtxVariable all_;  // what holds for each variable; the size is that of one element
  PtxAttributes attributes_;
  std::string_view token_;  // the next name; `;` behind the last
  bool any_ = false;        // was there a name?
  std::optional<Error> error_;
};

}  // namespace archguard
