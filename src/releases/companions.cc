#include "releases/companions.h"

#include <algorithm>

#include "base/text.h"

namespace archguard {
namespace {

// 2.14.0 → 2, 14, 0; what follows a part that is no number is left out.
std::vector<std::uint64_t> release_numbers(std::string_view version) {
  std::vector<std::uint64_t> numbers;
  for (const std::string_view part : split(version, '.')) {
    const auto number = parse_number(part, 1'000'000);
    if (!number) break;
    numbers.push_back(*number);
  }
  return numbers;
}

// Negative, 0 or positive, as PEP 440 compares: 2.4 is 2.4.0.
int compare_releases(std::string_view first, std::string_view second) {
  std::vector<std::uint64_t> a = release_numbers(first), b = release_numbers(second);
  const std::size_t size = std::max(a.size(), b.size());
  a.resize(size);
  b.resize(size);
  return a < b ? -1 : b < a ? 1 : 0;
}

// Of "torch>=2.4": where the name ends.
std::size_t end_of_name(std::string_view requirement) {
  return std::min(requirement.find_first_of("<>=!~"), requirement.size());
}

}  // namespace

bool is_in_range(std::string_view version, std::string_view specifiers) {
  if (specifiers.empty()) return true;
  for (const std::string_view each : split(specifiers, ',')) {
    const std::size_t digits = std::min(each.find_first_of("0123456789"), each.size());
    const std::string_view sign = each.substr(0, digits);
    const int order = compare_releases(version, each.substr(digits));
    const bool holds = sign == ">="   ? order >= 0
                       : sign == ">"  ? order > 0
                       : sign == "<=" ? order <= 0
                       : sign == "<"  ? order < 0
                                      : sign == "!=" && order != 0;
    if (!holds) return false;
  }
  return true;
}

std::vector<RangeChoice> choices_in_ranges(const Release& release, const std::vector<AskedDevice>& devices,
                                           std::optional<Version> python) {
  std::vector<RangeChoice> choices;
  for (const std::string& each : release.companions) {
    if (each.find("==") != std::string::npos) continue;
    const std::size_t end = end_of_name(each);
    const auto measured = releases_of(each.substr(0, end), release.platform);
    if (measured.empty()) continue;
    RangeChoice choice{each};
    for (const Release* other : measured) {
      const bool serves_them = std::all_of(devices.begin(), devices.end(), [&](const AskedDevice& asked) {
        return serves(*other, asked) == Serves::yes && companion_without(*other, asked) == nullptr;
      });
      if (choice.found != nullptr || !serves_them || (python && !has_python(*other, *python)) ||
          !is_in_range(other->version, std::string_view(each).substr(end)))
        continue;
      choice.found = other;
      choice.is_newest = other == measured.front();
    }
    choices.push_back(choice);
  }
  return choices;
}

}  // namespace archguard
