#include "image/ptx_variables.h"

#include <string>
#include <utility>

#include "base/text.h"
#include "image/ptx_name.h"

namespace archguard {
namespace {

constexpr std::optional<std::uint64_t> kWarpSize = 32;

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

std::uint64_t mix_ptx_hash(std::uint64_t hash, std::uint64_t part) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  hash = (hash ^ part) * kOdd;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of_ptx_type(std::string_view type) {
  std::uint64_t hash = type.size();
  for (const char c : type) hash = mix_ptx_hash(hash, static_cast<unsigned char>(c));
  return hash;
}

bool is_small_ptx_type(std::string_view type) {
  return type == ".pred" || type == ".u8" || type == ".s8" || type == ".u16" || type == ".s16";
}

std::string_view PtxDimensions::take(PtxLexer& lexer) {
  std::string_view token = lexer.next();
  while (token == "[") {
    const std::string_view count = lexer.next();
    const auto number = count == "WARP_SZ" ? kWarpSize : parse_ptx_integer(count);
    if (count == "]" && !sizes.empty() && refused.empty()) refused = count;  // `[2][]`
    is_open = is_open || count == "]";
    sizes.push_back(number.value_or(0));
    has_size = has_size && count != "]" && number != 0;
    token = count;
    std::size_t words = 0;
    for (; !token.empty() && token != "]"; token = lexer.next()) ++words;
    if (words != 0 && (words != 1 || !number) && refused.empty()) refused = count;
    if (words != 0) elements = times(elements, number.value_or(0));
    if (!token.empty()) token = lexer.next();
  }
  return token;
}

Status PtxDimensions::check(std::string_view name) const {
  if (refused.empty()) return Done{};
  return Error{{},
               "PTX has '" + std::string(name.substr(0, 40)) + "' with a size at '" +
                   std::string(refused.substr(0, 40)) + "' that is no single number",
               {}};
}

PtxVariables::PtxVariables(PtxLexer& lexer, std::string_view space, PtxLevel level, bool external)
    : lexer_(lexer), external_(external), token_(lexer.next()) {
  if (space == ".const") all_.space = VariableSpace::constant;
  for (; !token_.empty() && (token_[0] == '.' || token_ == "(" || token_ == "["); token_ = lexer_.next())
    read_word(space, level);
  if (all_.type.empty()) refuse(space, "without a type");
  if (all_.lanes != 1 && (all_.space == VariableSpace::reference || all_.size > kPtxVectorMost / all_.lanes))
    refuse(all_.type, "in a vector that no compiler takes");
  if (all_.space == VariableSpace::reference && space != ".global")
    refuse(all_.type, "that is not `.global`");
  all_.size *= all_.lanes;
}

// One word between the state space and the names, with what belongs to it.
void PtxVariables::read_word(std::string_view space, PtxLevel level) {
  if (token_[0] == '.' && !error_)
    if (Status known = check_ptx_directive(token_, PtxPlace::variable, level); !known)
      refuse(std::move(known).error());
  if ((token_ == ".align" || token_ == ".attribute") && !all_.type.empty()) refuse(token_, "behind the type");
  if (token_ == ".align") {
    Status align = check_ptx_alignment(lexer_.next());
    if (!align) refuse(std::move(align).error());
  } else if (token_ == ".attribute") {
    read_attribute(space, level);
  } else if (token_ == "(") {
    refuse(token_, "before a variable");
  } else if (token_ == "[") {
    read_bank(space, level.isa);
  } else if (token_ == ".v2" || token_ == ".v4") {
    if (!all_.type.empty()) refuse(token_, "behind the type");
    all_.lanes = token_ == ".v2" ? 2 : 4;
  } else if (token_ == ".global" || token_ == ".const" || token_ == ".shared" || token_ == ".local") {
    refuse(token_, "behind another state space");
  } else {
    if (token_ == ".samplerref" && !level.samplers) refuse(no_samplers());
    read_type();
  }
}

void PtxVariables::read_type() {
  if (!all_.type.empty()) refuse(token_, "behind another type");
  all_.type = token_;
  all_.sampler = token_ == ".samplerref";
  if (all_.sampler || token_ == ".texref" || token_ == ".surfref") all_.space = VariableSpace::reference;
  all_.size = bytes_of_ptx_type(token_);
}

void PtxVariables::read_attribute(std::string_view space, PtxLevel level) {
  PtxLexer ahead = lexer_;
  if (ahead.next() != "(") return refuse(token_, "without parentheses");
  lexer_ = ahead;
  Status known = check_ptx_attributes(lexer_, PtxPlace::variable_attribute, level, attributes_);
  if (!known) refuse(std::move(known).error());
  if (attributes_.managed && space != ".global")
    refuse(Error{{}, "PTX has `.managed` for a `" + std::string(space.substr(1)) + "` variable", {}});
  if (attributes_.managed) all_.space = VariableSpace::managed;
}

void PtxVariables::refuse(std::string_view word, const char* why) {
  refuse(Error{{}, "PTX has a variable with `" + std::string(word.substr(0, 40)) + "` " + why, {}});
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
  if (token_ == ";") {
    if (any_) refuse(";", "behind a comma");
    return std::nullopt;
  }
  PtxVariable variable = all_;
  variable.name = token_;
  PtxDimensions dimensions;
  std::uint64_t values = 0;
  std::string_view end = token_.empty() ? token_ : dimensions.take(lexer_);
  if (end == "=") {
    const char* const begin = end.data() + 1;
    end = end_of_initializer(dimensions.is_open, values);
    if (!end.empty()) variable.value = std::string_view(begin, static_cast<std::size_t>(end.data() - begin));
  }
  if (Status known = dimensions.check(variable.name); !known) refuse(std::move(known).error());
  variable.size = times(variable.size, dimensions.elements);
  if (dimensions.is_open) variable.size = times(variable.size, values);
  variable.sizes = std::move(dimensions.sizes);
  const bool sound = end.empty() || end == ";" || end == ",";
  token_ = sound ? end : lexer_.end_of_statement(end);
  if (token_ != ";" && token_ != ",") {
    error_ = ptx_ends_inside("a variable");
    token_ = ";";
    any_ = false;
    return std::nullopt;
  }
  if (Status name = check_ptx_name(variable.name); !name) refuse(std::move(name).error());
  if (!sound) refuse(end, "behind its name");
  if (!dimensions.has_size && values == 0 && !external_)
    refuse(Error{
        {},
        "PTX has '" + std::string(variable.name.substr(0, 40)) + "' without a size, a value or `.extern`",
        {}});
  any_ = token_ == ",";
  if (any_) token_ = lexer_.next();
  return variable;
}

// The `,` or `;` behind a value, or nothing where the text ends first. `{ 1, { 2, 3 } }` has two values and
// `{ }` none; where nobody counts them, as of tables with thousands, it has one.
std::string_view PtxVariables::end_of_initializer(bool count, std::uint64_t& values) {
  std::size_t parentheses = 0, braces = 0;
  std::uint64_t commas = 0;
  bool is_value = false;
  for (std::string_view token = lexer_.next(); !token.empty(); token = lexer_.next()) {
    if (parentheses == 0 && braces == 0 && (token == "," || token == ";")) {
      values = is_value ? commas + 1 : 0;
      return token;
    }
    if (token == "{" && !count) {
      PtxLexer ahead = lexer_;
      is_value = is_value || ahead.next() != "}";
      if (!lexer_.skip_block()) return {};
      continue;
    }
    if (token == "(") ++parentheses;
    if (token == ")" && parentheses != 0) --parentheses;
    if (token == "{" && braces++ == 0) continue;
    if (token == "}" && braces != 0 && --braces == 0) continue;
    commas += token == "," && parentheses == 0 && braces == 1 ? 1 : 0;
    is_value = true;
  }
  return {};
}

}  // namespace archguard
