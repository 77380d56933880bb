#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coverage/verification.h"
#include "device/device.h"

namespace archguard {

// The devices that `arch_probe select --format json` left out. `path` names the document in errors.
Result<std::vector<ExcludedDevice>> parse_excluded(std::string_view text, const std::string& path);
Result<std::vector<ExcludedDevice>> read_excluded(const std::string& path);

// Removes from `devices` those that were left out, and returns what was left out of them: an exclusion that
// matches no device of the fleet has nothing to say. A device matches by name, compute capability, driver and
// uuid, so that of two like GPUs only the one that was left out goes. What the fleet itself excludes stays:
// it was no candidate.
std::vector<ExcludedDevice> take_excluded(DeviceList& devices, const std::vector<ExcludedDevice>& excluded);

}  // namespace archguard
