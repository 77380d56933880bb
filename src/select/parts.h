#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compat/rules.h"
#include "select/select.h"

namespace archguard {

// The pieces that select.cc puts together, for this folder alone.

// Devices that no rule tells apart: the same capability and the same driver, as far as it is known.
struct DeviceGroup {
  ComputeCapability capability;
  std::optional<Version> driver;
  std::vector<std::size_t> devices;  // indices into the request's devices, ascending
  bool served = false;               // by an entry of the selection
};

// ---- explain.cc ----

// "NVIDIA T4 (7.5, fleet.csv:4) and 2 more like it, NVIDIA L4 (8.9, fleet.csv:5) and 7 more": each model
// once.
std::string names_of(const DeviceList& devices, const std::vector<std::size_t>& which);
// "; the last toolkit that does is 12.9": which of the toolkits that do (`others`, ascending) are nearest to
// this one, which does not. `does` is the verb.
std::string other_toolkits_text(const std::vector<Version>& others, Version this_one,
                                const std::string& does);
// "11.8 to 12.9, 13.1": releases in a row of the table as a range. Ascending.
std::string toolkits_text(const std::vector<Version>& toolkits);
// What the user should know of the devices of a finished selection.
std::vector<std::string> warnings_for(const DeviceList& devices, const std::vector<DeviceGroup>& groups,
                                      const Compiler& compiler, const SelectPolicy& policy,
                                      const Selection& selection);

// ---- unknown_devices.cc ----

// What to do about a device that its driver does not know, or not for certain.
std::string unknown_device_advice(ComputeCapability device, Version driver);
// Of each group with such a device.
std::vector<std::string> unknown_device_warnings(const DeviceList& devices,
                                                 const std::vector<DeviceGroup>& groups);

// Of each CUDA that is newer than the table and the compiler, and that the driver of a group offers.
std::vector<std::string> unknown_driver_warnings(const DeviceList& devices,
                                                 const std::vector<DeviceGroup>& groups,
                                                 const Compiler& compiler);

// ---- toolkits.cc ----

// Does a driver that offers this CUDA compile the PTX of this compiler?
Fit driver_takes_ptx_of(const Compiler& compiler, Version driver_cuda);

// The known toolkits whose programs, made under this policy, run on the device with its driver (without a
// known driver: with some driver), ascending; and those for which that holds of every group.
std::vector<Version> toolkits_serving(ComputeCapability device, std::optional<Version> driver,
                                      const SelectPolicy& policy);
std::vector<Version> toolkits_serving_all(const std::vector<DeviceGroup>& groups, const SelectPolicy& policy);
// Those as a note, which tells the ones with SASS for every group from the ones that leave some to the JIT.
std::string serving_all_text(const std::vector<Version>& toolkits, const std::vector<DeviceGroup>& groups);

// ---- baseline.cc ----

// The entries of the policy that name an architecture which the compiler cannot make: "PTX of compute_60".
std::vector<std::string> unmakeable_parts(const SelectPolicy& policy, const Compiler& compiler);
// The list for a build without any device to choose for.
std::vector<ChosenEntry> baseline_entries(const SelectPolicy& policy, const Compiler& compiler);

// The PTX that the policy adds beside this SASS (ascending, not empty), or nothing.
std::optional<Arch> ptx_beside(const std::vector<Arch>& sass, const SelectPolicy& policy,
                               const Compiler& compiler);
std::string fallback_reason(Arch ptx, const SelectPolicy& policy);

bool makes(const std::vector<Arch>& archs, Arch arch);
void insert_once(std::vector<Arch>& ascending, Arch arch);

// ---- clang.cc ----

// CMake asks clang for an architecture with --cuda-gpu-arch, which always makes SASS and PTX, and takes the
// PTX away again where an entry is `-real` (CMake 3.20 to 4.4): `80-real;80-virtual` has no PTX, and
// `90-virtual` has SASS. So the one spelling for PTX is `80`.
std::vector<ChosenEntry> as_clang_needs_it(const std::vector<ChosenEntry>& entries);
// What a list makes with clang.
std::vector<ArchEntry> as_clang_reads_it(const std::vector<ArchEntry>& list);

}  // namespace archguard
