#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coverage/fatbin_code.h"

namespace archguard {

// Static shared memory of what the driver links when it loads a program: a kernel of one object has that of
// the functions of others, too, which it calls.

// Of the image of one object.
struct LinkedShared {
  std::shared_ptr<const std::vector<SharedUse>> uses;  // nothing where it has none
  std::uint64_t of_functions = 0;
  std::vector<std::string> defined, wanted;
  bool kernels = false;   // are there any?
  bool specific = false;  // for an `a` target
};
LinkedShared linked_shared_of(const Image& image);

// The kernel that has too much with functions of other objects, surely or perhaps; nothing where none does.
struct TooMuchShared {
  std::string kernel;
  std::uint64_t bytes = 0;
  bool sure = false, specific = false;
};
std::optional<TooMuchShared> most_linked_shared(const std::vector<LinkedShared>& objects);

}  // namespace archguard
