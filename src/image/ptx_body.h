#pragma once

#include <string_view>

#include "image/image.h"

namespace archguard {

// What the text between a kernel's braces comes to.
KernelState state_of_ptx_body(std::string_view body);

}  // namespace archguard
