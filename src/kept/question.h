#pragma once

#include <string>
#include <string_view>

#include "coverage/verify.h"

namespace archguard {

// All that an answer depends on besides the file, as bytes to compare: the devices as far as a rule reads
// them, what is expected, the policy with the environment, and the program that judges. `version` is
// ArchGuard's; as rules change between two builds of one version, it holds also which build this program is.
std::string question_of(VerifyRequest request, std::string_view version);

}  // namespace archguard
