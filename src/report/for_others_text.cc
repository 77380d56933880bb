#include "report/for_others_text.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "host/host_file.h"
#include "image/demangle.h"
#include "report/device_text.h"

namespace archguard {
namespace {

constexpr std::size_t kDevicesShown = 3;  // beside the first

}  // namespace

std::optional<ForOthersText> for_others_text(const Verification& verification, const FileResult& file) {
  std::vector<std::size_t> devices;
  for (std::size_t i = 0; i < file.devices.size(); ++i)
    if (file.devices[i].for_others && is_to_be_told(verification, file, i)) devices.push_back(i);
  if (devices.empty()) return std::nullopt;
  // The device with most of them is told of, and the others are named.
  const auto fatbins = [&](std::size_t i) { return file.devices[i].for_others->fatbins; };
  const auto worst = std::max_element(devices.begin(), devices.end(),
                                      [&](std::size_t a, std::size_t b) { return fatbins(a) < fatbins(b); });
  std::rotate(devices.begin(), worst, worst + 1);
  std::vector<std::string> others;
  std::vector<const ForOthers*> all;
  ForOthersText said;
  for (const std::size_t i : devices) {
    const FatbinCounts& counts = file.devices[i].fatbins;
    said.warning |= fatbins(i) >= counts.sass + counts.jit;
    all.push_back(&*file.devices[i].for_others);
    if (all.size() > 1 && others.size() < kDevicesShown) others.push_back(devices_of(verification, i));
  }
  if (const std::size_t more = devices.size() - 1 - others.size(); more != 0)
    others.push_back(std::to_string(more) + " more");
  const ForOthers& first = *all.front();
  said.text = fmt::format(
      "{}: {} of {} for other devices only, not asked for on {}{}; the first: {}{} ({})",
      object_name(file.path, file.member), first.fatbins,
      count_of(file.devices[devices.front()].fatbins.total, "fat binary is", "fat binaries are"),
      devices_of(verification, devices.front()), others.empty() ? "" : ", nor on " + join(others, ", "),
      first.where, first.kernel.empty() ? "" : ", kernel '" + demangle(first.kernel) + "'", first.found);
  said.fix = fix_for_others(all);
  return said;
}

}  // namespace archguard
