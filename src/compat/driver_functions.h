#pragma once

#include <optional>
#include <string_view>

#include "base/version.h"

namespace archguard {

// The CUDA from which on drivers offer a function to those who link libcuda: "cuGreenCtxCreate" is of 12.4.
// Nothing where that is no function of the driver API, or one that CUDA 10.0 had. Those for streams per
// thread (`_ptsz`, `_ptds`) came with the others.
std::optional<Version> first_driver_with(std::string_view function);

}  // namespace archguard
