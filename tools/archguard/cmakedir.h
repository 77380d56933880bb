#pragma once

#include "base/result.h"

namespace archguard {

// Prints the folder of ArchGuardConfig.cmake that was installed with this program, for CMAKE_PREFIX_PATH-less
// use: -DArchGuard_DIR=$(archguard --cmakedir).
Result<int> print_cmakedir();

}  // namespace archguard
