#include "report/warnings.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

#include "base/text.h"
#include "compat/error_codes.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "host/host_file.h"
#include "report/any_of_text.h"
#include "report/device_text.h"
#include "report/driver_notes.h"
#include "report/embedded_text.h"
#include "report/for_others_text.h"
#include "report/names.h"

namespace archguard {
namespace {

using Kind = Warning::Kind;

// Nothing that a device gets of a library works: said with the error.
bool is_idle(const DeviceResult& result) {
  return std::any_of(result.failures.begin(), result.failures.end(), [](const Failure& failure) {
    return failure.cause == FailureCause::partly && failure.code != 0;
  });
}

Warning hollow_warning(const FileResult& file, const DeviceResult& result, const std::string& devices) {
  Warning warning;
  warning.kind = Kind::hollow;
  warning.names = result.kernels.hollow;
  warning.what =
      fmt::format("{} on {}, while another image holds real code",
                  count_of(warning.names.size(), "kernel does no work", "kernels do no work"), devices);
  warning.fix =
      file.library ? "--hollow off, if the library chooses other kernels for this device" : result.hollow_fix;
  return warning;
}

Warning unnamed_warning(const DeviceResult& result, const std::string& devices) {
  Warning warning;
  warning.kind = Kind::unnamed;
  warning.names = result.variables.unnamed;
  warning.what = fmt::format("{} in the {} image that {} takes, and no host code that nvcc compiled uses {}",
                             count_of(warning.names.size(), "variable is missing", "variables are missing"),
                             result.variables.unnamed_in, devices, warning.names.size() == 1 ? "it" : "them");
  return warning;
}

Warning runtime_warning(const DeviceResult& result, const std::string& devices) {
  Warning warning;
  warning.kind = Kind::runtime;
  warning.what = fmt::format(
      "{} CUDA {} fails with error {} ({}) on the driver of {}",
      result.runtime_elsewhere ? "the CUDA runtime is in another file; that of" : "the runtime of",
      to_string(*result.toolkit_ahead), kInsufficientDriver, error_name(kInsufficientDriver), devices);
  warning.fix = result.runtime_fix;
  return warning;
}

Warning embedded_warning(const EmbeddedResult& embedded, const std::string& devices) {
  Warning warning;
  warning.kind = Kind::embedded;
  warning.what = embedded_text(embedded, devices);
  warning.cause = embedded.reason;
  warning.names = embedded.without;
  warning.names_in_detail = true;
  warning.fix = fix_of_embedded(embedded);
  return warning;
}

// Where no such device was judged, nobody knows whether the waiver is needed there.
Warning waiver_warning(const Verification& all, const UnusedWaiver& unused) {
  const Waiver& waiver = unused.waiver;
  const bool any_device = std::any_of(all.classes.begin(), all.classes.end(), [&](const auto& each) {
    return glob_matches(waiver.compute_cap, to_string(*each.device.capability));
  });
  const char* why = !unused.kernel_read ? "matches no kernel that was read"
                    : any_device        ? "was not needed"
                                        : "is for no device that was judged";
  Warning warning;
  warning.kind = Kind::whole_run;
  warning.where = waiver.origin;
  warning.what = fmt::format("the waiver for '{}' on {} {}", waiver.kernel, waiver.compute_cap, why);
  warning.fix = !unused.kernel_read ? "look at the spelling; archguard inspect --kernels shows the names"
                : any_device        ? "delete the line"
                                    : "keep the line for fleets that have such a device, else delete it";
  return warning;
}

// One for each release of CUDA that is newer than the table.
std::vector<Warning> unknown_driver_warnings(const Verification& all) {
  const Version newest = newest_known_toolkit().version;
  std::map<Version, std::vector<std::size_t>> classes;
  for (std::size_t i = 0; i < all.classes.size(); ++i)
    if (const auto driver = all.classes[i].device.driver_cuda; driver && newest < *driver)
      classes[*driver].push_back(i);
  std::vector<Warning> warnings;
  for (auto& [driver, which] : classes) {
    Warning warning;
    warning.kind = Kind::whole_run;
    warning.where = devices_of(all, which.front());
    if (which.size() > 1) warning.where += " and " + count_of(which.size() - 1, "more device");
    warning.what =
        fmt::format("CUDA {} of the driver is not known, {} is the newest; it is judged by the general rules",
                    to_string(driver), to_string(newest));
    warning.fix = "update ArchGuard, or write the CUDA that nvidia-smi shows";
    warning.classes = std::move(which);
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace

std::vector<Warning> warnings_of_bytes(const Verification& all, std::size_t file) {
  std::vector<Warning> warnings;
  for (const Error& error : all.files[file].warnings)
    warnings.push_back({Kind::of_file, error.where, error.what, {}, error.fix, {}, false, {file}});
  return warnings;
}

std::vector<Warning> warnings_of_device(const Verification& all, std::size_t index, std::size_t device) {
  const FileResult& file = all.files[index];
  const DeviceResult& result = file.devices[device];
  std::vector<Warning> warnings;
  if (!is_to_be_told(all, file, device)) return warnings;
  const std::string devices = devices_of(all, device);
  if (result.partly && result.coverage == Coverage::covered) {
    const PartlyText text = partly_text(result, devices);
    warnings.push_back({Kind::partly, {}, text.what, {}, text.fix});
  }
  if (!result.kernels.hollow.empty() && !is_idle(result))
    warnings.push_back(hollow_warning(file, result, devices));
  if (!result.variables.unnamed.empty()) warnings.push_back(unnamed_warning(result, devices));
  const bool said = std::any_of(result.failures.begin(), result.failures.end(),
                                [](const Failure& each) { return each.code == kInsufficientDriver; });
  if (result.toolkit_ahead && !said) warnings.push_back(runtime_warning(result, devices));
  const EmbeddedResult& embedded = result.embedded;
  if (embedded.lacking() && !embedded.is_error && !embedded.comes_later)
    warnings.push_back(embedded_warning(embedded, devices));
  for (Warning& warning : warnings) {
    warning.where = object_name(file.path, file.member);
    warning.files = {index};
    warning.classes = {device};
  }
  return warnings;
}

std::vector<Warning> warnings_for_others(const Verification& all, std::size_t index) {
  const FileResult& file = all.files[index];
  std::vector<Warning> warnings;
  for (const ForOthersText& said : for_others_texts(all, file))
    if (said.warning) warnings.push_back({Kind::for_others, {}, said.text, {}, said.fix, {}, false, {index}});
  return warnings;
}

std::optional<Warning> warning_of(const Verification& all, const AnyOf& group) {
  const auto said = no_alternative(all, group);
  if (!said) return std::nullopt;
  return Warning{Kind::any_of, said->where, said->what, {}, said->fix, {}, false, group.files};
}

std::vector<Warning> warnings_of_run(const Verification& all) {
  std::vector<Warning> warnings;
  for (const UnusedWaiver& unused : all.unused_waivers) warnings.push_back(waiver_warning(all, unused));
  for (const auto& [text, fix] : notes_on_jetsons(all))
    warnings.push_back({Kind::whole_run, {}, text, {}, fix});
  for (std::size_t i = 0; i < all.classes.size(); ++i) {
    if (!is_beyond_table(*all.classes[i].device.capability)) continue;
    Warning warning;
    warning.kind = Kind::whole_run;
    warning.where = devices_of(all, i);
    warning.what =
        fmt::format("no toolkit up to CUDA {} knows such a device; it is judged by the general rules",
                    to_string(newest_known_toolkit().version));
    warning.classes = {i};
    warnings.push_back(std::move(warning));
  }
  for (Warning& warning : unknown_driver_warnings(all)) warnings.push_back(std::move(warning));
  return warnings;
}

std::vector<Warning> warnings_of(const Verification& all) {
  std::vector<Warning> warnings;
  const auto add = [&](std::vector<Warning> more) {
    std::move(more.begin(), more.end(), std::back_inserter(warnings));
  };
  for (std::size_t i = 0; i < all.files.size(); ++i) {
    add(warnings_of_bytes(all, i));
    for (std::size_t device = 0; device < all.files[i].devices.size(); ++device)
      add(warnings_of_device(all, i, device));
    add(warnings_for_others(all, i));
  }
  for (const AnyOf& group : all.any_of)
    if (auto warning = warning_of(all, group)) warnings.push_back(std::move(*warning));
  add(warnings_of_run(all));
  return warnings;
}

FailureText text_of(const Warning& warning, std::size_t columns) {
  FailureText text{"warning", warning.where, warning.what, {}};
  if (!warning.names.empty() && !warning.names_in_detail)
    text.what += ": " + name_list(warning.names, columns / 2);
  const auto detail = [&](const char* label, const std::string& words) {
    if (!words.empty()) text.details.emplace_back(label, words);
  };
  detail("cause", warning.cause);
  if (warning.names_in_detail && warning.names.size() > 1)
    detail("missing", name_list(warning.names, columns / 2));
  detail("fix", warning.fix);
  return text;
}

}  // namespace archguard
