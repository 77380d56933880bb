#pragma once

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

// Does the device have no cudaDeviceSynchronize in device code? "Such use will cause this module to fail to
// load on sm_90+ devices" (cuda_device_runtime_api.h of CUDA 11.8); ptxas and nvJitLink refuse it from CUDA
// 12.1 on, for sm_90 and newer, whatever the PTX is for.
bool lacks_device_sync(ComputeCapability device);

// Do compilers take no PTX for the device that has addresses of 32 bits? "32-Bit ABI … is not supported on
// sm_90 or higher architectures" (ptxas and nvJitLink of 11.8 to 13.5); error 218 (recorded on a 9.0).
bool lacks_32_bits(ComputeCapability device);

// Has the libcudadevrt of CUDA 13 no code for the device? sm_87 and sm_88 are the only archs of its toolkits
// that it leaves out (13.0 to 13.5).
bool lacks_device_runtime(ComputeCapability device);

// Does Triton take its second ptxas, `ptxas-blackwell`, for this device, where it has one? 3.3.1 and,
// from 3.6.0 on, all have one. (`get_ptxas` in triton/backends/nvidia/compiler.py: arch >= 100.)
bool is_for_second_ptxas_of_triton(ComputeCapability device);

// Does bitsandbytes before 0.45 take the library of a CUDA for this device, and not the one "_nocublaslt"
// beside it? (`has_cublaslt` in its cuda_specs.py.)
bool has_cublaslt_for_bitsandbytes(ComputeCapability device);

// Does torch's compiler, the inductor behind torch.compile, refuse to hand the device to Triton? ("Triton
// only supports devices of CUDA Capability >= 7.0": GPUTooOldForTriton of torch/_inductor/exc.py.) Triton's
// ptxas may know it all the same.
bool is_refused_by_inductor(ComputeCapability device);
inline constexpr const char* kRefusedByInductor = "Triton only supports devices of CUDA Capability >= 7.0";

// Does no release of the table know this device's arch? Then the general rules judge it, and messages say so.
bool is_beyond_table(ComputeCapability device);

}  // namespace archguard
