#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "compat/arch.h"
#include "compat/rules.h"

// What a driver can do, by the CUDA that it offers or by its version.
namespace archguard {

// The CUDA that a driver of this version offers ("535.104.05" → 12.2): that of the largest known branch not
// above it, so the answer is a lower bound (620.1 → at least what 615 offers); on Windows too. Text that is
// no driver version, and a branch below the table, give nothing.
std::optional<Version> driver_cuda_of(std::string_view driver_version);

// The same for a driver of this device. Nothing for one that may be Tegra: its driver's number is that of
// Jetson Linux and tells no CUDA (540.4.0 came with CUDA 12.6, as a desktop's branch it would be 12.2).
// That holds for Thor too, although JetPack 7 numbers its drivers as the others: nobody has said that it
// always will.
std::optional<Version> driver_cuda_of(std::string_view driver_version,
                                      std::optional<ComputeCapability> device);

// The newest PTX ISA that a driver offering this CUDA compiles (12.8 → 8.7; between two rows, the lower
// one's). Nothing for a driver outside the table.
std::optional<Version> newest_ptx_for_driver(Version driver_cuda);

// The lowest CUDA that a driver must offer to compile this PTX ISA (8.7 → 12.8). Nothing for an ISA above the
// table.
std::optional<Version> lowest_driver_cuda_for_ptx(Version ptx_isa);

// Each CUDA that some driver of the table offers, ascending.
const std::vector<Version>& known_driver_cudas();

// The lowest Linux driver branch that offers this CUDA (12.8 → 570), for messages. Nothing where unknown.
std::optional<int> driver_branch_of(Version driver_cuda);

// Is the version's branch newer than any that the table knows? Then what driver_cuda_of() tells is the least
// that it offers.
bool is_driver_beyond_table(std::string_view driver_version);

// Does this driver come with a CUDA well below that one? Two releases, since some drivers of a branch offer
// the next one's (430.26 says 10.2, 446.14 of Windows 11.0). No where the version does not tell.
bool is_cuda_beyond_driver(Version cuda, std::string_view driver_version,
                           std::optional<ComputeCapability> device);

// How a Tegra device gets a driver that offers this CUDA, which its boards can have: a driver branch is not
// installed on it. For messages.
std::string jetpack_advice(Version driver_cuda, ComputeCapability device);

// The last driver branch that supports the device (6.1 → 580): no newer driver will help it. Nothing for a
// device that the newest drivers support, and for Tegra, which has no such branches.
std::optional<int> last_driver_branch_for(ComputeCapability device);

// Does a driver of this version ("580.65.06") belong to a newer branch than the last for the device? No where
// the version tells no branch.
bool is_dropped_by_branch(std::string_view driver_version, ComputeCapability device);

// The newest CUDA that a driver of the device ever offers: that of its last branch (6.1 → 13.0), and for
// Tegra that of the last JetPack and cuda-compat (5.3 → 10.2). Nothing for a device that still gets newer
// ones.
std::optional<Version> last_driver_cuda_for(ComputeCapability device);

// May a driver of the device, or the cuda-compat of one, offer this CUDA?
bool may_ever_offer(ComputeCapability device, Version driver_cuda);

// The oldest CUDA whose drivers compile for the device (12.0 → 12.8). Nothing where that is not known.
std::optional<Version> first_driver_cuda_for(ComputeCapability device);

// The lowest CUDA that a driver must offer to run programs of this toolkit (minor-version compatibility: 12.4
// → 12.0). From CUDA 11 on that is X.0 of the major version (NVIDIA's table: branches 450, 525, 580); before
// it, the toolkit's own version.
Version lowest_driver_cuda_for_toolkit(Version toolkit);

// Does a driver that offers this CUDA compile PTX of this ISA? `unknown` for a driver and an ISA both above
// the table.
Fit driver_takes_ptx(Version ptx_isa, Version driver_cuda);

// The number with which a driver that offers this CUDA refuses PTX that is too new for it: 222 from CUDA 11.0
// on (openmm/openmm#3598), before that 218 (heavyai/heavydb#617, numba/numba#3794, m4rs-mt/ILGPU#36).
int error_of_newer_ptx(Version driver_cuda);
// What a driver of this CUDA answers where a device link has no code for the device, and none of its objects
// has: recorded on a driver of CUDA 13.0, for nvcc 11.8 and 13.0. Of older drivers, that it is not known.
int error_of_unfit_link(Version driver_cuda);

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

}  // namespace archguard
