#pragma once

#include <string_view>

namespace archguard {

// Whether host code can name this variable of a cubin or of PTX at module scope. It cannot name what a
// compiler makes (texts, tables, vtables) or what is static in a function. Names as nvcc 11.8 and 13.0, NVRTC
// and clang write them (docs/reference/fatbin.md).
bool host_can_name(std::string_view variable);

// "sdv" for "__nv_static_19__e5804319_4_v_cu_cv_sdv", as nvcc -rdc=true calls what is static in a file; any
// other name as it is.
std::string_view without_file_mark(std::string_view variable);

}  // namespace archguard
