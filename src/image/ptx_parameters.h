#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "image/ptx_directives.h"
#include "image/ptx_lexer.h"

namespace archguard {

// The parameters of one kernel or function: (.param .u64 .ptr .global .align 8 a, .param .align 4 .b8 b[16]).
// (PTX ISA, "Kernel Function Parameters".) A function has two lists, one for what it returns.
class PtxParameters {
 public:
  PtxParameters(bool of_kernel, PtxLevel level) : of_kernel_(of_kernel), level_(level) {}

  // Moves behind the `)` of a list whose `(` was taken; or to the end of a text that ends first. An error
  // where no compiler takes the list, declared or defined.
  Status add(PtxLexer& lexer);
  // Once all lists are read: an error where it cannot have a body, as two of them have one name.
  Status check_definition();

  // Of all of them, each at its alignment. One whose size is no plain number counts none.
  std::uint64_t bytes() const { return bytes_; }

 private:
  Status check(std::string_view name, bool is_array_without_size);

  bool of_kernel_;
  PtxLevel level_;
  std::uint64_t bytes_ = 0;
  std::vector<std::string_view> names_;
};

}  // namespace archguard
