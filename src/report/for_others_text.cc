#include "report/for_others_text.h"

#include <fmt/format.h>
#include <functional>
#include <map>
#include <utility>

#include "base/text.h"
#include "host/host_file.h"
#include "image/demangle.h"
#include "report/device_text.h"

namespace archguard {
namespace {

constexpr std::size_t kDevicesShown = 3;  // beside the first

// " on 8.0, nor on 8.6, 9.0 and 2 more"
std::string not_asked_on(const Verification& verification, const std::vector<std::size_t>& devices) {
  std::vector<std::string> others;
  for (std::size_t i = 1; i < devices.size() && others.size() < kDevicesShown; ++i)
    others.push_back(devices_of(verification, devices[i]));
  if (const std::size_t more = devices.size() - 1 - others.size(); more != 0)
    others.push_back(std::to_string(more) + " more");
  return devices_of(verification, devices.front()) + (others.empty() ? "" : ", nor on " + join(others, ", "));
}

// Devices of which the same is true, those with the most first.
using DeviceGroups =
    std::map<std::pair<std::uint64_t, std::string>, std::vector<std::size_t>, std::greater<>>;

ForOthersText of_fatbins(const Verification& verification, const FileResult& file,
                         const std::vector<std::size_t>& devices) {
  std::vector<const ForOthers*> all;
  ForOthersText said;
  for (const std::size_t i : devices) {
    const DeviceResult& device = file.devices[i];
    said.warning |= device.for_others->fatbins >= device.fatbins.sass + device.fatbins.jit;
    all.push_back(&*device.for_others);
  }
  const ForOthers& first = *all.front();
  said.text =
      fmt::format("{}: {} of {} for other devices only, not asked for on {}; the first: {}{} ({})",
                  object_name(file.path, file.member), first.fatbins,
                  count_of(file.devices[devices.front()].fatbins.total, "fat binary is", "fat binaries are"),
                  not_asked_on(verification, devices), first.where,
                  first.kernel.empty() ? "" : ", kernel '" + demangle(first.kernel) + "'", first.found);
  said.fix = fix_for_others(all);
  return said;
}

ForOthersText of_data(const Verification& verification, const FileResult& file,
                      const std::vector<std::size_t>& devices) {
  const EmbeddedResult& first = file.devices[devices.front()].embedded;
  ForOthersText said;
  said.text = fmt::format(
      "{}: of the images that it holds as data, {} for other devices only, not asked for on {}; the first: "
      "'{}' ({})",
      object_name(file.path, file.member), count_of(first.elsewhere.size(), "kernel is", "kernels are"),
      not_asked_on(verification, devices), demangle(first.elsewhere.front()), first.elsewhere_in);
  said.fix =
      "embed images of these kernels for these devices too, unless the program launches them on other "
      "devices alone";
  return said;
}

}  // namespace

std::vector<ForOthersText> for_others_texts(const Verification& verification, const FileResult& file) {
  DeviceGroups by_fatbins, by_data;
  for (std::size_t i = 0; i < file.devices.size(); ++i) {
    if (!is_to_be_told(verification, file, i)) continue;
    const DeviceResult& device = file.devices[i];
    if (device.for_others) by_fatbins[{device.for_others->fatbins, device.for_others->where}].push_back(i);
    const auto& elsewhere = device.embedded.elsewhere;
    if (device.coverage == Coverage::covered && !elsewhere.empty())
      by_data[{elsewhere.size(), elsewhere.front()}].push_back(i);
  }
  std::vector<ForOthersText> texts;
  for (const auto& group : by_fatbins) texts.push_back(of_fatbins(verification, file, group.second));
  for (const auto& group : by_data) texts.push_back(of_data(verification, file, group.second));
  return texts;
}

}  // namespace archguard
