#pragma once

#include <string_view>
#include <vector>

#include "compat/arch.h"

namespace archguard {

struct ArchRange {
  int first = 0, last = 0;
  bool has(Arch arch) const { return first <= arch.number && arch.number <= last; }
};

// The architectures that the name of a kernel tells: 80 to 89 of "gemm_sm_80" and "Sm86", 90 of
// "hopper_gemm".
std::vector<ArchRange> archs_told_by(std::string_view name);

}  // namespace archguard
