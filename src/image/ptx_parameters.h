#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "image/ptx_directives.h"
#include "image/ptx_lexer.h"
#include "image/ptx_variables.h"

namespace archguard {

// The parameters of one kernel or function: (.param .u64 .ptr .global .align 8 a, .param .align 4 .b8 b[16]).
// (PTX ISA, "Kernel Function Parameters"; what ptxas 11.7 to 13.5 take, real.ptx.) A function has two lists,
// one for what it returns.
class PtxParameters {
 public:
  PtxParameters(bool of_kernel, PtxLevel level) : of_kernel_(of_kernel), level_(level) {}

  // Moves behind the `)` of a list whose `(` was taken; or to the end of a text that ends first. An error
  // where no compiler takes the list, declared or defined. `results`: of what a function returns.
  Status add(PtxLexer& lexer, bool results = false);
  // Once all lists are read: an error where it cannot have a body, as two of them have one name, or one is a
  // vector.
  Status check_definition();

  bool any_results() const { return any_results_; }
  // Does it return several in registers? Compilers then do without an ABI.
  bool without_abi() const { return register_results_ > 1; }

  // Does it pass a predicate, or a number of 8 or 16 bits, in a register? No compiler takes a call of that.
  bool any_small_register() const { return any_small_register_; }

  // Of all their types, which must be the same in each declaration. Names do not count.
  std::uint64_t prototype() const { return prototype_; }

  // Of all of them, each at its alignment.
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct One {
    std::string_view space, type;
    std::uint64_t size = 0, align = 0, lanes = 1;
    bool pointer = false;  // the alignment behind `.ptr` is that of what it points to
  };

  Status add_word(std::string_view word, std::string_view before, One& one) const;
  Status add_alignment(std::string_view number, One& one) const;
  Status check(std::string_view name, const One& one, const PtxDimensions& dimensions, bool results);
  void count(const One& one, const PtxDimensions& dimensions, bool results);

  bool of_kernel_;
  PtxLevel level_;
  std::uint64_t bytes_ = 0, prototype_ = 0;
  std::size_t register_results_ = 0;
  bool any_small_register_ = false, any_results_ = false;
  std::vector<std::string_view> names_;
  std::string_view vector_;  // the first that is one in memory: it may be declared, and not defined
};

}  // namespace archguard
