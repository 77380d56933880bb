#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace archguard {

// What the libraries that a file needs, and those that these need, tell of functions that it calls.
struct FunctionsElsewhere {
  std::set<std::string> defined;       // by one of them that is not libcuda
  std::vector<std::string> not_found;  // libraries that may define some
  bool needs_libcuda = false;          // one of them
};
using AskElsewhere = std::function<FunctionsElsewhere(const std::set<std::string>& functions)>;

}  // namespace archguard
