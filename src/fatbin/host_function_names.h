#pragma once

#include <string>
#include <vector>

namespace archguard::fatbin {

// How compilers call the host function of a kernel that is static: _ZL4fillIfEvPT_, _ZN2nsL4fillIfEvPT_ (by
// clang; GCC calls instances of templates as others). Empty where that is not told.
std::string static_function_name(const std::string& kernel);

// By which names host code may want the function of a kernel from elsewhere. nvcc calls a static kernel as
// one that is not, and what is static within `extern "C"` has its plain name in host code.
std::vector<std::string> host_function_names(const std::string& device_name);

}  // namespace archguard::fatbin
