#pragma once

#include <string_view>
#include <vector>

#include "base/version.h"
#include "compat/arch.h"

namespace archguard {

// The raw tables behind toolkit.h and rules.h, for this folder alone. Sources:
// docs/reference/compatibility.md.

// One release of CUDA: what its ptxas takes, what its driver branch is, and what its toolkit makes.
struct CudaRelease {
  Version cuda;
  Version ptx_isa;
  int driver_branch;    // 0: not known
  const char* changes;  // to the row before: "+90a -35"; nullptr: the table holds no toolkit of this release
};
const std::vector<CudaRelease>& cuda_releases();  // ascending

// Rows from this release on were measured with that release's ptxas; the older ones are NVIDIA's
// documentation.
constexpr Version kFirstMeasuredToolkit{11, 7};

// The devices that SASS of a family-specific arch runs on.
struct Family {
  Arch arch;
  std::vector<ComputeCapability> members;
};
const std::vector<Family>& families();

// An arch that got another name: compute_101 is what CUDA 13.0 calls compute_110.
struct Renaming {
  int from;
  int to;
};
const std::vector<Renaming>& renamings();

// The last driver branch that supports devices of [first, last].
struct LastBranch {
  ComputeCapability first, last;
  int branch;
};
const std::vector<LastBranch>& last_branches();

const std::vector<ComputeCapability>& tegra_devices();
// Claimed to be Tegra, not documented: SASS is trusted on an exact match only.
const std::vector<ComputeCapability>& suspected_tegra_devices();

}  // namespace archguard
