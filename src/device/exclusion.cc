#include "device/exclusion.h"

#include <algorithm>

#include "base/text.h"
#include "device/spelling.h"

namespace archguard {
namespace {

constexpr std::size_t kLongestMark = 24;

constexpr std::string_view kYes[] = {"yes",    "true",     "on",       "ja",   "oui",
                                     "si",     "excluded", "exclude",  "skip", "skipped",
                                     "ignore", "ignored",  "left out", "set"};
constexpr std::string_view kNo[] = {"no",    "false",    "off",     "not",           "non",
                                    "nein",  "none",     "null",    "nil",           "nan",
                                    "n/a",   "na",       "unknown", "not supported", "unset",
                                    "empty", "included", "include", "unknown error", "not excluded"};

bool is_part_of_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Lower-case and without what stands around the word: "[Yes]", "x.", "(none)".
std::string word_of(std::string_view text) {
  while (!text.empty() && !is_part_of_word(text.front())) text.remove_prefix(1);
  while (!text.empty() && !is_part_of_word(text.back())) text.remove_suffix(1);
  return text.size() > kLongestMark ? std::string(text) : to_lower(text);
}

template <std::size_t kSize>
bool is_among(const std::string_view (&words)[kSize], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace

bool is_reason(std::string_view text) {
  const std::string word = word_of(without_wide_blanks(text));
  const bool single = word.size() == 1 || word.empty();  // a mark, a number, or a word such as "y"
  return !single && !is_among(kYes, word) && !is_among(kNo, word);
}

std::string fix_for_reason(std::string_view text) {
  const std::string word = word_of(without_wide_blanks(text));
  const bool is_no = word == "n" || word == "f" || is_among(kNo, word) ||
                     (word.empty() && text.find_first_of("123456789+*") == std::string_view::npos);
  return is_no ? "leave the field empty if the device must be covered" : "write why, such as: display card";
}

std::string how_to_exclude(const Device& device) {
  return is_of_fleet(device) ? "write why into the column excluded of " + device.origin +
                                   " (add that column to the header where it is missing)"
                             : std::string();
}

}  // namespace archguard
