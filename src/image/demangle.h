#pragma once

#include <string>

namespace archguard {

// "saxpy(int, float, float const*, float*)" for a mangled C++ name, without the mark of its file; any other
// text as it is.
// So is a name whose text would be longer than 64 KiB. May start a process, which ends with this one.
std::string demangle(const std::string& name);
// For who will demangle once it has read a lot: starts that process while this one is small.
void prepare_demangle();

// `a<b<int>>` for `a<b<int> >`, which the C++ library of GCC writes and that of LLVM does not: a name has one
// spelling, whatever ArchGuard was built with.
std::string with_closed_brackets(std::string text);

}  // namespace archguard
