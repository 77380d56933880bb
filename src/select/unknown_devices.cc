#include <algorithm>
#include <map>

#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/error_codes.h"
#include "compat/toolkit.h"
#include "select/parts.h"

namespace archguard {

std::string unknown_device_advice(ComputeCapability device, Version driver) {
  if (is_beyond_last_driver(device, driver)) return last_driver_advice(device);
  const Version first = *first_driver_cuda_for(device);
  return may_be_tegra(device) ? jetpack_advice(first, device)
                              : "update it to " + driver_text(first) + " or newer";
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
        (certain ? " (" + error_text(kNoDevice) + "): " : ": whether it runs there cannot be told: ") +
        unknown_device_advice(group.capability, *group.driver));
  }
  return warnings;
}

std::vector<std::string> unknown_driver_warnings(const DeviceList& devices,
                                                 const std::vector<DeviceGroup>& groups,
                                                 const Compiler& compiler) {
  const Version newest = std::max(newest_known_toolkit().version, compiler.version);
  std::map<Version, std::vector<std::size_t>> unknown;
  for (const DeviceGroup& group : groups)
    if (group.driver && newest < *group.driver) {
      auto& which = unknown[*group.driver];
      which.insert(which.end(), group.devices.begin(), group.devices.end());
    }
  std::vector<std::string> warnings;
  for (const auto& [driver, which] : unknown)
    warnings.push_back("the driver of " + names_of(devices, which) + " offers " + cuda_text(driver) +
                       ", which is not known, " + to_string(newest) +
                       " is the newest: it is judged by the general rules; update ArchGuard, or write the "
                       "CUDA that nvidia-smi shows");
  return warnings;
}

}  // namespace archguard
