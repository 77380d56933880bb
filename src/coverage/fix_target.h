#pragma once

#include <string>
#include <vector>

namespace archguard {

// The CMake target that is built, of which a fix speaks.
struct FixTarget {
  std::string name = {};      // whose CUDA_ARCHITECTURES are meant, or empty
  bool compiles_cuda = true;  // false: its device code comes from files that others made
  std::vector<std::string> linked =
      {};  // targets that are compiled for lists of their own, and linked into it
  // `all`, `all-major` or `native`, if its list is that, and what it stands for: CMake takes no other entry
  // beside.
  std::string word = {}, spelled = {};
};

}  // namespace archguard
