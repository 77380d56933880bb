#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/error_codes.h"
#include "compat/toolkit.h"
#include "select/parts.h"

namespace archguard {
namespace {

// An architecture and the groups that it is there for, as indices.
struct ArchUse {
  Arch arch;
  std::vector<std::size_t> groups;
};

// The use of `arch`, which is entered where it is new; the list stays ascending.
ArchUse& use_of(std::vector<ArchUse>& uses, Arch arch) {
  auto at = uses.begin();
  while (at != uses.end() && at->arch < arch) ++at;
  if (at == uses.end() || at->arch != arch) at = uses.insert(at, {arch, {}});
  return *at;
}

// Why none of the kind is to be served; empty where they are.
std::string reason_to_exclude(const Device& kind) {
  if (!is_wanted(kind)) return why_left_out(kind);
  return kind.capability ? "" : "its compute capability is not known";
}

// Of a driver that is newer than the table only the least is known that it offers; where none is stated, it
// is no newer than the last for the device.
std::optional<Version> known_driver(const Device& device) {
  if (!device.driver_cuda) return device.capability ? last_driver_cuda_for(*device.capability) : std::nullopt;
  return device.cuda_at_least ? std::nullopt : device.driver_cuda;
}

// Ascending by capability, then by driver.
std::vector<DeviceGroup> group_devices(const DeviceList& devices, std::vector<Exclusion>& excluded) {
  const auto& kinds = devices.kinds();
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    excluded[i].reason = reason_to_exclude(kinds[i]);
    if (excluded[i].reason.empty() && devices.devices_of_kind(i) != 0) known.push_back(i);
  }
  std::sort(known.begin(), known.end(), [&](std::size_t i, std::size_t j) {
    const Device &a = kinds[i], &b = kinds[j];
    if (a.capability != b.capability) return a.capability < b.capability;
    return known_driver(a) < known_driver(b);
  });
  std::vector<DeviceGroup> groups;
  std::vector<std::size_t> group_of_kind(kinds.size());
  for (const std::size_t i : known) {
    const Device& kind = kinds[i];
    if (groups.empty() || groups.back().capability != *kind.capability ||
        groups.back().driver != known_driver(kind))
      groups.push_back({*kind.capability, known_driver(kind), {}, false});
    group_of_kind[i] = groups.size() - 1;
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::size_t kind = devices.kind_number(i);
    if (excluded[kind].reason.empty()) groups[group_of_kind[kind]].devices.push_back(i);
  }
  return groups;
}

// The SASS for each group, ascending by capability; what no SASS fits is left over.
//
// Why one pass finds the fewest images for `minimal`: the images that fit a Tegra chip fit it alone, and
// those that fit another device are all of its major version up to its own minor. So of two devices of a
// major version the older one's images are a subset of the newer one's, and the newest image that fits the
// oldest fits all of them. No image serves two major versions, hence one image for each is both enough and
// needed.
std::vector<ArchUse> choose_sass(const std::vector<DeviceGroup>& groups, const Compiler& compiler,
                                 SassPolicy policy, std::vector<std::size_t>& without) {
  std::vector<ArchUse> uses;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::optional<Arch> choice;
    if (policy == SassPolicy::minimal)
      for (const ArchUse& use : uses)
        if (sass_fits(use.arch, groups[i].capability) == Fit::yes) choice = use.arch;
    if (!choice) choice = newest_sass_for(compiler.sass, groups[i].capability);
    if (choice)
      use_of(uses, *choice).groups.push_back(i);
    else
      without.push_back(i);
  }
  return uses;
}

// Why JIT does not bring a device without SASS to life under this policy; nothing where it does.
struct Obstacle {
  std::string reason;
  std::vector<Version> others;  // the known toolkits without it, ascending
};

// Advice names toolkits with SASS for the device, as that of a verification does, unless there are none.
Obstacle obstacle(const std::string& reason, const std::vector<Version>& others, const DeviceGroup& group,
                  const Compiler& compiler, const std::string& does = "supports it") {
  std::vector<Version> with_sass;
  for (const Version version : others)
    if (newest_sass_for(find_toolkit(version)->archs, group.capability)) with_sass.push_back(version);
  const std::string any = other_toolkits_text(others, compiler.version, does);
  const std::string sass = other_toolkits_text(with_sass, compiler.version, does);
  if (with_sass.empty() || sass == any) return {reason + any, others};
  return {reason + other_toolkits_text(with_sass, compiler.version, "makes SASS for it"), others};
}

std::optional<Obstacle> obstacle_to_jit(const DeviceGroup& group, const Compiler& compiler,
                                        const SelectPolicy& policy) {
  const std::string capability = to_string(group.capability);
  const std::string toolkit = name_of(compiler);
  if (!newest_ptx_for(compiler.ptx, group.capability))
    return obstacle(toolkit + " makes nothing that runs on " + capability,
                    toolkits_serving(group.capability, group.driver, SelectPolicy{}), group, compiler,
                    "does");

  const std::string no_sass = toolkit + " makes no SASS for " + capability;
  const auto others = toolkits_serving(group.capability, group.driver, policy);
  if (policy.ptx == PtxPolicy::none)
    return obstacle(no_sass + ", and PTX is ruled out", others, group, compiler);
  if (policy.ptx == PtxPolicy::given &&
      (!makes(compiler.ptx, policy.given_ptx) || ptx_fits(policy.given_ptx, group.capability) != Fit::yes))
    return obstacle(
        no_sass + ", and the PTX asked for (compute_" + to_string(policy.given_ptx) + ") does not run on it",
        others, group, compiler);
  const Fit taken = group.driver ? driver_takes_ptx_of(compiler, *group.driver) : Fit::yes;
  if (taken != Fit::yes) {
    const std::string ptx = compiler.ptx_isa == Version{} ? "PTX" : "PTX " + to_string(compiler.ptx_isa);
    return obstacle(no_sass + ", and a driver that offers " + cuda_text(*group.driver) +
                        (taken == Fit::no ? " does not" : " may not") + " compile its " + ptx + " (" +
                        error_text(error_of_newer_ptx(*group.driver)) + ")",
                    others, group, compiler);
  }
  return std::nullopt;
}

Exclusion exclusion_for(const Obstacle& why) {
  Exclusion exclusion{why.reason, {}, {}};
  if (!why.others.empty()) {
    exclusion.first_toolkit = why.others.front();
    exclusion.last_toolkit = why.others.back();
  }
  return exclusion;
}

// The PTX for the groups that live on JIT, and beside the SASS as the policy says. `sass` is ascending.
std::vector<ArchUse> choose_ptx(const std::vector<DeviceGroup>& groups, const std::vector<std::size_t>& jit,
                                const std::vector<Arch>& sass, const Compiler& compiler,
                                const SelectPolicy& policy) {
  std::vector<ArchUse> uses;
  for (const std::size_t i : jit) {
    const Arch arch = policy.ptx == PtxPolicy::given
                          ? policy.given_ptx
                          : newest_ptx_for(compiler.ptx, groups[i].capability).value();
    use_of(uses, arch).groups.push_back(i);
  }
  const auto beside = sass.empty() ? std::nullopt : ptx_beside(sass, policy, compiler);
  if (policy.ptx == PtxPolicy::oldest && (beside || !uses.empty())) {
    // One PTX for all: each of the candidates serves its own device, so the lowest serves every device.
    Arch lowest = uses.empty() ? *beside : uses.front().arch;
    if (beside && *beside < lowest) lowest = *beside;
    return {{lowest, jit}};
  }
  if (beside && (uses.empty() || uses.back().arch < *beside)) uses.push_back({*beside, {}});
  return uses;
}

std::vector<std::size_t> devices_of(const std::vector<DeviceGroup>& groups,
                                    const std::vector<std::size_t>& which) {
  std::vector<std::size_t> devices;
  for (const std::size_t i : which)
    devices.insert(devices.end(), groups[i].devices.begin(), groups[i].devices.end());
  std::sort(devices.begin(), devices.end());
  return devices;
}

std::string sass_reason(Arch arch, const std::vector<std::size_t>& members, const DeviceList& devices,
                        const Compiler& compiler) {
  std::vector<std::size_t> own, spared, lacking;
  for (const std::size_t i : members) {
    const Arch exact = arch_of(*devices.kind(i).capability);
    (exact == arch ? own : makes(compiler.sass, exact) ? spared : lacking).push_back(i);
  }
  std::vector<std::string> parts;
  if (!own.empty()) parts.push_back(names_of(devices, own));
  if (!spared.empty()) parts.push_back("runs on " + names_of(devices, spared) + " too");
  if (!lacking.empty())
    parts.push_back("nearest that runs on " + names_of(devices, lacking) + ", for which " +
                    name_of(compiler) + " has no SASS of its own");
  return join(parts, "; ");
}

// The arch with the suffix that the policy asks for, where this compiler makes it, it serves the same groups,
// and no table leaves open whether it serves another: that would put the PTX in doubt which serves that one.
Arch with_suffix(Arch plain, Suffix suffix, const std::vector<std::size_t>& served,
                 const std::vector<DeviceGroup>& groups, const Compiler& compiler) {
  const Arch special{plain.number, suffix};
  if (!makes(compiler.sass, special)) return plain;
  const auto fit = [&](const DeviceGroup& group) { return sass_fits(special, group.capability); };
  const bool serves_same =
      std::all_of(served.begin(), served.end(), [&](std::size_t i) { return fit(groups[i]) == Fit::yes; });
  const bool certain = std::none_of(groups.begin(), groups.end(),
                                    [&](const DeviceGroup& group) { return fit(group) == Fit::unknown; });
  return serves_same && certain ? special : plain;
}

std::string suffix_reason(Arch arch) {
  switch (arch.suffix) {
    case Suffix::a:
      return "; with a, as asked for: runs on " + to_string(capability_of(arch)) + " alone";
    case Suffix::f:
      return "; with f, as asked for: runs on its family alone";
    case Suffix::none:
      break;
  }
  return "";
}

// ", for which CUDA 12.4 has no SASS (12.8 is the first that has)"
std::string without_sass(const std::vector<std::size_t>& members, const DeviceList& devices,
                         const Compiler& compiler) {
  std::vector<std::string> first;
  for (const std::size_t i : members) {
    const auto toolkits = toolkits_with_sass_for(*devices.kind(i).capability);
    if (!toolkits || toolkits->first <= compiler.version) continue;
    std::string text = to_string(toolkits->first);
    if (std::find(first.begin(), first.end(), text) == first.end()) first.push_back(std::move(text));
  }
  const std::string text = ", for which " + name_of(compiler) + " has no SASS";
  return first.empty() ? text
                       : text + " (" + join(first, ", ") +
                             (first.size() == 1 ? " is the first" : " are the first") + " that has)";
}

std::string jit_reason(const std::vector<std::size_t>& members, const DeviceList& devices,
                       const Compiler& compiler) {
  auto needed =
      compiler.ptx_isa == Version{} ? compiler.version : lowest_driver_cuda_for_ptx(compiler.ptx_isa).value();
  for (const std::size_t member : members)  // and one that knows them
    if (const auto first = first_driver_cuda_for(*devices.kind(member).capability))
      needed = std::max(needed, *first);
  const bool any_tegra = std::any_of(members.begin(), members.end(), [&](std::size_t member) {
    return may_be_tegra(*devices.kind(member).capability);
  });
  return "through JIT for " + names_of(devices, members) + without_sass(members, devices, compiler) +
         "; needs a driver that offers " + (any_tegra ? cuda_text(needed) : driver_text(needed)) +
         " or newer";
}

Selection select_baseline(const Compiler& compiler, const SelectPolicy& policy) {
  Selection selection;
  selection.baseline = true;
  selection.entries = baseline_entries(policy, compiler);
  return selection;
}

Selection select_for(const DeviceList& devices, const Compiler& compiler, const SelectPolicy& policy) {
  Selection selection;
  std::vector<Exclusion>& why_excluded = selection.why_excluded;
  why_excluded.resize(devices.kinds().size());
  std::vector<DeviceGroup> groups = group_devices(devices, why_excluded);
  selection.toolkits_for_all = toolkits_serving_all(groups, policy);

  std::vector<std::size_t> without_sass, jit;
  const std::vector<ArchUse> sass_uses = choose_sass(groups, compiler, policy.sass, without_sass);
  for (const std::size_t i : without_sass) {
    const auto obstacle = obstacle_to_jit(groups[i], compiler, policy);
    if (!obstacle) {
      jit.push_back(i);
      continue;
    }
    const Exclusion exclusion = exclusion_for(*obstacle);
    for (const std::size_t device : groups[i].devices) {
      Exclusion& why = why_excluded[devices.kind_number(device)];
      if (why.reason.empty()) why = exclusion;
    }
  }
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (!why_excluded[devices.kind_number(i)].reason.empty()) selection.excluded.push_back(i);

  std::vector<Arch> sass;
  for (const auto& [arch, served] : sass_uses) {
    const auto members = devices_of(groups, served);
    sass.push_back(arch);
    const Arch built = with_suffix(arch, policy.suffix, served, groups, compiler);
    selection.entries.push_back({{built, true, false},
                                 sass_reason(arch, members, devices, compiler) + suffix_reason(built),
                                 members});
    for (const std::size_t i : served) groups[i].served = true;
  }
  const std::vector<ArchUse> ptx_uses = choose_ptx(groups, jit, sass, compiler, policy);
  for (const auto& [arch, served] : ptx_uses) {
    const auto members = devices_of(groups, served);
    std::vector<std::string> reasons;
    if (!members.empty()) reasons.push_back(jit_reason(members, devices, compiler));
    if (arch == ptx_uses.back().arch) reasons.push_back(fallback_reason(arch, policy));
    selection.entries.push_back({{arch, false, true}, join(reasons, "; "), members});
    for (const std::size_t i : served) groups[i].served = true;
  }
  const bool beyond_this_compiler =
      std::any_of(selection.excluded.begin(), selection.excluded.end(), [&](std::size_t device) {
        const Device& kind = devices.kind(device);
        return is_wanted(kind) && kind.capability;
      });
  if (beyond_this_compiler) selection.toolkits_note = serving_all_text(selection.toolkits_for_all, groups);
  selection.warnings = warnings_for(devices, groups, compiler, policy, selection);
  return selection;
}

}  // namespace

Selection select_architectures(const DeviceList& devices, const Compiler& compiler,
                               const SelectPolicy& policy) {
  Selection selection =
      devices.empty() ? select_baseline(compiler, policy) : select_for(devices, compiler, policy);
  if (!compiler.clang.empty()) selection.entries = as_clang_needs_it(selection.entries);
  for (const std::string& part : unmakeable_parts(policy, compiler))
    selection.warnings.insert(selection.warnings.begin(),
                              name_of(compiler) + " makes no " + part + ": left out");
  return selection;
}

}  // namespace archguard
