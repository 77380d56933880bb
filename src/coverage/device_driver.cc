#include "coverage/device_driver.h"

#include <algorithm>
#include <string>

#include "compat/driver.h"
#include "compat/rules.h"
#include "coverage/driver_load.h"

namespace archguard {
namespace {

Fit fit_of(const Device& device) {
  if (!device.driver_cuda || is_found(device)) return Fit::yes;
  return driver_knows(*device.capability, *device.driver_cuda);
}

bool is_beyond_last(const Device& device) {
  const auto last = last_driver_cuda_for(*device.capability);
  return last && *last < *device.driver_cuda;
}

// "is branch 580 (CUDA 13.0)"
std::string last_driver_text(ComputeCapability device) {
  const auto branch = last_driver_branch_for(device);
  const std::string cuda = "CUDA " + to_string(*last_driver_cuda_for(device));
  return branch ? "is branch " + std::to_string(*branch) + " (" + cuda + ")" : "offers " + cuda;
}

// The driver is newer than any for the device.
void say_last(Failure& failure, ComputeCapability device) {
  failure.mend.leave_out = true;
  const std::string own = to_string(device);
  if (const auto renamed = later_name(arch_of(device))) {
    const std::string name = to_string(capability_of(*renamed));
    failure.reason += own + " is called " + name + " by drivers that offer more than CUDA " +
                      to_string(*last_driver_cuda_for(device));
    failure.fix = "name this device " + name;
    return;
  }
  failure.reason += "the last driver for " + own + " " + last_driver_text(device);
  failure.fix = may_be_tegra(device)
                    ? "state the CUDA that its JetPack offers"
                    : "keep its driver at branch " + std::to_string(*last_driver_branch_for(device)) +
                          ", or leave this device out of the fleet";
}

}  // namespace

std::optional<Version> newest_driver(const Device& device) {
  return device.driver_cuda ? device.driver_cuda : last_driver_cuda_for(*device.capability);
}

std::optional<Version> driver_for(const Image& image) {
  std::vector<std::optional<Version>> needs;
  const bool is_sass = image.entry.kind == EntryKind::sass && image.code;
  if (is_sass) needs.push_back(lowest_driver_for_sass(image));
  if (image.entry.ptx_isa) needs.push_back(lowest_driver_cuda_for_ptx(*image.entry.ptx_isa));
  if (image.entry.compression == Compression::zstd) needs.emplace_back(kFirstZstdDriver);
  return needs.empty() ? std::nullopt : *std::max_element(needs.begin(), needs.end());
}

KnownDevices with_driver_that_knows(const DeviceClass& devices, const VerifyPolicy& policy) {
  KnownDevices known{devices, policy, {}};
  known.policy.judge.newer_sass = policy.driver == DriverPolicy::warn;
  if (fit_of(devices.device) == Fit::yes) return known;
  known.devices.device.driver_cuda.reset();
  known.devices.device.cuda_at_least = false;
  known.policy.judge.require_driver = false;
  if (!is_beyond_last(devices.device)) known.needs_driver = first_driver_cuda_for(*devices.device.capability);
  return known;
}

void judge_device_driver(DeviceResult& result, const DeviceClass& stated) {
  const Device& device = stated.device;
  const Fit fit = fit_of(device);
  const bool any_code = result.fatbins.total != 0 || result.embedded.total != 0;
  if (fit == Fit::yes || !any_code) return;
  Failure failure;
  failure.code = fit == Fit::no ? kNoDevice : 0;
  failure.unknown = fit == Fit::unknown;
  failure.reason = "its driver offers CUDA " + to_string(*device.driver_cuda) + ", and ";
  if (is_beyond_last(device)) {
    say_last(failure, *device.capability);
  } else {
    const Version first = *first_driver_cuda_for(*device.capability);
    failure.reason += (fit == Fit::no ? "drivers know " : "NVIDIA's compilers know ") +
                      to_string(*device.capability) + " from CUDA " + to_string(first) + " on";
    Remedy update;
    update.driver = std::max(first, result.needs_driver.value_or(first));
    if (const auto last = last_driver_cuda_for(*device.capability))
      update.driver = std::min(*update.driver, *last);
    failure.mend.ways.push_back(update);
    failure.fix = text_of(failure.mend, device, {}, {});
  }
  if (fit == Fit::no)
    result.failures.insert(result.failures.begin(), std::move(failure));
  else
    result.failures.push_back(std::move(failure));
}

}  // namespace archguard
