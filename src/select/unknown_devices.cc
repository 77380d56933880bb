#include <algorithm>

#include "compat/driver.h"
#include "select/parts.h"

namespace archguard {
namespace {

std::string last_driver_of(ComputeCapability device) {
  const auto branch = last_driver_branch_for(device);
  const std::string cuda = cuda_text(*last_driver_cuda_for(device));
  return branch ? "is branch " + std::to_string(*branch) + " (" + cuda + ")" : "offers " + cuda;
}

std::string renamed_text(ComputeCapability device, Arch renamed) {
  return to_string(device) + " is called " + to_string(capability_of(renamed)) +
         " by drivers that offer more than " + cuda_text(*last_driver_cuda_for(device));
}

std::string advice_for(ComputeCapability device, Version driver) {
  const auto last = last_driver_cuda_for(device);
  if (!last || driver <= *last) {
    const Version first = *first_driver_cuda_for(device);
    return may_be_tegra(device) ? jetpack_advice(first, device)
                                : "update it to " + driver_text(first) + " or newer";
  }
  if (const auto renamed = later_name(arch_of(device)))
    return "name this device " + to_string(capability_of(*renamed));
  const auto branch = last_driver_branch_for(device);
  if (may_be_tegra(device) || !branch) return "state the CUDA that its driver offers";
  return "keep its driver at branch " + std::to_string(*branch) + ", or leave this device out of the fleet";
}

}  // namespace

Fit driver_knows_device(const Device& device) {
  if (!device.driver_cuda || is_found(device)) return Fit::yes;
  return driver_knows(*device.capability, *device.driver_cuda);
}

std::string unknown_to_driver_text(ComputeCapability device, Version driver) {
  const auto last = last_driver_cuda_for(device);
  if (last && *last < driver) {
    const auto renamed = later_name(arch_of(device));
    return renamed ? renamed_text(device, *renamed)
                   : "the last driver for " + to_string(device) + " " + last_driver_of(device);
  }
  const bool certain = driver_knows(device, driver) == Fit::no;
  return (certain ? "drivers know " : "NVIDIA's compilers know ") + to_string(device) + " from " +
         cuda_text(*first_driver_cuda_for(device)) + " on";
}

std::vector<std::string> unknown_device_warnings(const DeviceList& devices,
                                                 const std::vector<DeviceGroup>& groups) {
  std::vector<std::string> warnings;
  for (const DeviceGroup& group : groups) {
    if (!group.driver) continue;
    std::vector<std::size_t> unknown;
    for (const std::size_t i : group.devices)
      if (driver_knows_device(devices.kind(i)) != Fit::yes) unknown.push_back(i);
    if (unknown.empty()) continue;
    const bool certain = driver_knows(group.capability, *group.driver) == Fit::no;
    warnings.push_back(
        "the driver of " + names_of(devices, unknown) + " offers " + cuda_text(*group.driver) + ", and " +
        unknown_to_driver_text(group.capability, *group.driver) +
        (certain ? " (error 100, cudaErrorNoDevice): " : ": whether it runs there cannot be told: ") +
        advice_for(group.capability, *group.driver));
  }
  return warnings;
}

}  // namespace archguard
