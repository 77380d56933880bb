#include "coverage/driver_functions.h"

#include <algorithm>

#include "compat/driver.h"
#include "compat/driver_functions.h"
#include "coverage/device_driver.h"

namespace archguard {
namespace {

std::string lacking_text(const DriverFunctions::Lacking& lacking) {
  return lacking.function + ", which drivers have from CUDA " + to_string(lacking.first) + " on";
}

}  // namespace

const std::vector<DriverImports>& DriverFunctions::imports() {
  if (!imports_) {
    imports_.emplace();
    for (const DeviceObject& object : code_.objects) imports_->push_back(driver_imports(object, file_));
  }
  return *imports_;
}

std::optional<DriverFunctions::Lacking> DriverFunctions::beyond(Version driver_cuda, bool at_start) {
  std::optional<Lacking> newest;
  const auto& all = imports();
  for (const DriverImports& each : all) {
    for (const std::string& function : at_start ? each.at_start : each.at_call) {
      const Version first = *first_driver_with(function);
      if (first <= driver_cuda || (newest && first <= newest->first)) continue;
      newest = Lacking{function, first, each.object};
    }
  }
  return newest;
}

void judge_driver_functions(DeviceResult& result, const DeviceClass& devices, const VerifyPolicy& policy,
                            DriverFunctions& functions) {
  const bool any_code = result.fatbins.total != 0 || result.embedded.total != 0;
  if (!any_code) return;
  const Device& device = devices.device;
  const auto driver = newest_driver(device);
  // Without a driver, what the file needs so far says what is asked for already.
  const auto lacking =
      functions.beyond(device.driver_cuda ? *driver : result.needs_driver.value_or(Version{}), true);
  if (!lacking) return;
  result.needs_driver = std::max(result.needs_driver, std::optional(lacking->first));
  if (!driver || lacking->first <= *driver || policy.driver == DriverPolicy::warn) return;
  Failure failure;
  failure.unknown = device.cuda_at_least;
  failure.where = lacking->where;
  failure.reason = "it calls " + lacking_text(*lacking) + "; " +
                   (device.driver_cuda ? "this one" : "the last driver of " + to_string(*device.capability)) +
                   " offers CUDA " + to_string(*driver) + (device.cuda_at_least ? " at least" : "");
  failure.cause = FailureCause::start;
  failure.found = "undefined symbol: " + lacking->function;
  const auto last = last_driver_cuda_for(*device.capability);
  Remedy update;
  update.driver = result.needs_driver;
  if (!last || *update.driver <= *last)
    failure.mend.ways.push_back(update);
  else
    failure.mend.leave_out = true;
  result.failures.push_back(std::move(failure));
}

std::optional<Error> warning_of_calls(const std::vector<DeviceClass>& classes, DriverFunctions& functions) {
  std::optional<Version> oldest;
  for (const DeviceClass& each : classes)
    if (each.device.driver_cuda && !each.device.cuda_at_least)
      oldest = oldest ? std::min(*oldest, *each.device.driver_cuda) : *each.device.driver_cuda;
  const auto lacking = oldest ? functions.beyond(*oldest, false) : std::nullopt;
  if (!lacking) return std::nullopt;
  return Error{
      lacking->where,
      "calls " + lacking_text(*lacking) + ": where the driver offers CUDA " + to_string(*oldest) +
          ", the program ends at the call",
      "ask for it with cuGetProcAddress, or update the driver to one of CUDA " + to_string(lacking->first)};
}

}  // namespace archguard
