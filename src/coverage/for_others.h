#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coverage/fix.h"

namespace archguard {

// Fat binaries of a or f images alone that are for other devices, and are not asked of this one
// (Verdict::specific): a program may launch their kernels elsewhere alone. Whether it does, no file tells.
struct ForOthers {
  std::uint64_t fatbins = 0;
  // Of the first of them:
  std::string where;   // for a message
  std::string found;   // what it holds
  std::string kernel;  // one of its kernels, mangled; may be empty
  Fix mend;            // what would make it one for this device, too
};

// The line to type where one does launch them there: for all of these at once, each said of one device. What
// another toolkit alone builds is not named.
std::string fix_for_others(const std::vector<const ForOthers*>& devices);

}  // namespace archguard
