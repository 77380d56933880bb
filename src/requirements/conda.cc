// conda: the virtual package __cuda_arch is the lowest compute capability of the machine's GPUs (CEP 46),
// __cuda the newest CUDA that its driver offers (CEP 30). A lower bound holds for all GPUs of a machine; an
// upper one says nothing of the second GPU, so that none is printed. conda-forge's packages write cuda-arch
// instead, whose package asks for __cuda_arch.
#include <algorithm>

#include "base/text.h"
#include "requirements/statement.h"

namespace archguard::requirements {
namespace {

std::string cause_of(const Served& device) {
  return device.why.empty() ? std::string() : " (" + device.why + ")";
}

}  // namespace

Statement conda_statement(const Needs& needs) {
  Statement statement{"conda", "conda: requirements under run", {}, {}, {}, {}};
  if (nothing_served(needs, statement)) return statement;
  if (!is_served(needs.newer)) {
    statement.none = "a bound on __cuda_arch has no upper end, and future GPUs are not covered without PTX";
    statement.fix = "add PTX of the newest architecture to CMAKE_CUDA_ARCHITECTURES";
    return statement;
  }
  std::optional<ComputeCapability> bound;
  std::optional<Version> driver;
  const Served* stops = nullptr;
  for (auto each = needs.devices.rbegin(); each != needs.devices.rend() && stops == nullptr; ++each) {
    if (!is_met(needs, each->capability) || (!is_served(*each) && is_shut_out(*each, driver))) continue;
    if (!is_served(*each)) {
      stops = &*each;
    } else {
      bound = each->capability;
      if (each->driver_matters) driver = std::max(driver.value_or(each->driver), each->driver);
    }
  }
  if (!bound) {
    statement.none = "no bound on __cuda_arch is true: " + to_string(stops->capability) + " is not covered" +
                     cause_of(*stops);
    return statement;
  }
  statement.lines.push_back("__cuda_arch >=" + to_string(*bound));
  if (driver) statement.lines.push_back("__cuda >=" + to_string(*driver));
  std::vector<std::string> below;
  for (const Served& each : needs.devices)
    if (is_served(each) && each.capability < *bound) below.push_back(to_string(each.capability));
  if (!below.empty())
    statement.notes.push_back("also runs on " + join(below, ", ") +
                              ", but a bound that low would also admit " + to_string(stops->capability) +
                              ", which is not covered");
  const bool leaves_tegra = std::any_of(needs.devices.begin(), needs.devices.end(), [&](const Served& each) {
    return *bound < each.capability && !is_met(needs, each.capability) && !is_served(each);
  });
  if (leaves_tegra)
    statement.notes.emplace_back(
        "Jetsons (Tegra) do not count: the files are for x86-64, and Jetsons are aarch64");
  return statement;
}

}  // namespace archguard::requirements
