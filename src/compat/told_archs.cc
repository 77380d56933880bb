#include "compat/told_archs.h"

#include <string>

#include "base/text.h"

namespace archguard {
namespace {

// NVIDIA's names of generations, as its libraries put them in front of kernels, and their architectures
// ("CUDA GPU Compute Capability"). Not "ada", which begins words.
struct Generation {
  std::string_view name;
  ArchRange archs;
};
constexpr Generation kGenerations[] = {
    {"fermi", {20, 21}},  {"kepler", {30, 37}}, {"maxwell", {50, 53}},
    {"pascal", {60, 62}}, {"volta", {70, 72}},  {"turing", {75, 75}},
    {"ampere", {80, 88}}, {"hopper", {90, 90}}, {"blackwell", {100, 121}},
};

bool is_small_letter(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

// "sm80", "sm_80", "compute_80": two or three digits. 0 for anything else.
int number_behind(std::string_view text, std::string_view prefix) {
  if (!starts_with(text, prefix)) return 0;
  text.remove_prefix(prefix.size());
  if (starts_with(text, "_")) text.remove_prefix(1);
  int number = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && digits < 4 && is_decimal(text[digits]); ++digits)
    number = number * 10 + (text[digits] - '0');
  return digits == 2 || digits == 3 ? number : 0;
}

}  // namespace

std::vector<ArchRange> archs_told_by(std::string_view name) {
  std::vector<ArchRange> told;
  const std::string text = to_lower(name);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_small_letter(text[at]) || (at != 0 && is_small_letter(text[at - 1]))) continue;
    const std::string_view rest = std::string_view(text).substr(at);
    for (const char* prefix : {"sm", "compute"})
      if (const int number = number_behind(rest, prefix))
        told.push_back({number / 10 * 10, number / 10 * 10 + 9});
    for (const Generation& generation : kGenerations)
      if (starts_with(rest, generation.name)) told.push_back(generation.archs);
  }
  return told;
}

}  // namespace archguard
