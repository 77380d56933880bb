#include "doctor/code_fix.h"

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "doctor/rebuild_fix.h"
#include "doctor/release_fix.h"

namespace archguard::doctor {

std::string general_fix(int code, const std::string& name, const Device& device) {
  if (code == kUnsupportedPtxVersion || code == kInvalidKernelImage) {
    const auto last = last_driver_cuda_for(*device.capability);
    if (!last)
      return "update the driver, or install a build of " + name + " for " + cuda_text(*device.driver_cuda);
    return "install a build of " + name + " for " + cuda_text(*device.driver_cuda) + " or older";
  }
  const std::string cc = to_string(*device.capability);
  if (is_tegra(*device.capability))  // code for others of its major version does not run there, nor the other
                                     // way round
    return "install a build of " + name + " for Jetson, or build it from source for " + cc;
  const auto last = last_toolkit_for(*device.capability);
  if (last && *last < newest_known_toolkit().version)
    return "install a release of " + name + " that has code for " + cc +
           ", if there is one: it must be built with CUDA " + to_string(*last) + " or older";
  const auto range = toolkits_with_sass_for(*device.capability);
  return "install a release of " + name + " that has code for " + cc +
         (range ? ": CUDA " + to_string(range->first) + " is the first that makes any" : std::string());
}

std::string code_fix(const Facts& facts, int code, const std::optional<Package>& owner,
                     std::size_t of_class) {
  const Device& device = facts.classes[of_class].device;
  if (!owner) return general_fix(code, "it", device);
  if (facts.torch && starts_with(owner->name, "nvidia-"))
    return "torch pins the releases of NVIDIA's packages: install another torch, and this one follows";
  if (std::string line = release_fix(facts, owner->name, of_class); !line.empty()) return line;
  const std::string unmeasured = not_measured_here(facts, owner->name, of_class);
  const std::string fix =
      general_fix(code, owner->name, device) + (unmeasured.empty() ? "" : "; " + unmeasured);
  const std::string again = code == kNoKernelImage ? rebuild_line(facts, *owner, device) : std::string();
  if (again.empty()) return fix;
  return is_built_locally(facts, *owner) ? "build it again: " + again
                                         : fix + "; if it was built from source, build it again: " + again;
}

}  // namespace archguard::doctor
