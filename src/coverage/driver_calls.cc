#include "coverage/driver_calls.h"

#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_functions.h"
#include "coverage/device_driver.h"

namespace archguard {
namespace {

constexpr std::size_t kLibrariesShown = 4;

std::string lacking_text(const DriverFunctions::Lacking& lacking) {
  return lacking.function + ", which drivers have from CUDA " + to_string(lacking.first) + " on";
}

std::string end_text(DriverFunctions::End end) {
  switch (end) {
    case DriverFunctions::End::start:
      break;
    case DriverFunctions::End::load:
      return "it does not load with RTLD_NOW, as Python loads its modules, and else the program ends at the "
             "call";
    case DriverFunctions::End::call:
      return "the program ends at the call";
  }
  return "it does not load";
}

// Who may have the function for all that.
std::string unless_text(const DriverFunctions::Lacking& lacking, const std::vector<std::string>& not_found) {
  if (lacking.certain) return {};
  if (not_found.empty())
    return lacking.shared ? ", unless what loads it has the function"
                          : ", unless a library that is preloaded has the function";
  const std::size_t shown = std::min(not_found.size(), kLibrariesShown);
  std::vector<std::string> names(not_found.begin(), not_found.begin() + static_cast<std::ptrdiff_t>(shown));
  if (shown < not_found.size()) names.push_back("others");
  return ", unless the function is in what was not found: " + join(names, ", ");
}

}  // namespace

const std::vector<DriverImports>& DriverFunctions::imports() {
  if (!imports_) {
    imports_.emplace();
    for (const DeviceObject& object : code_.objects) imports_->push_back(driver_imports(object, file_));
  }
  return *imports_;
}

// Without an answer, the file's own needs are all that is known.
const FunctionsElsewhere& DriverFunctions::elsewhere() {
  if (elsewhere_) return *elsewhere_;
  elsewhere_.emplace();
  if (ask_) {
    std::set<std::string> functions;
    for (const DriverImports& each : imports()) {
      functions.insert(each.at_start.begin(), each.at_start.end());
      functions.insert(each.at_call.begin(), each.at_call.end());
    }
    elsewhere_ = ask_(functions);
  } else {
    for (const DriverImports& each : imports())
      elsewhere_->not_found.insert(elsewhere_->not_found.end(), each.needed.begin(), each.needed.end());
  }
  return *elsewhere_;
}

std::optional<DriverFunctions::Lacking> DriverFunctions::beyond(Version driver_cuda, bool at_start) {
  std::optional<Lacking> newest;
  for (const DriverImports& each : imports()) {
    for (const bool early : {true, false}) {
      for (const std::string& function : early ? each.at_start : each.at_call) {
        const Version first = *first_driver_with(function);
        if (first <= driver_cuda || (newest && first <= newest->first)) continue;
        if (elsewhere().defined.count(function) != 0) continue;
        const bool certain =
            (each.needs_libcuda || elsewhere().needs_libcuda) && elsewhere().not_found.empty();
        if ((early && certain) != at_start) continue;
        const End end = early ? End::start : each.shared ? End::load : End::call;
        newest = Lacking{function, first, each.object, end, each.shared, certain};
      }
    }
  }
  return newest;
}

void judge_driver_functions(DeviceResult& result, const Device& stated, const Device& known,
                            const VerifyPolicy& policy, DriverFunctions& functions) {
  const bool told = stated.driver_cuda && functions.beyond(*stated.driver_cuda, true);
  const Device& device = told ? stated : known;
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
  Remedy update;
  update.driver = result.needs_driver;
  if (may_ever_offer(*device.capability, *update.driver))
    failure.mend.ways.push_back(update);
  else
    failure.mend.leave_out = true;
  // Before all else, unless it is the device's last driver that lacks it.
  result.failures.insert(told ? result.failures.begin() : result.failures.end(), std::move(failure));
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
      "calls " + lacking_text(*lacking) + ": where the driver offers CUDA " + to_string(*oldest) + ", " +
          end_text(lacking->end) + unless_text(*lacking, functions.not_found()),
      "ask for it with cuGetProcAddress, or update the driver to one of CUDA " + to_string(lacking->first)};
}

}  // namespace archguard
