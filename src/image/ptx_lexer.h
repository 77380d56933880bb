#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace archguard {

// Splits PTX into words (names, numbers, directives one by one, opcodes with their suffixes) and single
// characters of punctuation. Comments, strings and line markers are skipped. (PTX ISA, "Syntax".)
class PtxLexer {
 public:
  explicit PtxLexer(std::string_view text) : text_(text) {}

  // The next token; empty at the end of the text.
  std::string_view next();
  // The same of the number or name behind `.version` and `.target`, which may end where a directive begins:
  // `7.8.target`, `sm_90.entry`.
  std::string_view next_in_head();
  std::size_t position() const { return at_; }

  // The string that comes next, without its quotes; nothing where something else does, or the text ends
  // first.
  std::optional<std::string_view> next_string();
  void skip_line();
  // From a token of a statement to its `;`, over operands such as `{%r1, %r2}`; a `}` that closes no operand
  // ends it too. Empty where the text ends first.
  std::string_view end_of_statement(std::string_view token);
  // Moves behind the `}` that closes a `{` already taken; false where the text ends first.
  bool skip_block();
  // How many strings were skipped so far; what next_string() takes is not.
  std::size_t strings() const { return strings_; }
  // A comment or string that is not closed.
  bool broken() const { return broken_; }

 private:
  void skip_blanks(bool strings = true);
  std::string_view text_;
  std::size_t at_ = 0, strings_ = 0;
  bool broken_ = false;
};

// Of a text that ends too early: "PTX ends inside a comment or string".
Error ptx_ends_inside(const std::string& what);

}  // namespace archguard
