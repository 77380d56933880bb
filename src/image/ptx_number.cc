#include "image/ptx_number.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "base/text.h"

namespace archguard {
namespace {

bool is_decimal_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_of_base(char c, int base) {
  if (is_decimal_digit(c)) return c - '0' < base;
  return base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
}

bool are_of_base(std::string_view digits, int base) {
  return std::all_of(digits.begin(), digits.end(), [&](char c) { return is_of_base(c, base); });
}

// Beyond that many digits, zeros before them apart, it is a "Constant overflow". Up to there more than 64
// bits are taken.
std::size_t digits_most(int base) {
  switch (base) {
    case 2:
      return 64;
    case 8:
      return 23;
    case 10:
      return 20;
    default:
      return 17;
  }
}

PtxNumber kind_of_integer(std::string_view digits, int base) {
  if (ends_with(digits, "U")) digits.remove_suffix(1);
  if (digits.empty() || !are_of_base(digits, base)) return PtxNumber::none;
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits.size() <= digits_most(base) ? PtxNumber::integer : PtxNumber::none;
}

PtxNumber kind_of_bits(std::string_view digits, std::size_t count, PtxNumber kind) {
  return digits.size() == count && are_of_base(digits, 16) ? kind : PtxNumber::none;
}

// `1.0`, `.5`, `5.`, `1e5`, `1.0e-5`: what is beyond a double, or smaller than a normal one, overflows.
PtxNumber kind_of_fraction(std::string_view word) {
  std::size_t at = 0;
  const auto skip_digits = [&] {
    const std::size_t begin = at;
    while (at < word.size() && is_decimal_digit(word[at])) ++at;
    return at - begin;
  };
  skip_digits();
  if (at < word.size() && word[at] == '.') {
    ++at;
    skip_digits();
  }
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    if (skip_digits() == 0) return PtxNumber::none;
  }
  if (at != word.size()) return PtxNumber::none;
  errno = 0;
  std::strtod(std::string(word).c_str(), nullptr);
  return errno == ERANGE ? PtxNumber::none : PtxNumber::fraction;
}

}  // namespace

PtxNumber kind_of_ptx_number(std::string_view word) {
  if (word.size() > 1 && word[0] == '0') {
    const std::string_view rest = word.substr(2);
    switch (word[1]) {
      case 'x':
      case 'X':
        return kind_of_integer(rest, 16);
      case 'b':
      case 'B':
        return kind_of_integer(rest, 2);
      case 'f':
      case 'F':
        return kind_of_bits(rest, 8, PtxNumber::single);
      case 'd':
      case 'D':
        return kind_of_bits(rest, 16, PtxNumber::fraction);
      default:
        break;
    }
  }
  if (word.find_first_of(".eE") != std::string_view::npos) return kind_of_fraction(word);
  return kind_of_integer(word, word.size() > 1 && word[0] == '0' && word[1] != 'U' ? 8 : 10);
}

}  // namespace archguard
