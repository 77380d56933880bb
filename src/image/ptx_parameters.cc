#include "image/ptx_parameters.h"

#include <algorithm>

#include "base/text.h"
#include "image/ptx_variables.h"

namespace archguard {
namespace {

// More than any compiler takes, so that sums cannot overflow.
constexpr std::uint64_t kMost = 1U << 30;

}  // namespace

std::uint64_t bytes_of_ptx_parameters(PtxLexer lexer) {
  std::uint64_t all = 0;
  std::string_view token = lexer.next();
  if (token != "(") return 0;
  while (!token.empty() && token != ")") {
    std::uint64_t size = 0, align = 0, lanes = 1;
    bool pointer = false;  // the alignment behind `.ptr` is that of what it points to
    for (token = lexer.next(); !token.empty() && token[0] == '.'; token = lexer.next()) {
      if (token == ".align") {
        const auto number = parse_number(lexer.next(), kMost);
        if (!pointer) align = number.value_or(0);
      } else if (token == ".v2" || token == ".v4") {
        lanes = token == ".v2" ? 2 : 4;
      } else if (token == ".ptr") {
        pointer = true;
      } else {
        size = std::max(size, bytes_of_ptx_type(token));
      }
    }
    if (token.empty() || token == ")") break;
    size *= lanes;
    align = std::max(align, size);
    token = take_ptx_dimensions(lexer, size);
    if (align != 0) all = (all + align - 1) / align * align;
    all = std::min(all + std::min(size, kMost), kMost);
  }
  return all;
}

}  // namespace archguard
