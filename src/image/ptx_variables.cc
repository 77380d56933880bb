#include "image/ptx_variables.h"

#include <string>
#include <utility>

#include "base/text.h"
#include "image/ptx_name.h"

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

std::string_view take_ptx_dimensions(PtxLexer& lexer, std::uint64_t& size, bool& has_size) {
  std::string_view token = lexer.next();
  while (token == "[") {
    const std::string_view count = lexer.next();
    if (count == "]" || is_ptx_zero(count)) has_size = false;
    const auto number = parse_number(count, UINT64_MAX);
    token = count;
    std::size_t words = 0;
    for (; !token.empty() && token != "]"; token = lexer.next()) ++words;
    size = number && words == 1 ? times(size, *number) : 0;
    if (!token.empty()) token = lexer.next();
  }
  return token;
}

PtxVariables::PtxVariables(PtxLexer& lexer, std::string_view space, PtxLevel level, bool external)
    : lexer_(lexer), external_(external), token_(lexer.next()) {
  if (space == ".const") all_.space = VariableSpace::constant;
  std::uint64_t lanes = 1;
  for (; !token_.empty() && (token_[0] == '.' || token_ == "(" || token_ == "["); token_ = lexer_.next()) {
    if (token_[0] == '.' && !error_)
      if (Status known = check_ptx_directive(token_, PtxPlace::variable, level); !known)
        refuse(std::move(known).error());
    if (token_ == ".texref" || token_ == ".surfref" || token_ == ".samplerref") {
      all_.space = VariableSpace::reference;
      all_.sampler = token_ == ".samplerref";
      if (all_.sampler && !level.samplers) refuse(no_samplers());
    } else if (token_ == ".align") {
      Status align = check_ptx_alignment(lexer_.next());
      if (!align) refuse(std::move(align).error());
    } else if (token_ == "(") {  // of `.attribute`
      bool managed = false;
      Status known = check_ptx_attributes(lexer_, PtxPlace::variable_attribute, level, managed);
      if (!known) refuse(std::move(known).error());
      if (managed && space != ".global")
        refuse(Error{{}, "PTX has `.managed` for a `" + std::string(space.substr(1)) + "` variable", {}});
      if (managed) all_.space = VariableSpace::managed;
    } else if (token_ == "[") {
      read_bank(space, level.isa);
    } else if (token_ == ".v2" || token_ == ".v4") {
      lanes = token_ == ".v2" ? 2 : 4;
    } else if (const std::uint64_t bytes = bytes_of_ptx_type(token_); bytes != 0) {
      all_.size = bytes;
    }
  }
  all_.size *= lanes;
}

void PtxVariables::refuse(Error error) {
  if (!error_) error_ = std::move(error);
}

// `.const[2]` of old PTX: only of what is declared, ptxas 11.8.
void PtxVariables::read_bank(std::string_view space, Version isa) {
  constexpr Version kLastWithBanks{2, 1};
  std::string_view number = lexer_.next(), word = number;
  while (!word.empty() && word != "]") word = lexer_.next();
  if (space != ".const")
    refuse(Error{{}, "PTX has a bank of `" + std::string(space) + "`, which no compiler takes", {}});
  else if (kLastWithBanks < isa)
    refuse(Error{{},
                 "PTX ISA " + to_string(isa) + " has no banks of constants, which ISA " +
                     to_string(kLastWithBanks) + " had last",
                 {}});
  else if (!external_ && !is_ptx_zero(number))
    refuse(Error{{}, "PTX defines a constant in a bank, where no compiler takes more than declarations", {}});
}

std::optional<PtxVariable> PtxVariables::next() {
  if (token_ == ";") return std::nullopt;
  PtxVariable variable = all_;
  variable.name = token_;
  bool has_size = true, is_empty = true;
  std::string_view end = token_.empty() ? token_ : take_ptx_dimensions(lexer_, variable.size, has_size);
  if (end == "=") end = end_of_initializer(is_empty);
  token_ = end.empty() || end == ";" || end == "," ? end : lexer_.end_of_statement(end);
  if (token_ != ";" && token_ != ",") {
    error_ = Error{{}, "PTX ends inside a variable", {}};
    token_ = ";";
    return std::nullopt;
  }
  if (Status name = check_ptx_name(variable.name); !name) refuse(std::move(name).error());
  if (!has_size && is_empty && !external_)
    refuse(Error{
        {},
        "PTX has '" + std::string(variable.name.substr(0, 40)) + "' without a size, a value or `.extern`",
        {}});
  if (token_ == ",") token_ = lexer_.next();
  return variable;
}

// The `,` or `;` behind a value, or nothing where the text ends first. `{ }` is empty.
std::string_view PtxVariables::end_of_initializer(bool& is_empty) {
  std::size_t depth = 0;
  for (std::string_view token = lexer_.next(); !token.empty(); token = lexer_.next()) {
    if (depth == 0 && (token == "," || token == ";")) return token;
    if (token == "{") {
      PtxLexer ahead = lexer_;
      is_empty = is_empty && ahead.next() == "}";
      if (!lexer_.skip_block()) return {};
    } else {
      is_empty = false;
    }
    if (token == "(") ++depth;
    if (token == ")" && depth != 0) --depth;
  }
  return {};
}

}  // namespace archguard
