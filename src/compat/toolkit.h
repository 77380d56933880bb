#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "compat/arch.h"

namespace archguard {

// One release of the CUDA toolkit. This is the one table of architectures in the project.
struct Toolkit {
  Version version;
  Version ptx_isa;          // the PTX ISA that its nvcc writes and the newest that its ptxas takes
  std::vector<Arch> archs;  // ascending; `a` and `f` names included; each both as sm_ and as compute_ (all of
                            // CUDA ≥ 9; 8.0's sm_21 has no compute_21)
  bool measured = false;    // with ptxas of that release; else taken from NVIDIA's documentation
};

// sm_21 alone: there is no compute_21, and code for it is compiled from compute_20. (nvcc 8.0 manual, "GPU
// Feature List".)
bool is_sass_only(Arch arch);

// Is there a toolkit that makes images of this arch: that one, or any where none is given? True for what is
// beyond the table: an arch, or a toolkit.
bool may_be_made(Arch arch, std::optional<Version> toolkit);

// The oldest PTX ISA that has this target. Nothing for an arch that the table does not know.
std::optional<Version> first_ptx_for(Arch target);

const std::vector<Toolkit>& known_toolkits();  // ascending, 8.0 … 13.5
const Toolkit* find_toolkit(Version version);  // nullptr where the table has no such release
const Toolkit& newest_known_toolkit();

// Every device that some known release makes images for; ascending.
const std::vector<ComputeCapability>& known_devices();

// The oldest and the newest known release that can make an image for this device, as SASS or, where it has no
// SASS that fits, as PTX. Nothing where none can.
std::optional<Version> first_toolkit_for(ComputeCapability device);
std::optional<Version> last_toolkit_for(ComputeCapability device);

// The oldest and the newest known release that makes SASS for this device; nothing where none does.
struct ToolkitRange {
  Version first, last;
};
std::optional<ToolkitRange> toolkits_with_sass_for(ComputeCapability device);

// What all advice is made of. The known toolkits that make SASS for the device, whose programs its driver
// runs too (lowest_driver_cuda_for_toolkit; nothing: a driver that nobody told, so any). Nothing where none
// does.
std::optional<ToolkitRange> toolkits_with_sass_for(ComputeCapability device,
                                                   std::optional<Version> driver_cuda);
// The newest of the known toolkits that do so for each of these devices, which share a driver. Where none
// makes SASS for all of them, the newest whose programs run there, through PTX that the driver compiles.
// Nothing where none does.
std::optional<Version> newest_toolkit_for(const std::vector<ComputeCapability>& devices,
                                          std::optional<Version> driver_cuda);

// ---- drivers ----

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

// The lowest Linux driver branch that offers this CUDA (12.8 → 570), for messages. Nothing where unknown.
std::optional<int> driver_branch_of(Version driver_cuda);

// Is the version's branch newer than any that the table knows? Then what driver_cuda_of() tells is the least
// that it offers.
bool is_driver_beyond_table(std::string_view driver_version);

// How a Tegra device gets a driver that offers this CUDA, which its boards can have: a driver branch is not
// installed on it. For messages.
std::string jetpack_advice(Version driver_cuda, ComputeCapability device);

// The last driver branch that supports the device (6.1 → 580): no newer driver will help it. Nothing for a
// device that the newest drivers support, and for Tegra, which has no such branches.
std::optional<int> last_driver_branch_for(ComputeCapability device);

// The newest CUDA that a driver of the device ever offers: that of its last branch (6.1 → 13.0), and for
// Tegra that of the last JetPack and cuda-compat (5.3 → 10.2). Nothing for a device that still gets newer
// ones.
std::optional<Version> last_driver_cuda_for(ComputeCapability device);

// The oldest CUDA whose drivers compile for the device (12.0 → 12.8). Nothing where that is not known.
std::optional<Version> first_driver_cuda_for(ComputeCapability device);

// The lowest CUDA that a driver must offer to run programs of this toolkit (minor-version compatibility: 12.4
// → 12.0). From CUDA 11 on that is X.0 of the major version (NVIDIA's table: branches 450, 525, 580); before
// it, the toolkit's own version.
Version lowest_driver_cuda_for_toolkit(Version toolkit);

}  // namespace archguard
