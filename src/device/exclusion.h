#pragma once

#include <string>
#include <string_view>

#include "device/device.h"

namespace archguard {

// The column `excluded` of a fleet file leaves a device out and says why, so that whoever reads the fleet can
// tell whether that still holds.

// Does the text say why? Not where it is a mark or a word for yes or no ("x", "1", "-", "true", "N/A"): what
// such a word means to its writer is not known.
bool is_reason(std::string_view text);

// What to write in place of text that is no reason.
std::string fix_for_reason(std::string_view text);

// "write why into the column excluded of fleet.csv:4 (…)": how a line of a fleet is left out; empty for a
// device of another origin.
std::string how_to_exclude(const Device& device);

}  // namespace archguard
