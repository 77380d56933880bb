#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coverage/verification.h"

namespace archguard {

// What fails for one cause, in how many files and on how many classes of devices it may be: what a report
// says once. Of files that are alternatives nothing is told here: see any_of_text.h.
struct FailureGroup {
  struct OfClass {
    std::size_t device;      // index of the class
    const Failure* failure;  // on it, in the first of the files
  };
  std::vector<std::size_t> files;  // indices, ascending: in each of them, on each of the classes
  std::vector<OfClass> classes;    // ascending
  std::uint64_t fatbins = 0;       // of all these files, on the class where most fail
  bool same_fatbins = true;        // as many on each class
  bool same_found = true;          // Failure::found is that of every file
  bool same_names = true;          // likewise the kernel, or the variable

  const Failure& first() const { return *classes.front().failure; }
};

// In the order in which the files fail. Takes time in proportion to the failures, times a logarithm.
std::vector<FailureGroup> group_failures(const Verification& verification);

// What is to be added to the build's list for all of the classes at once, where that is the whole fix on
// each; else nothing. In the order of the archs.
std::vector<Addition> additions_of(const FailureGroup& group);

}  // namespace archguard
