#include "report/driver_notes.h"

#include <algorithm>

#include "base/text.h"
#include "compat/rules.h"

namespace archguard {

std::vector<DriverNote> notes_on_jetsons(const Verification& verification) {
  std::vector<DriverNote> notes;
  for (std::size_t i = 0; i < verification.classes.size(); ++i) {
    const Device& first = verification.classes[i].device;
    const auto& members = verification.classes[i].members;
    if (first.driver_cuda || !may_be_tegra(*first.capability)) continue;
    std::vector<std::size_t> silent;  // they tell a version, but no CUDA
    for (const std::size_t member : members)
      if (!verification.devices[member].driver_version.empty()) silent.push_back(member);
    if (silent.empty()) continue;
    const bool asked = std::any_of(verification.files.begin(), verification.files.end(),
                                   [&](const FileResult& file) { return file.devices[i].needs_driver; });
    if (!asked) continue;
    const Device device = verification.devices[silent.front()];
    notes.push_back(
        {"the driver " + device.driver_version + " of " + describe(device) +
             (silent.size() == 1 ? "" : " and " + std::to_string(silent.size() - 1) + " more") +
             " does not tell its CUDA: a Jetson's driver has the number of its Jetson Linux",
         "add the column driver_cuda to the fleet file, with the CUDA of its JetPack (arch_probe on "
         "the board prints it)"});
  }
  return notes;
}

}  // namespace archguard
