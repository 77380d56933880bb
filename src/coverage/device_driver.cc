#include "coverage/device_driver.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/rules.h"
#include "coverage/driver_load.h"

namespace archguard {
namespace {

bool is_beyond_last(const Device& device) {
  return is_beyond_last_driver(*device.capability, *device.driver_cuda);
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
  if (driver_knows_device(devices.device) == Fit::yes) return known;
  known.policy.judge.stated_driver = devices.device.driver_cuda;
  known.devices.device.driver_cuda.reset();
  known.devices.device.cuda_at_least = false;
  known.policy.judge.require_driver = false;
  if (!is_beyond_last(devices.device)) known.needs_driver = first_driver_cuda_for(*devices.device.capability);
  return known;
}

void number_for_driver(DeviceResult& result, const Device& device) {
  const auto driver = newest_driver(device);
  const auto number = [&](int& code) {
    if (driver && code == kUnsupportedPtxVersion) code = error_of_newer_ptx(*driver);
  };
  number(result.embedded.code);
  for (Failure& failure : result.failures) number(failure.code);
}

void judge_device_driver(DeviceResult& result, const DeviceClass& stated, const VerifyPolicy& policy,
                         RuntimeUse& runtime) {
  const Device& device = stated.device;
  const Fit fit = driver_knows_device(device);
  const bool any_code = result.fatbins.total != 0 || result.embedded.total != 0;
  if (fit == Fit::yes || !any_code) return;
  auto by_runtime = refused_by_runtime(result, device, policy, runtime);
  Failure failure;
  failure.code = fit == Fit::no ? kNoDevice : 0;
  failure.unknown = fit == Fit::unknown;
  failure.reason = "its driver offers " + cuda_text(*device.driver_cuda) + ", and " +
                   unknown_to_driver_text(*device.capability, *device.driver_cuda);
  if (is_beyond_last(device)) {
    failure.mend.leave_out = true;
    failure.fix = last_driver_advice(*device.capability);
  } else {
    const Version first = *first_driver_cuda_for(*device.capability);
    Remedy update;
    update.driver = std::max(first, result.needs_driver.value_or(first));
    if (const auto last = last_driver_cuda_for(*device.capability))
      update.driver = std::min(*update.driver, *last);
    failure.mend.ways.push_back(update);
    failure.fix = text_of(failure.mend, device, {}, {});
  }
  if (result.toolkit_ahead && result.runtime_fix.empty()) result.runtime_fix = failure.fix;
  auto& failures = result.failures;
  const auto at = std::find_if(failures.begin(), failures.end(), [](const Failure& each) {
    return each.cause != FailureCause::start;  // that comes before all else
  });
  if (by_runtime && at != failures.end() && at->code == kInsufficientDriver) {
    failures.insert(std::next(at), std::move(failure));  // nor has the device a newer one
  } else if (by_runtime) {
    result.runtime_fix = failure.fix;  // a driver for both
    by_runtime->reason += ", and " + unknown_to_driver_text(*device.capability, *device.driver_cuda);
    by_runtime->mend = std::move(failure.mend);
    failures.insert(at, *std::move(by_runtime));
  } else if (fit == Fit::no) {
    failures.insert(at, std::move(failure));
  } else {
    failures.push_back(std::move(failure));
  }
}

}  // namespace archguard
