#include "image/ptx_parameters.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "image/ptx_name.h"

namespace archguard {
namespace {

// More than any compiler takes, so that sums cannot overflow.
constexpr std::uint64_t kMost = 1U << 30;
constexpr std::size_t kParameterNamesMost = std::size_t{1} << 16;  // no compiler takes as many

// `.u64`, `.b8`: what most of all parameters have, and each PTX ISA.
bool is_plain_type(std::string_view word) {
  if (word.size() < 3 || std::string_view("bsuf").find(word[1]) == std::string_view::npos) return false;
  const std::string_view bits = word.substr(2);
  return bits == "64" || bits == "32" || bits == "16" || (bits == "8" && word[1] != 'f');
}

}  // namespace

Status PtxParameters::add(PtxLexer& lexer, bool results) {
  std::string_view token = lexer.next();
  if (token == ")") return Done{};
  for (;; token = lexer.next()) {
    One one;
    for (std::string_view before; !token.empty() && token[0] == '.'; before = token, token = lexer.next()) {
      ARCHGUARD_CHECK(add_word(token, before, one));
      if (token == ".align") ARCHGUARD_CHECK(add_alignment(lexer.next(), one));
    }
    if (token.empty()) return Done{};
    const std::string_view name = token;
    PtxDimensions dimensions;
    token = dimensions.take(lexer);
    if (token.empty()) return Done{};
    ARCHGUARD_CHECK(dimensions.check(name));
    ARCHGUARD_CHECK(check(name, one, dimensions, results));
    count(one, dimensions, results);
    if (token == ")") return Done{};
    if (token != ",")
      return Error{
          {}, "PTX must hold parameters alone there, found '" + std::string(token.substr(0, 40)) + "'", {}};
    if (!of_kernel_ && !dimensions.has_size)
      return Error{
          {}, "PTX has a parameter behind '" + std::string(name.substr(0, 40)) + "', which has no size", {}};
  }
}

// `.align 4 .param .b8`, `.reg .v4 .f32`, `.param .u64 .ptr .global .align 8`. `before` is empty where the
// parameter begins.
Status PtxParameters::add_word(std::string_view word, std::string_view before, One& one) const {
  const auto refuse = [&](const std::string& why) {
    return Error{{}, "PTX has `" + std::string(word.substr(0, 40)) + "` of a parameter " + why, {}};
  };
  if (word == ".param" || word == ".reg") {
    if (!one.space.empty() || !one.type.empty()) return refuse("behind its space or type");
    one.space = word;
    return Done{};
  }
  if (word == ".align") {
    if (!one.type.empty() && !of_kernel_) return refuse("of a function behind its type");
    return Done{};
  }
  if (word == ".ptr") {
    if (!of_kernel_ || one.type.empty() || before != one.type) return refuse("where no compiler takes it");
    one.pointer = true;
    return Done{};
  }
  const bool reference = word == ".texref" || word == ".surfref" || word == ".samplerref";
  if (before == ".ptr" &&
      (reference || word == ".global" || word == ".const" || word == ".local" || word == ".shared"))
    return Done{};  // of what OpenCL's images are; PTX's manual does not have those, and compilers take them
  if (one.space.empty() || !one.type.empty()) return refuse("where no compiler takes it");
  if (word == ".v2" || word == ".v4") {
    if (one.lanes != 1) return refuse("twice");
    one.lanes = word == ".v2" ? 2 : 4;
    return Done{};
  }
  if (word == ".samplerref" && !level_.samplers) return no_samplers();
  if (!reference && word != ".pred" && !is_plain_type(word)) {
    if (bytes_of_ptx_type(word) == 0) return refuse("that is no type of one");
    ARCHGUARD_CHECK(check_ptx_directive(word, PtxPlace::variable, level_));
  }
  one.type = word;
  one.size = bytes_of_ptx_type(word) * one.lanes;
  return Done{};
}

Status PtxParameters::add_alignment(std::string_view number, One& one) const {
  constexpr std::uint64_t kMostOfFunction = 128;
  ARCHGUARD_CHECK(check_ptx_alignment(number));
  const std::uint64_t align = std::min(parse_ptx_integer(number).value_or(0), kMost);
  if (!of_kernel_ && align > kMostOfFunction)
    return Error{{}, "PTX has an `.align` of " + std::to_string(align) + " of a function's parameter", {}};
  if (!one.pointer) one.align = align;
  return Done{};
}

Status PtxParameters::check(std::string_view name, const One& one, const PtxDimensions& dimensions,
                            bool results) {
  const auto refuse = [&](const std::string& what) {
    return Error{{}, "PTX has the parameter '" + std::string(name.substr(0, 40)) + "' " + what, {}};
  };
  ARCHGUARD_CHECK(check_ptx_parameter_name(name, of_kernel_));
  const bool in_register = one.space == ".reg", reference = ends_with(one.type, "ref");
  if (one.type.empty()) return refuse("without a type");
  if (one.type == ".pred" && !in_register)
    return Error{{}, "PTX has the predicate '" + std::string(name) + "' in memory, as a parameter", {}};
  if (of_kernel_ && in_register) return refuse("of a kernel in a register");
  if (of_kernel_ && !dimensions.has_size) return refuse("of a kernel without a size");
  if (results && !dimensions.has_size) return refuse("without a size, as a result");
  if (dimensions.sizes.size() > (in_register ? 0U : 1U)) return refuse("with too many dimensions");
  if (reference && !of_kernel_ && dimensions.sizes.empty())
    return refuse("of a function, a texture or the like");
  if (one.lanes != 1 && (one.size > kPtxVectorMost || one.type == ".pred"))
    return refuse("as a vector that no compiler takes");
  if (one.lanes != 1 && !in_register && dimensions.sizes.empty() && vector_.empty()) vector_ = name;
  if (one.type == ".f16x2" && !in_register) return refuse("of `.f16x2` in memory");
  if (names_.size() == kParameterNamesMost)
    return Error{{}, "PTX has more than " + std::to_string(kParameterNamesMost) + " parameters", {}};
  names_.push_back(name);
  return Done{};
}

void PtxParameters::count(const One& one, const PtxDimensions& dimensions, bool results) {
  any_results_ |= results;
  register_results_ += results && one.space == ".reg" ? 1 : 0;
  any_small_register_ |=
      one.space == ".reg" && one.lanes == 1 && is_small_ptx_type(one.type);  // vectors of them are taken
  const std::uint64_t align = std::max(one.align, one.size);
  for (const std::uint64_t part :
       {std::uint64_t{results}, std::uint64_t{one.space == ".reg"}, hash_of_ptx_type(one.type), one.lanes,
        one.space == ".reg" ? 0 : align, std::uint64_t{dimensions.sizes.size()},
        dimensions.sizes.empty() ? 0 : dimensions.sizes[0]})
    prototype_ = mix_ptx_hash(prototype_, part);
  const std::uint64_t size = std::min(one.size, kMost) * std::min(dimensions.elements, kMost);
  if (align != 0) bytes_ = (bytes_ + align - 1) / align * align;
  bytes_ = std::min(bytes_ + std::min(size, kMost), kMost);
}

Status PtxParameters::check_definition() {
  if (!vector_.empty())
    return Error{
        {},
        "PTX has the parameter '" + std::string(vector_.substr(0, 40)) + "' as a vector in memory, no array",
        {}};
  std::sort(names_.begin(), names_.end());
  const auto twice = std::adjacent_find(names_.begin(), names_.end());
  if (twice == names_.end()) return Done{};
  return Error{{}, "PTX has the parameter '" + std::string(*twice) + "' twice", {}};
}

}  // namespace archguard
