#pragma once

#include <string>

#include "doctor/facts.h"

namespace archguard::doctor {

// The line that installs a release of the package which supports the devices, as src/releases has it
// measured, for the Python of the environment; or what stands in its way. Empty for a package that was not
// measured. `of_class`: the device that is about; the others of `facts` are served too, where one release
// does.
std::string release_fix(const Facts& facts, const std::string& package, std::size_t of_class);

// Where the package was measured for other machines alone: that, and what to do. Empty else.
std::string not_measured_here(const Facts& facts, const std::string& package, std::size_t of_class);

}  // namespace archguard::doctor
