#pragma once

#include <string>

#include "installed/package.h"

namespace archguard {

// Two packages that each say that this file is theirs. Which of them put it there last is not told.
struct Rivals {
  std::string path;
  Package first, second;
};

}  // namespace archguard
