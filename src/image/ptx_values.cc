#include "image/ptx_values.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "image/ptx_lexer.h"
#include "image/ptx_number.h"

namespace archguard {
namespace {

bool begins_number(char c) {
  return c >= '0' && c <= '9';
}

bool is_number(std::string_view word) {
  return begins_number(word[0]) || (word[0] == '.' && word.size() > 1 && begins_number(word[1]));
}

class Values {
 public:
  Values(const PtxVariable& variable, const PtxNames& names)
      : variable_(variable), names_(names), lexer_(*variable.value), token_(next_token()) {}

  Status read() {
    // Each dimension is a pair of braces, and a vector another.
    depths_ = variable_.sizes.size() + (variable_.lanes == 1 ? 0 : 1);
    ARCHGUARD_CHECK(read_level());
    return token_.empty() ? Status(Done{})
                          : refuse("with '" + std::string(token_.substr(0, 40)) + "' behind it");
  }

 private:
  // `1e+5` is one number.
  std::string_view next_token() {
    if (!pending_.empty()) return std::exchange(pending_, std::string_view());
    std::string_view word = lexer_.next();
    if (word.size() > 1 && is_number(word) && word.back() == '%') {  // `5% 3`
      pending_ = word.substr(word.size() - 1);
      word.remove_suffix(1);
      return word;
    }
    const bool wants_sign = word.size() > 1 && is_number(word) &&
                            (word.back() == 'e' || word.back() == 'E') && !starts_with(word, "0x") &&
                            !starts_with(word, "0X");
    if (!wants_sign) return word;
    PtxLexer ahead = lexer_;
    const std::string_view sign = ahead.next(), digits = ahead.next();
    const char* const end = word.data() + word.size();
    if ((sign != "+" && sign != "-") || sign.data() != end || digits.data() != end + 1) return word;
    lexer_ = ahead;
    return std::string_view(word.data(), word.size() + 1 + digits.size());
  }

  Error refuse(const std::string& what) const {
    return Error{{}, "PTX has '" + std::string(variable_.name.substr(0, 40)) + "' with a value " + what, {}};
  }

  // One value, or all between a pair of braces. A loop: texts may have any number of braces.
  Status read_level() {
    std::vector<std::uint64_t> counts;  // values so far in each pair of braces that is open
    for (;;) {
      const bool is_row = counts.size() < depths_;
      if ((token_ == "{") != is_row) return refuse("that does not have the braces of its type");
      if (is_row) {
        counts.push_back(0);
        token_ = next_token();
        if (token_ != "}") {
          counts.back() = 1;
          continue;
        }
      } else {
        ARCHGUARD_CHECK(read_value());
      }
      while (!counts.empty() && token_ == "}") {
        ARCHGUARD_CHECK(check_count(counts.size() - 1, counts.back()));
        counts.pop_back();
        token_ = next_token();
      }
      if (counts.empty()) return Done{};
      if (token_ != ",") return refuse("that has no comma or brace behind it");
      ++counts.back();
      token_ = next_token();
    }
  }

  Status check_count(std::size_t level, std::uint64_t count) const {
    if (level == variable_.sizes.size())
      return count == variable_.lanes ? Status(Done{}) : refuse("that has not the numbers of its vector");
    const std::uint64_t most = variable_.sizes[level];
    return most == 0 || count <= most ? Status(Done{}) : refuse("that has more numbers than it holds");
  }

  // Up to a comma or brace outside of parentheses: numbers and names, with operators between them.
  Status read_value() {
    Value value;
    for (; !token_.empty(); token_ = next_token()) {
      if (value.parentheses == 0 && (token_ == "," || token_ == "}" || token_ == "{")) break;
      ARCHGUARD_CHECK(add_word(value));
      value.last = token_;
    }
    if (value.wants || value.parentheses != 0 || value.choices.back() != 0)
      return refuse("that is not whole");
    const std::string_view type = variable_.type;
    if (type == ".f16" || type == ".f16x2") return refuse("of its type, which no compiler takes");
    if (value.any_name && type != ".u64" && type != ".u32" && !(type == ".u8" && value.any_mask))
      return refuse("that is an address, which is not of its type");
    return check_numbers(value);
  }

  struct Value {
    std::string_view last;
    std::size_t parentheses = 0;
    std::size_t plain = 0;  // of the parentheses, those of no `generic(name)` and no mask, which hold numbers
    bool wants = true;      // a number or name
    bool joins = false;     // an operator of one character, which another may follow: `<<`
    bool cast = false, any_name = false, any_mask = false;
    std::string_view integer, fraction, single;  // the first of these numbers
    std::vector<std::size_t> choices = {0};      // `?` whose `:` is to come, in each open parenthesis
    bool any_operator = false, compares = false;
    bool only_sums = true;  // of the operators, which all are + - * /
  };

  // Fractions go with fractions alone, until they are compared.
  Status check_numbers(const Value& value) const {
    const char type = variable_.type[1];
    const std::string_view fraction = value.single.empty() ? value.fraction : value.single;
    if (!value.single.empty() && value.any_operator) return refuse_word(value.single);
    if (type == 'f' && !value.integer.empty()) return refuse_type(value.integer);
    if (fraction.empty()) return Done{};
    if (value.any_name || (type == 'f' && !value.only_sums)) return refuse_type(fraction);
    if (value.compares) return Done{};
    const bool mixed = !value.integer.empty() || !value.only_sums;
    return mixed || (type != 'f' && type != 'b') ? Status(refuse_type(fraction)) : Status(Done{});
  }

  Error refuse_type(std::string_view number) const {
    return refuse("at '" + std::string(number.substr(0, 40)) + "' that is not of its type");
  }

  Status add_word(Value& value) const {
    const std::string_view word = token_;
    const bool is_operator =
        word.size() == 1 && std::string_view("+-*/%~!&|^<>=?:").find(word[0]) != std::string_view::npos;
    if (is_operator) return add_operator(value);
    if (value.joins && (value.last == "=" || value.last == "!")) return refuse_word(value.last);
    value.joins = false;
    if (word == "(") {
      const bool of_name = value.last == "generic", of_mask = !value.last.empty() && is_number(value.last);
      if (!value.wants && !of_name && !of_mask) return refuse("that is not whole");
      value.any_mask |= !value.wants && of_mask;
      value.plain += value.wants ? 1 : 0;
      value.wants = true;
      value.choices.push_back(0);
      ++value.parentheses;
    } else if (word == ")") {
      if (value.wants || value.parentheses == 0 || value.choices.back() != 0)
        return refuse("that is not whole");
      value.choices.pop_back();
      value.wants = std::exchange(value.cast, false);  // `(.s64) 1`
      --value.parentheses;
      if (value.plain != 0) --value.plain;
    } else if (word == ".s64" || word == ".u64") {
      if (value.last != "(" || value.plain == 0) return refuse_word(word);
      value.cast = true;
      value.wants = false;
    } else {
      if (!value.wants) return refuse("that is not whole");
      value.wants = false;
      return is_number(word) ? add_number(word, value) : add_name(word, value);
    }
    return Done{};
  }

  Status add_number(std::string_view word, Value& value) const {
    const PtxNumber kind = kind_of_ptx_number(word);
    if (kind == PtxNumber::none)
      return refuse("at '" + std::string(word.substr(0, 40)) + "', a number that no compiler takes");
    std::string_view& first = kind == PtxNumber::integer    ? value.integer
                              : kind == PtxNumber::fraction ? value.fraction
                                                            : value.single;
    if (first.empty()) first = word;
    return Done{};
  }

  // `-1`, `1 - 1`, `1 << 1`. What stands where a number must, and is none of `+-~!`, may only belong to the
  // operator before it.
  Status add_operator(Value& value) const {
    const std::string_view word = token_;
    value.any_operator = true;
    value.only_sums &= std::string_view("+-*/").find(word[0]) != std::string_view::npos;
    value.compares |= std::string_view("<>=?").find(word[0]) != std::string_view::npos;
    if (value.joins && is_pair(value.last, word)) {
      value.joins = false;
      return Done{};
    }
    const bool is_sign = word == "-" || word == "+" || word == "~" || word == "!";
    if (value.wants ? !is_sign : word == "~") return refuse_word(word);
    if (word == "?") ++value.choices.back();
    if (word == ":" && value.choices.back()-- == 0) return refuse_word(word);
    if (value.joins && (value.last == "=" || value.last == "!")) return refuse_word(value.last);
    if (word == "-" && !value.wants && value.any_name) return refuse("that subtracts from an address");
    value.joins = !std::exchange(value.wants, true);
    return Done{};
  }

  static bool is_pair(std::string_view first, std::string_view second) {
    if (first.data() + first.size() != second.data()) return false;
    if (second == "=") return first == "=" || first == "!" || first == "<" || first == ">";
    return first == second && (first == "<" || first == ">" || first == "&" || first == "|");
  }

  Error refuse_word(std::string_view word) const {
    return refuse("at '" + std::string(word.substr(0, 40)) + "', which no compiler takes there");
  }

  Status add_name(std::string_view word, Value& value) const {
    const bool is_name = (word[0] >= 'a' && word[0] <= 'z') || (word[0] >= 'A' && word[0] <= 'Z') ||
                         word[0] == '_' || word[0] == '$' || word[0] == '%';
    if (!is_name || (value.plain != 0 && word != "WARP_SZ")) return refuse_word(word);
    if (word == "WARP_SZ" && value.integer.empty()) value.integer = word;
    if (word == "generic" || word == "WARP_SZ") return Done{};
    value.any_name = true;
    if (names_.has_address(word)) return Done{};
    return refuse("at '" + std::string(word.substr(0, 40)) + "', which has no address that is known there");
  }

  const PtxVariable& variable_;
  const PtxNames& names_;
  PtxLexer lexer_;
  std::string_view pending_;  // the next token, where one word was two
  std::string_view token_;
  std::size_t depths_ = 0;
};

// `{ 1, 2, 3 }` without other marks.
bool is_row_of_numbers(std::string_view value) {
  return std::count(value.begin(), value.end(), '{') == 1 && value.find('/') == std::string_view::npos &&
         value.find('"') == std::string_view::npos;
}

}  // namespace

Status check_ptx_values(const PtxVariable& variable, std::string_view space, const PtxNames& names) {
  const std::string_view value = *variable.value;
  const auto refuse = [&](const char* what) {
    return Error{{}, "PTX has '" + std::string(variable.name.substr(0, 40)) + "' with a value " + what, {}};
  };
  if (space == ".shared") return refuse("in `.shared`, where no compiler takes one");
  if (variable.space == VariableSpace::reference) {
    PtxLexer lexer(value);
    return lexer.next() == "{" ? Status(Done{}) : refuse("without braces");
  }
  if (value.size() <= kPtxValuesMost) return Values(variable, names).read();
  const bool counted = variable.sizes.size() == 1 && variable.sizes[0] != 0 && variable.lanes == 1;
  if (counted && is_row_of_numbers(value) &&
      static_cast<std::uint64_t>(std::count(value.begin(), value.end(), ',')) >= variable.sizes[0])
    return refuse("that has more numbers than it holds");
  return Done{};
}

}  // namespace archguard
