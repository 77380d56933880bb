#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/error_codes.h"
#include "compat/toolkit.h"
#include "select/parts.h"

namespace archguard {
namespace {

// Devices that one warning speaks of, and the capabilities among them.
struct Concerned {
  Version driver = {};  // of all of them, where the warning is of drivers
  std::vector<std::size_t> devices;
  std::vector<ComputeCapability> capabilities;

  void add(const DeviceGroup& group) {
    devices.insert(devices.end(), group.devices.begin(), group.devices.end());
    capabilities.push_back(group.capability);
  }
  std::string names(const DeviceList& all) {
    std::sort(devices.begin(), devices.end());
    return names_of(all, devices);
  }
};

// How these devices get a driver that offers this CUDA.
std::string update_advice(const std::vector<ComputeCapability>& capabilities, Version needed) {
  const auto tegra = std::find_if(capabilities.begin(), capabilities.end(), may_be_tegra);
  if (std::all_of(capabilities.begin(), capabilities.end(), may_be_tegra))
    return jetpack_advice(needed, capabilities.front());
  return "update it to " + driver_text(needed) + " or newer" +
         (tegra == capabilities.end() ? "" : " (a Jetson: " + jetpack_advice(needed, *tegra) + ")");
}

std::string too_old_for_programs(const std::string& names, const std::vector<ComputeCapability>& capabilities,
                                 Version driver, Version toolkit) {
  std::string text = "the driver of " + names + " offers " + cuda_text(driver) +
                     ", too old for programs of " + cuda_text(toolkit) + " (" +
                     error_text(kInsufficientDriver) + "): ";
  const Version needed = lowest_driver_cuda_for_toolkit(toolkit);
  const bool update = std::none_of(capabilities.begin(), capabilities.end(), [&](ComputeCapability each) {
    const auto last = last_driver_cuda_for(each);
    return last && *last < needed;
  });
  const auto other = newest_toolkit_for(capabilities, driver);
  text += update ? update_advice(capabilities, needed) : "no newer driver helps";
  if (other) text += std::string(update ? ", or " : "; ") + "build with " + cuda_text(*other);
  return text;
}

// NVIDIA ends the support of old devices with a driver branch: no update then brings the JIT up to date.
std::string jit_advice(const std::vector<ComputeCapability>& capabilities, Version needed) {
  for (const ComputeCapability capability : capabilities) {
    const auto last = last_driver_cuda_for(capability);
    if (!last || needed <= *last) continue;
    const auto branch = last_driver_branch_for(capability);
    return "no driver for " + to_string(capability) + " is new enough, " +
           (branch ? std::to_string(*branch) + " is the last branch" : "the last offers " + cuda_text(*last));
  }
  return "for JIT " + update_advice(capabilities, needed);
}

std::string too_old_for_jit(const std::string& names, const std::vector<ComputeCapability>& capabilities,
                            Version driver, const Compiler& compiler) {
  const bool known = compiler.ptx_isa != Version{};
  const Version needed =
      known ? lowest_driver_cuda_for_ptx(compiler.ptx_isa).value_or(compiler.version) : compiler.version;
  const auto newest = newest_ptx_for_driver(driver);
  return "the driver of " + names + " offers " + cuda_text(driver) +
         (newest ? " and takes PTX up to " + to_string(*newest) : "") + ", too old to compile " +
         (known ? "PTX " + to_string(compiler.ptx_isa) : std::string("the PTX")) + " of " +
         name_of(compiler) + " (" + error_text(error_of_newer_ptx(driver)) + "): only SASS covers it; " +
         jit_advice(capabilities, needed);
}

void add_driver_warnings(const DeviceList& devices, const std::vector<DeviceGroup>& groups,
                         const Compiler& compiler, const SelectPolicy& policy,
                         std::vector<std::string>& warnings) {
  std::vector<Concerned> by_driver;  // of the groups that this compiler supports, ascending
  for (const DeviceGroup& group : groups) {
    if (!group.served || !group.driver) continue;
    if (driver_knows_device(devices.kind(group.devices.front())) != Fit::yes) continue;
    auto at = by_driver.begin();
    while (at != by_driver.end() && at->driver < *group.driver) ++at;
    if (at == by_driver.end() || at->driver != *group.driver)
      at = by_driver.insert(at, Concerned{*group.driver, {}, {}});
    at->add(group);
  }

  std::vector<std::string> of_jit;  // said last
  for (Concerned& concerned : by_driver) {
    const Version driver = concerned.driver;
    const bool runs_programs = driver >= lowest_driver_cuda_for_toolkit(compiler.version);
    const bool takes_ptx = policy.ptx == PtxPolicy::none || driver_takes_ptx_of(compiler, driver) == Fit::yes;
    if (runs_programs && takes_ptx) continue;
    const std::string names = concerned.names(devices);
    if (!runs_programs)
      warnings.push_back(too_old_for_programs(names, concerned.capabilities, driver, compiler.version));
    else
      of_jit.push_back(too_old_for_jit(names, concerned.capabilities, driver, compiler));
  }
  warnings.insert(warnings.end(), of_jit.begin(), of_jit.end());
}

std::optional<Version> first_toolkit_with(Arch arch) {
  for (const Toolkit& toolkit : known_toolkits())
    if (makes(toolkit.archs, arch)) return toolkit.version;
  return std::nullopt;
}

void add_capability_warnings(const DeviceList& devices, const std::vector<DeviceGroup>& groups,
                             const Compiler& compiler, std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < groups.size();) {
    const ComputeCapability capability = groups[i].capability;
    Concerned concerned;
    for (; i < groups.size() && groups[i].capability == capability; ++i) concerned.add(groups[i]);
    const std::string names = concerned.names(devices);
    const Arch own = arch_of(capability);
    if (is_beyond_table(capability))
      warnings.push_back("no toolkit from " + to_string(known_toolkits().front().version) + " to " +
                         to_string(newest_known_toolkit().version) + " knows " + to_string(capability) +
                         ": " + names + " judged by the general rules");
    const auto renamed = later_name(own);
    if (renamed && !makes(compiler.sass, own) && makes(compiler.sass, *renamed)) {
      const std::string name = to_string(capability_of(*renamed));
      warnings.push_back(to_string(capability) + " is called " + name + " since " +
                         cuda_text(first_toolkit_with(*renamed).value_or(compiler.version)) + ": write " +
                         name + " for " + names);
    }
  }
}

void add_doubts(const DeviceList& devices, const Selection& selection, std::vector<std::string>& warnings) {
  for (const ChosenEntry& chosen : selection.entries) {
    std::vector<std::size_t> doubted;
    for (const std::size_t i : chosen.devices)
      if (chosen.entry.real && sass_fit_is_doubted(chosen.entry.arch, *devices.kind(i).capability))
        doubted.push_back(i);
    if (!doubted.empty())
      warnings.push_back("sm_" + to_string(chosen.entry.arch) + " runs on " + names_of(devices, doubted) +
                         " by NVIDIA's rule, which one report contradicts");
  }
}

}  // namespace

std::string name_of(const Compiler& compiler) {
  return (compiler.clang.empty() ? "" : compiler.clang + " with ") + cuda_text(compiler.version);
}

std::string names_of(const DeviceList& devices, const std::vector<std::size_t>& which) {
  constexpr std::size_t kModelsNamed = 3;
  struct Model {
    Device first;
    std::uint64_t count;
  };
  std::vector<Model> models;
  std::uint64_t others = 0;
  for (const std::size_t i : which) {
    const Device device = devices[i];
    const auto count = static_cast<std::uint64_t>(device.count);
    const auto model = std::find_if(models.begin(), models.end(), [&](const Model& each) {
      return each.first.name == device.name && each.first.capability == device.capability;
    });
    if (model != models.end())
      model->count += count;
    else if (models.size() < kModelsNamed)
      models.push_back({device, count});
    else
      others += count;
  }
  std::vector<std::string> names;
  for (const Model& model : models) names.push_back(describe(model.first) + more_like_it(model.count));
  return join(names, ", ") + (others == 0 ? "" : " and " + std::to_string(others) + " more");
}

std::string other_toolkits_text(const std::vector<Version>& others, Version this_one,
                                const std::string& does) {
  if (others.empty()) return "; no known toolkit " + does;
  std::optional<Version> older, newer;
  for (const Version version : others) {
    if (version < this_one) older = version;
    if (version > this_one && !newer) newer = version;
  }
  if (older && newer) return "; " + to_string(*older) + " " + does + ", and so does " + to_string(*newer);
  if (older) return "; the last toolkit that " + does + " is " + to_string(*older);
  return newer ? "; the first toolkit that " + does + " is " + to_string(*newer) : std::string();
}

std::string toolkits_text(const std::vector<Version>& toolkits) {
  std::vector<std::string> ranges;
  std::optional<Version> first, last;
  const auto close = [&] {
    if (first) ranges.push_back(to_string(*first) + (first == last ? "" : " to " + to_string(*last)));
    first.reset();
  };
  for (const Toolkit& toolkit : known_toolkits()) {
    if (std::find(toolkits.begin(), toolkits.end(), toolkit.version) == toolkits.end()) {
      close();
      continue;
    }
    if (!first) first = toolkit.version;
    last = toolkit.version;
  }
  close();
  return join(ranges, ", ");
}

std::vector<std::string> warnings_for(const DeviceList& devices, const std::vector<DeviceGroup>& groups,
                                      const Compiler& compiler, const SelectPolicy& policy,
                                      const Selection& selection) {
  std::vector<std::string> warnings = unknown_device_warnings(devices, groups);
  for (std::string& warning : unknown_driver_warnings(devices, groups, compiler))
    warnings.push_back(std::move(warning));
  add_driver_warnings(devices, groups, compiler, policy, warnings);
  add_capability_warnings(devices, groups, compiler, warnings);
  add_doubts(devices, selection, warnings);
  const auto has_suffix = [](const ChosenEntry& chosen) { return chosen.entry.arch.suffix != Suffix::none; };
  const auto& entries = selection.entries;
  if (policy.suffix != Suffix::none && std::none_of(entries.begin(), entries.end(), has_suffix))
    warnings.push_back(name_of(compiler) + " makes no SASS with '" + suffix_text(policy.suffix) +
                       "' that runs on these devices: plain SASS was chosen");
  return warnings;
}

}  // namespace archguard
