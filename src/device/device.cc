#include "device/device.h"

#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "compat/driver.h"

namespace archguard {

bool is_wanted(const Device& device) {
  return device.visible && device.excluded.empty();
}

bool is_excluded(const Device& device) {
  return !device.excluded.empty();
}

std::string why_left_out(const Device& device) {
  if (is_excluded(device)) return device.excluded;
  return device.visible ? "" : "hidden by the environment (CUDA_VISIBLE_DEVICES)";
}

bool is_found(const Device& device) {
  const auto source = device.source.find("compute_capability");
  return source != device.source.end() && source->second != "fleet" && source->second != "option";
}

Fit driver_knows_device(const Device& device) {
  if (!device.driver_cuda || is_found(device)) return Fit::yes;
  return driver_knows(*device.capability, *device.driver_cuda);
}

bool is_of_fleet(const Device& device) {
  return std::any_of(device.source.begin(), device.source.end(),
                     [](const auto& field) { return field.second == "fleet"; });
}

bool may_run_cuda_compat(const Device& device) {
  std::string name = to_lower(device.name);
  if (starts_with(name, "nvidia ")) name.erase(0, 7);
  return name.find("geforce") == std::string::npos && !starts_with(name, "titan ");
}

bool has_cuda_of_compat(const Device& device) {
  return device.driver_cuda && !device.cuda_by_branch && !may_run_cuda_compat(device) &&
         is_cuda_beyond_driver(*device.driver_cuda, device.driver_version, device.capability);
}

std::string more_like_it(std::uint64_t count) {
  return count < 2 ? "" : " and " + std::to_string(count - 1) + " more like it";
}

std::string describe(const Device& device) {
  const std::string origin = printable(device.origin);
  const std::string capability =
      device.capability ? to_string(*device.capability) : "compute capability unknown";
  std::string name = printable(device.name);
  if (name.empty() && device.capability) {
    return origin.empty() ? capability : capability + " (" + origin + ")";
  }
  if (name.empty()) name = "device";
  return name + " (" + capability + (origin.empty() ? "" : ", " + origin) + ")";
}

}  // namespace archguard
