#pragma once

#include <string_view>

#include "base/result.h"

namespace archguard {

// ptxas and nvJitLink refuse a byte order mark in each release, and from CUDA 12.8 on other bytes, in strings
// always and in comments in some releases (13.0, not 13.5). nvcc writes the paths of `.file` with escapes; a
// comment of inline assembly it copies.
Status check_ptx_ascii(std::string_view text);

}  // namespace archguard
