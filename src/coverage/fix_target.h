#pragma once

#include <string>

namespace archguard {

// The CMake target that is built, of which a fix speaks.
struct FixTarget {
  std::string name = {};      // whose CUDA_ARCHITECTURES are meant, or empty
  bool compiles_cuda = true;  // false: its device code comes from files that others made
};

}  // namespace archguard
