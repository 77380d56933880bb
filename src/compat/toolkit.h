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

bool has_arch(const Toolkit& toolkit, Arch arch);

// sm_21 alone: there is no compute_21, and code for it is compiled from compute_20. (nvcc 8.0 manual, "GPU
// Feature List".)
bool is_sass_only(Arch arch);

// Is there a toolkit that makes images of this arch: that one, or any where none is given? True for what is
// beyond the table: an arch, or a toolkit.
bool may_be_made(Arch arch, std::optional<Version> toolkit);

// Does no GPU have this number, though the table has a lower one and a higher one? 81, 104. False for what is
// newer or older than the table.
bool is_no_arch(int number);

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

// The oldest release of the major one that made LTO-IR whose container is of version 1.N, as a fat binary's
// entry tells it: 54 of CUDA 11.8, 57 of 12.0, 64 of 12.8, 65 of 13.0, 67 of 13.5 (read from files;
// nvJitLink 12.0 names its own). Nothing for what lies between.
std::optional<Version> toolkit_of_ltoir(unsigned container);
// Does a linker that takes such LTO-IR make SASS for the device? Those of its major release and newer ones
// take it, but LTO-IR of CUDA 11 those of CUDA 11 alone ("IR version 1.9 incompatible with current
// version 2.0"). True where a number is not known.
bool is_linked_for(unsigned container, ComputeCapability device);

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

}  // namespace archguard
