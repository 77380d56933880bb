#pragma once

#include <string>

#include "coverage/outcome.h"

namespace archguard {

// The document "archguard.verify/1", indented, with a line end.
std::string verify_json(const Verification& verification);

}  // namespace archguard
