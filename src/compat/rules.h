#pragma once

#include "base/version.h"
#include "compat/arch.h"

namespace archguard {

// What the tables say of an image and a device. `unknown` never counts as yes.
enum class Fit { no, yes, unknown };

// CUDA's integrated Jetson and DRIVE chips: their SASS and that of desktop GPUs do not mix.
bool is_tegra(ComputeCapability device);

// Would the driver load SASS of this arch on this device? Binary compatibility within a major version, exact
// match for `a`, the family's table for `f`. (CUDA Programming Guide, "Binary Compatibility";
// docs/reference/compatibility.md.)
Fit sass_fits(Arch image, ComputeCapability device);

// Could the driver compile PTX of this arch for this device, whatever its ISA version?
Fit ptx_fits(Arch image, ComputeCapability device);

// Does a driver that offers this CUDA compile PTX of this ISA? `unknown` for a driver and an ISA both above
// the table.
Fit driver_takes_ptx(Version ptx_isa, Version driver_cuda);

// The first CUDA whose drivers inflate zstd-compressed images (claimed; docs/reference/compatibility.md).
inline constexpr Version kFirstZstdDriver{12, 4};
bool driver_takes_zstd(Version driver_cuda);

// Is this arch known to no release of the table? Then the general rules judge it, and messages say so.
bool is_beyond_table(ComputeCapability device);

}  // namespace archguard
