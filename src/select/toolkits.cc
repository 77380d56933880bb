#include <algorithm>

#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "select/parts.h"

namespace archguard {
namespace {

bool ptx_reaches(const Toolkit& toolkit, ComputeCapability device, const SelectPolicy& policy) {
  if (policy.ptx == PtxPolicy::none) return false;
  if (policy.ptx == PtxPolicy::given)
    return makes(toolkit.archs, policy.given_ptx) && ptx_fits(policy.given_ptx, device) == Fit::yes;
  return newest_ptx_for(toolkit.archs, device).has_value();
}

bool toolkit_serves(const Toolkit& toolkit, ComputeCapability device, std::optional<Version> driver,
                    const SelectPolicy& policy) {
  if (driver && *driver < lowest_driver_cuda_for_toolkit(toolkit.version)) return false;
  if (newest_sass_for(toolkit.archs, device)) return true;
  if (driver && driver_takes_ptx(toolkit.ptx_isa, *driver) != Fit::yes) return false;
  return ptx_reaches(toolkit, device, policy);
}

}  // namespace

Fit driver_takes_ptx_of(const Compiler& compiler, Version driver_cuda) {
  if (compiler.ptx_isa != Version{}) return driver_takes_ptx(compiler.ptx_isa, driver_cuda);
  return driver_cuda >= compiler.version ? Fit::yes : Fit::unknown;
}

std::vector<Version> toolkits_serving(ComputeCapability device, std::optional<Version> driver,
                                      const SelectPolicy& policy) {
  std::vector<Version> versions;
  for (const Toolkit& toolkit : known_toolkits())
    if (toolkit_serves(toolkit, device, driver, policy)) versions.push_back(toolkit.version);
  return versions;
}

std::vector<Version> toolkits_serving_all(const std::vector<DeviceGroup>& groups,
                                          const SelectPolicy& policy) {
  std::vector<Version> versions;
  for (const Toolkit& toolkit : known_toolkits())
    if (!groups.empty() && std::all_of(groups.begin(), groups.end(), [&](const DeviceGroup& group) {
          return toolkit_serves(toolkit, group.capability, group.driver, policy);
        }))
      versions.push_back(toolkit.version);
  return versions;
}

std::string serving_all_text(const std::vector<Version>& toolkits, const std::vector<DeviceGroup>& groups) {
  if (toolkits.empty()) return "no known toolkit supports the whole fleet";
  std::vector<Version> sass, ptx;
  for (const Toolkit& toolkit : known_toolkits()) {
    if (std::find(toolkits.begin(), toolkits.end(), toolkit.version) == toolkits.end()) continue;
    bool all = true;
    for (const DeviceGroup& group : groups)
      if (!newest_sass_for(toolkit.archs, group.capability)) all = false;
    (all ? sass : ptx).push_back(toolkit.version);
  }
  std::string text = "the toolkits that support the whole fleet: ";
  if (ptx.empty()) return text + toolkits_text(sass);
  if (!sass.empty()) text += toolkits_text(sass) + " with SASS for each device; ";
  return text + toolkits_text(ptx) + " with PTX for some";
}

}  // namespace archguard
