#pragma once

#include <string>

namespace archguard {

// "CUDA_ERROR_NO_DEVICE", "NVML_ERROR_TIMEOUT": of those that a driver which fails returns; empty for others.
std::string cuda_error_name(int code);
std::string nvml_error_name(int code);

}  // namespace archguard
