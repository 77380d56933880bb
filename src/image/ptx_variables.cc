#include "image/ptx_variables.h"

#include <string>
#include <utility>

#include "base/text.h"

namespace archguard {
namespace {

std::uint64_t times(std::uint64_t size, std::uint64_t count) {
  return count != 0 && size > UINT64_MAX / count ? UINT64_MAX : size * count;
}

}  // namespace

std::uint64_t bytes_of_ptx_type(std::string_view type) {
  const auto digits = type.find_first_of("0123456789");
  if (digits == std::string_view::npos) return 0;
  type.remove_prefix(digits);
  const auto lanes = type.find('x');
  const auto bits = parse_number(type.substr(0, lanes), 1024);
  return bits ? *bits / 8 * (lanes == std::string_view::npos ? 1 : 2) : 0;
}

std::string_view take_ptx_dimensions(PtxLexer& lexer, std::uint64_t& size) {
  std::string_view token = lexer.next();
  while (token == "[") {
    const std::string_view count = lexer.next();
    const auto number = parse_number(count, UINT64_MAX);
    token = count;
    std::size_t words = 0;
    for (; !token.empty() && token != "]"; token = lexer.next()) ++words;
    size = number && words == 1 ? times(size, *number) : 0;
    if (!token.empty()) token = lexer.next();
  }
  return token;
}

PtxVariables::PtxVariables(PtxLexer& lexer, std::string_view space, PtxLevel level)
    : lexer_(lexer), token_(lexer.next()) {
  if (space == ".const") all_.space = VariableSpace::constant;
  std::uint64_t lanes = 1;
  for (; !token_.empty() && (token_[0] == '.' || token_ == "(" || token_ == "["); token_ = lexer_.next()) {
    if (token_[0] == '.' && !error_)
      if (Status known = check_ptx_directive(token_, PtxPlace::variable, level); !known)
        error_ = std::move(known).error();
    if (token_ == ".samplerref") {
      token_ = lexer_.end_of_statement(token_);
      break;
    }
    if (token_ == ".texref" || token_ == ".surfref") {
      all_.space = VariableSpace::reference;
    } else if (token_ == ".align") {
      Status align = check_ptx_alignment(lexer_.next());
      if (!align && !error_) error_ = std::move(align).error();
    } else if (token_ == "(") {  // of `.attribute`
      bool managed = false;
      Status known = check_ptx_attributes(lexer_, PtxPlace::variable_attribute, level, managed);
      if (!known && !error_) error_ = std::move(known).error();
      if (managed && space != ".global" && !error_)
        error_ = Error{{}, "PTX has `.managed` for a `" + std::string(space.substr(1)) + "` variable", {}};
      if (managed) all_.space = VariableSpace::managed;
    } else if (token_ == "[") {  // `.const[2]` of old PTX
      for (std::string_view word = lexer_.next(); !word.empty() && word != "]"; word = lexer_.next()) {
      }
    } else if (token_ == ".v2" || token_ == ".v4") {
      lanes = token_ == ".v2" ? 2 : 4;
    } else if (const std::uint64_t bytes = bytes_of_ptx_type(token_); bytes != 0) {
      all_.size = bytes;
    }
  }
  all_.size *= lanes;
}

std::optional<PtxVariable> PtxVariables::next() {
  if (token_ == ";") return std::nullopt;
  PtxVariable variable = all_;
  variable.name = token_;
  std::string_view end = token_.empty() ? token_ : take_ptx_dimensions(lexer_, variable.size);
  if (end == "=") end = end_of_initializer();
  if (end == ",") {
    token_ = lexer_.next();
  } else {
    token_ = end.empty() || end == ";" ? end : lexer_.end_of_statement(end);
    if (token_ == ";") return variable;
    error_ = Error{{}, "PTX ends inside a variable", {}};
    token_ = ";";
    return std::nullopt;
  }
  return variable;
}

// The `,` or `;` behind a value, or nothing where the text ends first.
std::string_view PtxVariables::end_of_initializer() {
  std::size_t depth = 0;
  for (std::string_view token = lexer_.next(); !token.empty(); token = lexer_.next()) {
    if (token == "{" && !lexer_.skip_block()) return {};
    if (token == "(") ++depth;
    if (token == ")" && depth != 0) --depth;
    if (depth == 0 && (token == "," || token == ";")) return token;
  }
  return {};
}

}  // namespace archguard
