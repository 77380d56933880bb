#pragma once

#include <string>

namespace archguard {

// "saxpy(int, float, float const*, float*)" for a mangled C++ name, without the mark of its file; any other
// text as it is.
// So is a name whose text would be longer than 64 KiB. May start a process, which ends with this one.
std::string demangle(const std::string& name);
// For who will demangle once it has read a lot: starts that process while this one is small.
void prepare_demangle();

}  // namespace archguard
