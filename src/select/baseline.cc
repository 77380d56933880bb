#include <algorithm>

#include "base/text.h"
#include "compat/rules.h"
#include "select/parts.h"

namespace archguard {
namespace {

// What nvcc's all-major builds, without Tegra: the lowest plain arch of each major version.
std::vector<Arch> all_major(const Compiler& compiler) {
  std::vector<Arch> archs;
  for (const Arch arch : compiler.sass) {
    const ComputeCapability made_for = capability_of(arch);
    if (arch.suffix != Suffix::none || is_tegra(made_for)) continue;
    if (archs.empty() || capability_of(archs.back()).major != made_for.major) archs.push_back(arch);
  }
  return archs;
}

std::vector<ChosenEntry> default_baseline(const SelectPolicy& policy, const Compiler& compiler) {
  std::vector<Arch> archs = all_major(compiler);
  if (policy.tegra_in_baseline)
    for (const Arch arch : compiler.sass)
      if (arch.suffix == Suffix::none && is_tegra(capability_of(arch))) insert_once(archs, arch);

  std::vector<ChosenEntry> entries;
  for (const Arch arch : archs) {
    const ComputeCapability made_for = capability_of(arch);
    const std::string reason = is_tegra(made_for)
                                   ? "baseline: Tegra " + to_string(made_for)
                                   : "baseline: " + std::to_string(made_for.major) + ".x from " +
                                         to_string(made_for) + " on, without Tegra";
    entries.push_back({{arch, true, false}, reason, {}});
  }
  if (archs.empty()) return entries;
  if (const auto ptx = ptx_beside(archs, policy, compiler))
    entries.push_back({{*ptx, false, true}, fallback_reason(*ptx, policy), {}});
  return entries;
}

std::vector<ChosenEntry> given_baseline(const SelectPolicy& policy, const Compiler& compiler) {
  std::vector<Arch> sass, ptx;
  for (const ArchEntry& entry : policy.baseline) {
    if (entry.real && makes(compiler.sass, entry.arch)) insert_once(sass, entry.arch);
    if (entry.virtual_ && makes(compiler.ptx, entry.arch)) insert_once(ptx, entry.arch);
  }
  std::vector<ChosenEntry> entries;
  for (const Arch arch : sass) entries.push_back({{arch, true, false}, "baseline, as given", {}});
  for (const Arch arch : ptx) entries.push_back({{arch, false, true}, "baseline, as given", {}});
  return entries;
}

}  // namespace

void insert_once(std::vector<Arch>& ascending, Arch arch) {
  const auto at = std::lower_bound(ascending.begin(), ascending.end(), arch);
  if (at == ascending.end() || *at != arch) ascending.insert(at, arch);
}

bool makes(const std::vector<Arch>& archs, Arch arch) {
  return std::find(archs.begin(), archs.end(), arch) != archs.end();
}

std::vector<std::string> unmakeable_parts(const SelectPolicy& policy, const Compiler& compiler) {
  std::vector<std::string> parts;
  if (policy.ptx == PtxPolicy::given && !makes(compiler.ptx, policy.given_ptx))
    parts.push_back("PTX of compute_" + to_string(policy.given_ptx));
  for (const ArchEntry& entry : policy.baseline) {
    if (entry.real && !makes(compiler.sass, entry.arch))
      parts.push_back("SASS of sm_" + to_string(entry.arch));
    if (entry.virtual_ && !makes(compiler.ptx, entry.arch))
      parts.push_back("PTX of compute_" + to_string(entry.arch));
  }
  return parts;
}

Status check_policy(const SelectPolicy& policy, const Compiler& compiler) {
  const auto parts = unmakeable_parts(policy, compiler);
  if (parts.empty()) return Done{};
  std::vector<std::string> archs;
  for (const Arch arch : compiler.sass) archs.push_back(to_string(arch));
  return Error{compiler.path, name_of(compiler) + " makes no " + join(parts, ", no "),
               "choose among " + join(archs, " ")};
}

std::optional<Arch> ptx_beside(const std::vector<Arch>& sass, const SelectPolicy& policy,
                               const Compiler& compiler) {
  switch (policy.ptx) {
    case PtxPolicy::newest:
      return newest_ptx_for(compiler.ptx, capability_of(sass.back()));
    case PtxPolicy::oldest:
      return newest_ptx_for(compiler.ptx, capability_of(sass.front()));
    case PtxPolicy::given:
      if (makes(compiler.ptx, policy.given_ptx)) return policy.given_ptx;
      break;
    case PtxPolicy::none:
      break;
  }
  return std::nullopt;
}

std::string fallback_reason(Arch ptx, const SelectPolicy& policy) {
  const std::string capability = to_string(capability_of(ptx));
  if (policy.ptx == PtxPolicy::given) return "PTX as asked for";
  if (policy.ptx == PtxPolicy::oldest) return "PTX fallback for every GPU from " + capability + " on";
  return "PTX fallback for GPUs newer than " + capability;
}

std::vector<ChosenEntry> baseline_entries(const SelectPolicy& policy, const Compiler& compiler) {
  return policy.baseline.empty() ? default_baseline(policy, compiler) : given_baseline(policy, compiler);
}

}  // namespace archguard
