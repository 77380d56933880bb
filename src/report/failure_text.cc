#include "report/failure_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

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

// Does a way out add SASS for the device's own architecture? A toolkit that makes that of an older one, which
// runs there, does not make it.
bool adds_own_arch(const Fix& fix, ComputeCapability device) {
  return std::any_of(fix.ways.begin(), fix.ways.end(), [&](const Remedy& way) {
    return std::any_of(way.add.begin(), way.add.end(),
                       [&](const Addition& add) { return add.arch.number == arch_of(device).number; });
  });
}

// Which toolkits can help a device without an image, and whether newer drivers still do.
std::string toolkits_for(ComputeCapability device, std::optional<Version> driver_cuda, const Fix& fix) {
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
  const auto& known = known_toolkits();
  const auto own = std::find_if(known.begin(), known.end(),
                                [&](const Toolkit& toolkit) { return has_arch(toolkit, arch_of(device)); });
  if (own != known.end() && own->version > toolkits.first && own->version <= toolkits.last &&
      adds_own_arch(fix, device))
    text += fmt::format(", that of sm_{} from {} on", to_string(arch_of(device)), to_string(own->version));
  if (const auto branch = last_driver_branch_for(device))
    text += fmt::format("; {} is its last driver branch", *branch);
  else if (newest)
    text += fmt::format("; its last driver offers CUDA {}", to_string(*newest));
  return text;
}

struct Manner {
  bool others = false;  // so fail others of other names
  std::size_t columns = 0;
};

std::string subject_of(const Failure& failure, const Manner& manner) {
  if (failure.kernel.empty() && failure.variable.empty()) return "device code";
  const bool kernel = !failure.kernel.empty();
  const std::string name = shortened(demangle(kernel ? failure.kernel : failure.variable), manner.columns);
  return (kernel ? "kernel '" : "variable '") + name + "'" + (manner.others ? " and others" : "");
}

std::string what_is_unknown(const Failure& failure, const Manner& manner, const std::string& device) {
  if (failure.code == kInsufficientDriver)
    return fmt::format("whether the CUDA runtime starts on {} cannot be told", device);
  if (failure.cause == FailureCause::start)
    return fmt::format("whether it loads on {} cannot be told", device);
  return fmt::format("whether {} {} on {} cannot be told", subject_of(failure, manner),
                     manner.others ? "run" : "runs", device);
}

// "H100 (9.0): 241 of 2993 kernels"
std::string share_text(const DeviceResult& result, const std::string& device) {
  return fmt::format("{}: {} of {} kernels", device, result.partly->kernels, result.partly->best);
}

std::string what_fails(const Failure& failure, const Manner& manner, const DeviceResult& result,
                       const std::string& device) {
  if (failure.cause == FailureCause::start) return fmt::format("it does not load on {}", device);
  if (failure.code == 0 && failure.cause == FailureCause::partly)
    return "not made for " + share_text(result, device);
  if (failure.code == 0)
    return fmt::format("{} {} not what was asked for on {}", subject_of(failure, manner),
                       manner.others ? "are" : "is", device);
  if (failure.code == kInsufficientDriver) return fmt::format("the CUDA runtime fails on {}", device);
  const bool is_gap = failure.code == kSymbolNotFound;
  if (failure.code == kInvalidDeviceFunction)
    return fmt::format("{} cannot be launched on {}", subject_of(failure, manner), device);
  if (failure.code == kInvalidSymbol)
    return fmt::format("{} cannot be used on {}", subject_of(failure, manner), device);
  const char* end = !is_gap ? "cannot run" : manner.others ? "are missing" : "is missing";
  return fmt::format("{} {} on {}", subject_of(failure, manner), end, device);
}

// The kernels or variables that are missing, where there are several.
std::string missing_text(const Failure& failure, const DeviceResult& result, std::size_t most) {
  const auto several = [&](const std::vector<std::string>& names) {
    return names.size() > 1 ? name_list(names, most) : std::string();
  };
  if (failure.cause != FailureCause::hollow)
    if (const auto& names = names_failing(result, failure); !names.empty()) return several(names);
  return result.embedded.is_error && failure.where == result.embedded.where ? several(result.embedded.without)
                                                                            : "";
}

// That made the files; none where one of them is not known to have any.
std::vector<FixTarget> targets_behind(const Verification& verification, const FailureGroup& group) {
  std::vector<FixTarget> targets;
  std::set<std::string> known;
  for (const std::size_t file : group.files) {
    const FixTarget& target = verification.files[file].target;
    if (target.name.empty()) return {};
    if (known.insert(target.name).second) targets.push_back(target);
  }
  return targets;
}

// The first of what is named, where there is more than a reader wants to see.
constexpr std::size_t kFilesNamed = 3;
constexpr std::size_t kClassesNamed = 12;

class Teller {
 public:
  Teller(const Verification& verification, const FailureGroup& group, const FailureWords& words)
      : all_(verification),
        group_(group),
        words_(words),
        failure_(group.first()),
        file_(verification.files[group.files.front()]),
        result_(file_.devices[group.classes.front().device]) {}

  FailureText tell() {
    const bool several = group_.classes.size() > 1;
    const int number = error_number_of(failure_);
    const std::string devices = several ? count_of(group_.classes.size(), "kind of device", "kinds of device")
                                        : devices_of(all_, group_.classes.front().device);
    text_.kind = kind_of(failure_);
    text_.where = failure_.where.empty() ? name_of(file_) : failure_.where;
    const std::size_t more_files = group_.files.size() - 1;
    if (more_files != 0) text_.where += " and " + count_of(more_files, "more file", "more files");
    const Manner manner = {!group_.same_names, words_.columns / 2};
    text_.what = failure_.unknown ? what_is_unknown(failure_, manner, devices)
                                  : what_fails(failure_, manner, result_, devices);
    add_files();
    if (several) add_devices();
    const bool of_variable = number == kNoKernelImage && !failure_.variable.empty();
    add("seen as", std::string(seen_as(number)) + (of_variable ? kOrInvalidSymbol : ""));
    add("found", failure_.found.empty() || group_.same_found ? failure_.found
                                                             : failure_.found + ", in the first of them");
    if (!several) add("cause", failure_.reason);
    if (more_files == 0 && !several) add("missing", missing_text(failure_, result_, words_.columns / 2));
    if (group_.fatbins > group_.files.size())
      add("also", (group_.same_fatbins ? "" : "up to ") +
                      count_of(group_.fatbins - group_.files.size(), "more fat binary", "more fat binaries") +
                      (more_files == 0 ? " of this file" : " of these files"));
    if (failure_.code == kNoKernelImage && !several) {
      const Device& judged = all_.classes[group_.classes.front().device].device;
      add("toolkits", toolkits_for(*judged.capability, judged.driver_cuda, failure_.mend));
    }
    add_fixes();
    if (failure_.code == kNoKernelImage && words_.hint_scope && !failure_.places.empty() &&
        result_.fatbins.sass + result_.fatbins.jit != 0)
      add("hint",
          "a library that chooses among its images at run time, as NVIDIA's do, is judged with --scope "
          "library");
    return std::move(text_);
  }

 private:
  static std::string name_of(const FileResult& file) { return object_name(file.path, file.member); }

  void add(const std::string& label, std::string words) {
    if (!words.empty()) text_.details.emplace_back(label, std::move(words));
  }

  void add_files() {
    if (group_.files.size() < 2) return;
    const std::size_t shown =
        words_.full ? group_.files.size() : std::min(group_.files.size(), 1 + kFilesNamed);
    std::vector<std::string> names;
    for (std::size_t i = 1; i < shown; ++i) {
      const FileResult& file = all_.files[group_.files[i]];
      const std::string name = file.path == file_.path ? file.member : name_of(file);  // of one wheel
      names.push_back(shortened(name, words_.columns / 2));
    }
    const std::size_t more = group_.files.size() - shown;
    add("also in", join(names, ", ") + (more == 0 ? "" : " and " + std::to_string(more) + " more"));
  }

  // Each with its cause, where that is not said of all of them.
  void add_devices() {
    const auto& classes = group_.classes;
    const bool same = std::all_of(classes.begin(), classes.end(),
                                  [&](const auto& each) { return each.failure->reason == failure_.reason; });
    const std::size_t shown = words_.full ? classes.size() : std::min(classes.size(), kClassesNamed);
    for (std::size_t i = 0; i < shown; ++i)
      add("on", devices_of(all_, classes[i].device) + (same ? "" : ": " + classes[i].failure->reason));
    if (shown < classes.size())
      add("on", count_of(classes.size() - shown, "more kind of device", "more kinds of device"));
    if (same) add("cause", failure_.reason);
  }

  struct DeviceFix {
    const Device* device;
    std::string fix;
  };

  // "8.6", or "8.6@12.9" where the fix for another driver is another one.
  static std::string name_for_fix(const DeviceFix& of, const std::vector<DeviceFix>& fixes) {
    const bool hangs_on_driver = std::any_of(fixes.begin(), fixes.end(), [&](const DeviceFix& each) {
      return each.device->capability == of.device->capability && each.fix != of.fix;
    });
    const std::string capability = to_string(*of.device->capability);
    return capability +
           (hangs_on_driver && of.device->driver_cuda ? "@" + to_string(*of.device->driver_cuda) : "");
  }

  void add_fixes() {
    const std::vector<Addition> additions = additions_of(group_);
    if (group_.classes.size() > 1 && !additions.empty())
      return add("fix", fix_by_adding(additions, targets_behind(all_, group_)));
    std::vector<DeviceFix> fixes;
    for (const auto& [device, failure] : group_.classes)
      fixes.push_back({&all_.classes[device].device, fix_in(all_, group_, *failure)});
    std::vector<std::pair<std::string, std::vector<std::string>>> said;  // and the devices
    for (const DeviceFix& each : fixes) {
      if (each.fix.empty()) continue;
      const auto known =
          std::find_if(said.begin(), said.end(), [&](const auto& other) { return other.first == each.fix; });
      const std::string name = name_for_fix(each, fixes);
      if (known == said.end())
        said.push_back({each.fix, {name}});
      else if (known->second.back() != name)
        known->second.push_back(name);
    }
    const std::size_t shown = words_.full ? said.size() : std::min(said.size(), kClassesNamed);
    for (std::size_t i = 0; i < shown; ++i)
      add(said.size() == 1 ? "fix" : "fix for " + join(said[i].second, ", "), said[i].first);
  }

  const Verification& all_;
  const FailureGroup& group_;
  const FailureWords& words_;
  const Failure& failure_;
  const FileResult& file_;
  const DeviceResult& result_;
  FailureText text_;
};

}  // namespace

std::string fix_in(const Verification& verification, const FailureGroup& group, const Failure& failure) {
  if (failure.add.empty() || group.files.size() == 1) return failure.fix;
  const std::vector<FixTarget> targets = targets_behind(verification, group);
  return targets.size() > 1 ? fix_by_adding(failure.add, targets) : failure.fix;
}

int error_number_of(const Failure& failure) {
  return failure.numbered ? failure.code : 0;
}

std::string kind_of_error(int number) {
  return number == 0 ? "error" : "error " + std::to_string(number);
}

std::string kind_of(const Failure& failure) {
  return failure.unknown ? "unknown" : kind_of_error(error_number_of(failure));
}

PartlyText partly_text(const DeviceResult& result, const std::string& device) {
  const Partly& partly = *result.partly;
  if (partly.needs_driver)
    return {fmt::format("the driver of {} takes {} of the {} kernels for it; the others need one that offers "
                        "CUDA {}",
                        device, partly.kernels, partly.best, to_string(*partly.needs_driver)),
            update_driver(*partly.needs_driver, partly.best_device) +
                ", or look up whether the program calls the others; --partly off if it does not"};
  const std::string few = partly.core_fatbins == 0
                              ? ""
                              : fmt::format(", and {} of the {} fat binaries that most devices use",
                                            partly.fatbins, partly.core_fatbins);
  return {(partly.clear ? "not made for " : "perhaps not made for ") + share_text(result, device) + few,
          partly.compiles_at_run_time
              ? "none, if the library compiles the rest when it runs; --partly off then"
              : "look up whether the library supports this device; --partly off if it does"};
}

FailureText failure_text(const Verification& verification, const FailureGroup& group,
                         const FailureWords& words) {
  return Teller(verification, group, words).tell();
}

}  // namespace archguard
