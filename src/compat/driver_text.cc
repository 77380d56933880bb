#include "compat/driver_text.h"

#include <algorithm>

#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"

namespace archguard {
namespace {

std::string last_driver_text(ComputeCapability device) {
  const auto branch = last_driver_branch_for(device);
  const std::string cuda = cuda_text(*last_driver_cuda_for(device));
  return branch ? "is branch " + std::to_string(*branch) + " (" + cuda + ")" : "offers " + cuda;
}

}  // namespace

std::string cuda_text(Version version) {
  return "CUDA " + to_string(version);
}

std::string driver_text(Version driver_cuda) {
  const auto branch = driver_branch_of(driver_cuda);
  return cuda_text(driver_cuda) + (branch ? " (driver " + std::to_string(*branch) + ")" : "");
}

std::string unknown_device_text(ComputeCapability device) {
  const auto& known = known_devices();
  if (std::find(known.begin(), known.end(), device) != known.end()) return {};
  return to_string(device) + " is not a compute capability of any CUDA up to " +
         to_string(newest_known_toolkit().version) + ": check the number";
}

std::string unknown_to_driver_text(ComputeCapability device, Version driver) {
  const std::string own = to_string(device);
  if (is_beyond_last_driver(device, driver)) {
    if (const auto renamed = later_name(arch_of(device)))
      return own + " is called " + to_string(capability_of(*renamed)) + " by drivers that offer more than " +
             cuda_text(*last_driver_cuda_for(device));
    return "the last driver for " + own + " " + last_driver_text(device);
  }
  const bool certain = driver_knows(device, driver) == Fit::no;
  return (certain ? "drivers know " : "NVIDIA's compilers know ") + own + " from " +
         cuda_text(*first_driver_cuda_for(device)) + " on";
}

bool is_beyond_last_driver(ComputeCapability device, Version driver) {
  const auto last = last_driver_cuda_for(device);
  return last && *last < driver;
}

std::string last_driver_advice(ComputeCapability device) {
  if (const auto renamed = later_name(arch_of(device)))
    return "name this device " + to_string(capability_of(*renamed));
  const auto branch = last_driver_branch_for(device);
  if (!branch) return "state the CUDA that its JetPack offers";  // the others have one
  return "keep its driver at branch " + std::to_string(*branch) + ", or leave this device out of the fleet";
}

}  // namespace archguard
