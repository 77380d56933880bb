#pragma once

#include <string>

#include "coverage/verification.h"

namespace archguard {

// Asks which packages the judged files with device code belong to, and writes it into their results.
// `sysroot` is the root of another system, which some of the files may stand in; empty: none does.
void find_owners(Verification& verification, const std::string& sysroot);

}  // namespace archguard
