#pragma once

#include <string>
#include <string_view>

#include "image/image.h"

namespace archguard {

// Headers of NVIDIA's toolkit define variables that nvcc registers with every file that includes them, and
// that no host code reads: objects of libcu++ and Thrust that are functions or tags, tables of cuRAND. CUB
// brings one empty kernel. A fat binary that holds nothing else asks for nothing. Measured: every public
// header of CUDA 13.0, and libcu++, Thrust and CUB of 11.8, 12.4, 12.6, 12.9 and 13.5
// (docs/reference/verdicts.md).
bool is_toolkits_own(const DeviceVariable& variable);
bool is_toolkits_own(const Kernel& kernel);

// "cuda::std::__4::__cpo::swap" for what nvcc calls
// _ZN…_INTERNAL_…4cuda3std3__45__cpo4swapE: namespaces without the one of the file, and without template
// arguments. A name that is not mangled, as it is; empty where it is mangled otherwise.
std::string path_of(std::string_view variable);

}  // namespace archguard
