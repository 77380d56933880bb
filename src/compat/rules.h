#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/version.h"
#include "compat/arch.h"

namespace archguard {

// What the tables say of an image and a device. `unknown` never counts as yes.
enum class Fit { no, yes, unknown };

// CUDA's integrated Jetson and DRIVE chips: their SASS and that of desktop GPUs do not mix. (8.8 is only
// claimed to be one: not counted here, and its SASS is trusted on an exact match only.)
bool is_tegra(ComputeCapability device);

// Those, and the suspected one: what is not to be taken for a desktop GPU.
bool may_be_tegra(ComputeCapability device);

// Would the driver load SASS of this arch on this device? Binary compatibility within a major version, exact
// match for `a`, the family's table for `f`. (CUDA Programming Guide, "Binary Compatibility";
// docs/reference/compatibility.md.)
Fit sass_fits(Arch image, ComputeCapability device);

// Could the driver compile PTX of this arch for this device, whatever its ISA version? Plain PTX for every
// device not below it, `a` for exactly its own, `f` for its family; PTX of 101 also as what it would be for
// 110.
Fit ptx_fits(Arch image, ComputeCapability device);

// sass_fits() says yes by the documented rule, and a user's report says otherwise (sm_120 on 12.1).
bool sass_fit_is_doubted(Arch image, ComputeCapability device);

// The highest plain arch among `archs` whose SASS (whose PTX) fits the device. Never one with a suffix: those
// are no fallback.
std::optional<Arch> newest_sass_for(const std::vector<Arch>& archs, ComputeCapability device);
std::optional<Arch> newest_ptx_for(const std::vector<Arch>& archs, ComputeCapability device);

// What newer toolkits call this arch: 101f → 110f (from CUDA 13.0 on). Nothing where it kept its name.
std::optional<Arch> later_name(Arch arch);

// Does a driver that offers this CUDA compile PTX of this ISA? `unknown` for a driver and an ISA both above
// the table.
Fit driver_takes_ptx(Version ptx_isa, Version driver_cuda);

// Is there such a device under a driver that offers this CUDA? No: the driver is newer than the last for the
// device, or knows no device of its major version. `unknown`: it is older than the first release that
// compiles for the device, but knows others of its major version, whose SASS the device runs.
Fit driver_knows(ComputeCapability device, Version driver_cuda);

// What tells which drivers load a cubin: the toolkit that made it, where it tells, and the ABI of its ELF
// header, 7 or 8 (image/cubin.h).
struct SassMaker {
  std::optional<Version> toolkit;
  int abi = 0;
};

// Does a driver that offers this CUDA load such a cubin, which fits the device? NVIDIA promises it within a
// major version of CUDA, and for older ones (CUDA Compatibility, "Minor Version Compatibility"). `no` where
// it is known to refuse it: ABI 8 before 12.7, and code of CUDA 12 before 12.0. `unknown` elsewhere.
// docs/reference/compatibility.md has the sources.
Fit driver_takes_sass(const SassMaker& maker, Version driver_cuda);
// The lowest CUDA for which that is `yes`. Nothing where nothing is known of the cubin.
std::optional<Version> lowest_driver_cuda_for_sass(const SassMaker& maker);

constexpr int kNewCubinAbi = 8;
// PTX for sm_100, whose cubins have ABI 8, is compiled by drivers from this CUDA on.
inline constexpr Version kFirstNewCubinDriver{12, 7};
// The ABI of what a toolkit writes for this arch. (Measured: ptxas 11.7 to 13.5.)
int cubin_abi_of(Version toolkit, Arch arch);

// Kernels that take more bytes of parameters than this, or than the second, which none exceeds: ptxas asks
// for PTX ISA 8.1 and sm_70 (measured, ptxas 11.8 to 13.5), and NVIDIA for a driver of CUDA 12.1, whatever
// the minor version ("CUDA 12.1 Supports Large Kernel Parameters").
inline constexpr std::uint64_t kParametersMost = 4352, kLargeParametersMost = 32764;
inline constexpr Version kFirstLargeParametersDriver{12, 1};
bool takes_large_parameters(Version ptx_isa, Arch target);

// The first CUDA whose drivers inflate zstd-compressed images (claimed; docs/reference/compatibility.md).
inline constexpr Version kFirstZstdDriver{12, 4};
bool driver_takes_zstd(Version driver_cuda);

// Does the device have no cudaDeviceSynchronize in device code? "Such use will cause this module to fail to
// load on sm_90+ devices" (cuda_device_runtime_api.h of CUDA 11.8); ptxas and nvJitLink refuse it from CUDA
// 12.1 on, for sm_90 and newer, whatever the PTX is for.
bool lacks_device_sync(ComputeCapability device);

// Does no release of the table know this device's arch? Then the general rules judge it, and messages say so.
bool is_beyond_table(ComputeCapability device);

}  // namespace archguard
