#pragma once

#include <string>

namespace archguard {

// "NVML_ERROR_TIMEOUT": of those that a driver which fails returns; empty for others. CUDA's:
// compat/error_codes.h.
std::string nvml_error_name(int code);

}  // namespace archguard
