#pragma once

#include <optional>
#include <string>

#include "compat/arch.h"

namespace archguard {

// "9.0a", "12.0+PTX": how PyTorch's TORCH_CUDA_ARCH_LIST names an architecture, with `+PTX` for PTX beside
// its SASS. Nothing where torch takes no such name ("Unknown CUDA arch"): the list stands in torch.cc.
std::optional<std::string> torch_name(Arch arch, bool ptx);

// The one that stands for `arch` where torch takes no such name: its images run wherever those of `arch` do.
// 10.0 for 100f, 10.3 for 107. Nothing where torch takes the name itself, or has none whose SASS would do.
std::optional<Arch> nearest_in_torch(Arch arch);

// TORCH_CUDA_ARCH_LIST with the names of families in it ("Ampere", "Volta+Tegra") replaced by what they stand
// for, as
// `_get_cuda_arch_flags` of torch/utils/cpp_extension.py does it: text for text, so "Hopper+PTX" becomes
// "9.0+PTX+PTX", which torch refuses.
std::string expand_torch_families(std::string list);

// The newest that torch takes whose PTX a driver compiles for a device of `arch`: 8.7 for 88.
std::optional<Arch> nearest_ptx_in_torch(Arch arch);

}  // namespace archguard
