#pragma once

#include <string>

namespace archguard {

// "saxpy(int, float, float const*, float*)" for a mangled C++ name; any other text as it is.
std::string demangle(const std::string& name);

}  // namespace archguard
