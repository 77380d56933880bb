#pragma once

#include <string>
#include <vector>

#include "coverage/verification.h"

namespace archguard {

// What a report says of drivers beside what fails: a warning, and the line that mends it.
struct DriverNote {
  std::string text;
  std::string fix;
};

// Jetsons that tell a driver version and no CUDA, where some file asks for a driver: that number says
// nothing.
std::vector<DriverNote> notes_on_jetsons(const Verification& verification);

}  // namespace archguard
