#pragma once

#include <string_view>
#include <vector>

#include "compat/arch.h"

namespace archguard {

// Architectures that a name tells.
struct ToldArchs {
  int first = 0, last = 0;  // numbers of images that bear such a name: 80 to 89 of "sm_86"
  int runs_from = 0;        // and of the devices that they are for: 86 to 89

  bool has(Arch image) const { return first <= image.number && image.number <= last; }
  bool is_for(ComputeCapability device) const;
};

// Those that words of a kernel's name tell, which may be mangled: "gemm_sm_80", "Sm86", "hopper_gemm". Not
// "voltage", which is another word, and not "compute_80", which may be what the kernel does.
std::vector<ToldArchs> archs_told_by(std::string_view name);

}  // namespace archguard
