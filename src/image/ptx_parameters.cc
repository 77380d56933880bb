#include "image/ptx_parameters.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "image/ptx_name.h"
#include "image/ptx_variables.h"

namespace archguard {
namespace {

// More than any compiler takes, so that sums cannot overflow.
constexpr std::uint64_t kMost = 1U << 30;
constexpr std::size_t kParameterNamesMost = std::size_t{1} << 16;  // no compiler takes as many

}  // namespace

Status PtxParameters::add(PtxLexer& lexer) {
  std::string_view token = lexer.next();
  if (token == ")") return Done{};
  for (;; token = lexer.next()) {
    std::uint64_t size = 0, align = 0, lanes = 1;
    bool pointer = false;  // the alignment behind `.ptr` is that of what it points to
    for (; !token.empty() && token[0] == '.'; token = lexer.next()) {
      if (token == ".align") {
        const auto number = parse_number(lexer.next(), kMost);
        if (!pointer) align = number.value_or(0);
      } else if (token == ".v2" || token == ".v4") {
        lanes = token == ".v2" ? 2 : 4;
      } else if (token == ".ptr") {
        pointer = true;
      } else if (token == ".samplerref" && !level_.samplers) {
        return no_samplers();
      } else {
        size = std::max(size, bytes_of_ptx_type(token));
      }
    }
    if (token.empty()) return Done{};
    const std::string_view name = token;
    size *= lanes;
    align = std::max(align, size);
    bool has_size = true;
    token = take_ptx_dimensions(lexer, size, has_size);
    if (token.empty()) return Done{};
    ARCHGUARD_CHECK(check(name, !has_size));
    if (align != 0) bytes_ = (bytes_ + align - 1) / align * align;
    bytes_ = std::min(bytes_ + std::min(size, kMost), kMost);
    if (token == ")") return Done{};
    if (token != ",")
      return Error{
          {}, "PTX must hold parameters alone there, found '" + std::string(token.substr(0, 40)) + "'", {}};
  }
}

Status PtxParameters::check(std::string_view name, bool is_array_without_size) {
  ARCHGUARD_CHECK(check_ptx_parameter_name(name, of_kernel_));
  if (of_kernel_ && is_array_without_size)
    return Error{{}, "PTX has the parameter '" + std::string(name) + "' of a kernel without a size", {}};
  if (names_.size() == kParameterNamesMost)
    return Error{{}, "PTX has more than " + std::to_string(kParameterNamesMost) + " parameters", {}};
  names_.push_back(name);
  return Done{};
}

Status PtxParameters::check_definition() {
  std::sort(names_.begin(), names_.end());
  const auto twice = std::adjacent_find(names_.begin(), names_.end());
  if (twice == names_.end()) return Done{};
  return Error{{}, "PTX has the parameter '" + std::string(*twice) + "' twice", {}};
}

}  // namespace archguard
