#include "report/failure_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "host/host_file.h"
#include "image/demangle.h"
#include "report/device_text.h"
#include "report/names.h"

namespace archguard {
namespace {

// What cudaMemcpyToSymbol returns where no image fits: users report 13, and 500 of newer runtimes.
constexpr const char* kOrInvalidSymbol = "; invalid device symbol; named symbol not found";

// Which toolkits can help a device without an image, and whether newer drivers still do.
std::string toolkits_for(ComputeCapability device, std::optional<Version> driver_cuda) {
  if (is_beyond_table(device)) return {};
  const auto all = toolkits_with_sass_for(device);
  if (!all) return {};
  if (driver_cuda && driver_knows(device, *driver_cuda) == Fit::no) driver_cuda.reset();
  const auto newest = last_driver_cuda_for(device);
  const auto of_driver = toolkits_with_sass_for(device, driver_cuda ? driver_cuda : newest);
  const auto toolkits = of_driver ? *of_driver : *all;
  const std::string first = to_string(toolkits.first), last = to_string(toolkits.last);
  std::string text = toolkits.last == newest_known_toolkit().version
                         ? fmt::format("CUDA {} and newer make", first)
                     : toolkits.first == toolkits.last ? fmt::format("CUDA {} makes", last)
                                                       : fmt::format("CUDA {} to {} make", first, last);
  text += " SASS for " + to_string(device);
  if (of_driver && toolkits.last < all->last) text += " that its driver runs";
  if (const auto branch = last_driver_branch_for(device))
    text += fmt::format("; {} is its last driver branch", *branch);
  else if (newest)
    text += fmt::format("; its last driver offers CUDA {}", to_string(*newest));
  return text;
}

std::string subject_of(const Failure& failure) {
  if (!failure.kernel.empty()) return "kernel '" + demangle(failure.kernel) + "'";
  return failure.variable.empty() ? "device code" : "variable '" + demangle(failure.variable) + "'";
}

std::string what_is_unknown(const Failure& failure, const std::string& device) {
  if (failure.code == kInsufficientDriver)
    return fmt::format("whether the CUDA runtime starts on {} cannot be told", device);
  if (failure.cause == FailureCause::start)
    return fmt::format("whether it loads on {} cannot be told", device);
  return fmt::format("whether {} runs on {} cannot be told", subject_of(failure), device);
}

std::string what_fails(const Failure& failure, const DeviceResult& result, const std::string& device) {
  if (failure.cause == FailureCause::start) return fmt::format("it does not load on {}", device);
  if (failure.code == 0 && failure.cause == FailureCause::partly)
    return "not made for " + share_text(result, device);
  if (failure.code == 0)
    return fmt::format("{} is not what was asked for on {}", subject_of(failure), device);
  if (failure.code == kInsufficientDriver) return fmt::format("the CUDA runtime fails on {}", device);
  const bool is_gap = failure.code == kInvalidDeviceFunction || failure.code == kInvalidSymbol;
  return fmt::format("{} {} on {}", subject_of(failure), is_gap ? "is missing" : "cannot run", device);
}

// The kernels or variables that are missing, where there are several.
std::string missing_text(const Failure& failure, const DeviceResult& result) {
  const auto several = [](const std::vector<std::string>& names) {
    return names.size() > 1 ? name_list(names) : std::string();
  };
  if (failure.code == kInvalidDeviceFunction) return several(result.kernels.missing);
  if (failure.code == kInvalidSymbol) return several(result.variables.missing);
  return result.embedded.is_error && failure.where == result.embedded.where ? several(result.embedded.without)
                                                                            : "";
}

}  // namespace

int error_number_of(const Failure& failure) {
  return failure.numbered ? failure.code : 0;
}

std::string share_text(const DeviceResult& result, const std::string& device) {
  return fmt::format("{}: {} of {} kernels", device, result.partly->kernels, result.partly->best);
}

FailureText failure_text(const Verification& verification, const FileResult& file, std::size_t device,
                         const Failure& failure, bool hint_scope) {
  const DeviceResult& result = file.devices[device];
  const Device& judged = verification.classes[device].device;
  const std::string devices = devices_of(verification, device);
  FailureText text;
  const int number = error_number_of(failure);
  text.kind = failure.unknown ? "unknown" : number == 0 ? "error" : "error " + std::to_string(number);
  text.where = failure.where.empty() ? object_name(file.path, file.member) : failure.where;
  text.what = failure.unknown ? what_is_unknown(failure, devices) : what_fails(failure, result, devices);
  const auto add = [&](std::string_view label, std::string words) {
    if (!words.empty()) text.details.emplace_back(label, std::move(words));
  };
  const bool of_variable = number == kNoKernelImage && !failure.variable.empty();
  add("seen as", std::string(seen_as(number)) + (of_variable ? kOrInvalidSymbol : ""));
  add("found", failure.found);
  add("cause", failure.reason);
  add("missing", missing_text(failure, result));
  if (failure.places.size() > 1)
    add("also",
        count_of(failure.places.size() - 1, "more fat binary", "more fat binaries") + " of this file");
  if (failure.code == kNoKernelImage) add("toolkits", toolkits_for(*judged.capability, judged.driver_cuda));
  add("fix", failure.fix);
  if (failure.code == kNoKernelImage && hint_scope && !failure.places.empty() &&
      result.fatbins.sass + result.fatbins.jit != 0)
    add("hint",
        "a library that chooses among its images at run time, as NVIDIA's do, is judged with --scope "
        "library");
  return text;
}

}  // namespace archguard
