#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "image/ptx_lexer.h"

namespace archguard {

// The words of a module, or of one body, and which of them may be names from outside of the body. Lines of
// `.loc` and `.file` are skipped.
class PtxBodyWords {
 public:
  PtxBodyWords(std::string_view text, bool is_body) : lexer_(text) { begin(is_body); }

  // The next token; empty at the end of the text.
  std::string_view next();
  std::string_view before() const { return before_; }
  // The first word of the statement, behind `@p` and a label.
  std::string_view opcode() const { return opcode_; }
  // Is the last token no register, variable, parameter or label of the body, which hide names of the module
  // from where they are declared to the end of their block, and not the first of its statement? (PTX ISA,
  // "Identifiers"; as ptxas takes them, real.ptx.)
  bool is_outer() const { return outer_; }

  // For whoever reads a declaration with another reader, up to its `;`.
  PtxLexer& lexer() { return lexer_; }
  void end_declaration() { end_statement(); }
  void declare(std::string_view name);

 private:
  void undeclare(std::string_view name);  // the last that was
  void begin(bool is_body);
  void end_statement();
  void end_block();
  bool take(std::string_view token);
  bool take_predicate(std::string_view token);

  PtxLexer lexer_;
  std::unordered_set<std::string_view> own_;
  std::vector<std::string_view> declared_;  // in order
  std::vector<std::size_t> blocks_;         // how many were declared before each block that is open
  std::string_view token_, before_, opcode_;
  std::size_t operands_ = 0;  // braces that are open in a statement
  bool begins_ = true, predicate_ = false, value_ = false, outer_ = false;
};

}  // namespace archguard
