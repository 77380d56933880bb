#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "releases/releases.h"

// What pip installs along with a release, as its metadata says.
namespace archguard {

// Of ">=2.4,<3": is a version in it? Numbers alone count; of a specifier that is not known: no.
bool is_in_range(std::string_view version, std::string_view specifiers);

// A package that a release asks for as a range, and of its measured releases there the newest that serves the
// devices and has a wheel for the Python.
struct RangeChoice {
  std::string range;               // "torch>=2.4,<3"
  const Release* found = nullptr;  // nullptr: none in the range does
  bool is_newest = false;          // what pip takes of itself
};
// None where no release of the package was measured for the platform.
std::vector<RangeChoice> choices_in_ranges(const Release& release, const std::vector<AskedDevice>& devices,
                                           std::optional<Version> python);

}  // namespace archguard
