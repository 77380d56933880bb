#include "compat/told_archs.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace archguard {
namespace {

// NVIDIA's names of generations, as its libraries put them in front of kernels, and their architectures
// ("CUDA GPU Compute Capability"). Not "ada", which begins words.
struct Generation {
  std::string_view name;
  int first, last;
};
constexpr Generation kGenerations[] = {
    {"fermi", 20, 21},  {"kepler", 30, 37}, {"maxwell", 50, 53}, {"pascal", 60, 62},      {"volta", 70, 72},
    {"turing", 75, 75}, {"ampere", 80, 88}, {"hopper", 90, 90},  {"blackwell", 100, 121},
};

bool is_small_letter(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

std::size_t end_of_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_decimal(text[at])) ++at;
  return at;
}

// Does a number at `at` of a mangled name count the letters behind it? Not that of "Li80E" and "S1_" (Itanium
// C++ ABI, "Mangling").
bool counts_letters(std::string_view name, std::size_t at) {
  const char before = name[at - 1];
  if (before == 'S' || before == 'T') return false;
  return !(at >= 2 && is_small_letter(before) && name[at - 2] == 'L');
}

// Where identifiers end in a mangled name, which has nothing between them and what follows: "_Z6hopperf".
std::vector<bool> ends_of_identifiers(std::string_view name) {
  std::vector<bool> ends(name.size() + 1);
  if (!starts_with(name, "_Z")) return ends;
  for (std::size_t at = 2; at < name.size();) {
    const std::size_t behind = end_of_digits(name, at);
    std::size_t letters = 0;
    for (std::size_t i = at; i < behind && letters <= name.size(); ++i)
      letters = letters * 10 + static_cast<std::size_t>(name[i] - '0');
    const bool counted = behind != at && counts_letters(name, at) && letters <= name.size() - behind;
    at = std::max(behind, at + 1);
    if (!counted) continue;
    at = behind + letters;
    ends[at] = true;
  }
  return ends;
}

// The number behind "sm", of two or three digits: "80", "_80". 0 for anything else.
int number_at(std::string_view text) {
  if (starts_with(text, "_")) text.remove_prefix(1);
  const std::size_t digits = end_of_digits(text, 0);
  if (digits != 2 && digits != 3) return 0;
  int number = 0;
  for (const char digit : text.substr(0, digits)) number = number * 10 + (digit - '0');
  return number;
}

}  // namespace

bool ToldArchs::is_for(ComputeCapability device) const {
  const int number = arch_of(device).number;
  return runs_from <= number && number <= last;
}

std::vector<ToldArchs> archs_told_by(std::string_view name) {
  std::vector<ToldArchs> told;
  const std::string text = to_lower(name);
  const std::vector<bool> ends = ends_of_identifiers(name);
  for (std::size_t begin = 0; begin < text.size();) {
    if (!is_small_letter(text[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin + 1;
    while (end < text.size() && is_small_letter(text[end]) && !ends[end] &&
           !(is_capital(name[end]) && is_small_letter(name[end - 1])))
      ++end;
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    if (const int number = word == "sm" ? number_at(std::string_view(text).substr(end)) : 0)
      told.push_back({number / 10 * 10, number / 10 * 10 + 9, number});
    for (const Generation& generation : kGenerations)
      if (word == generation.name) told.push_back({generation.first, generation.last, generation.first});
    begin = end;
  }
  return told;
}

}  // namespace archguard
