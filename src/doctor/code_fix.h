#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "doctor/facts.h"

namespace archguard::doctor {

// What is known of any package: which CUDA makes code for the device, or suits its driver. `code` is CUDA's
// number of the error.
std::string general_fix(int code, const std::string& name, const Device& device);

// The line to type where a package lacks code for a class of devices: a release that has it, else how to
// build it again, else what is known of any.
std::string code_fix(const Facts& facts, int code, const std::optional<Package>& owner, std::size_t of_class);

}  // namespace archguard::doctor
