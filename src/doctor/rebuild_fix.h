#pragma once

#include <string>

#include "doctor/facts.h"

namespace archguard::doctor {

// Reads from the lists of the packages that hold device code which of them were built on a machine of the
// user, and from what.
void gather_sources(Facts& facts);

// The line that builds the package again with code for the device. Empty where nothing tells that it can be
// built: no list of it does, and it is no extension of torch.
std::string rebuild_line(const Facts& facts, const Package& package, const Device& device);

// Is the package known to be built on a machine of the user, or for him? Then no release of an index helps
// him.
bool is_built_locally(const Facts& facts, const Package& package);

}  // namespace archguard::doctor
