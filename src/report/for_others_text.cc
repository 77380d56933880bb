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

// " on 8.0, nor on 8.6, 9.0 and 2 more"
std::string not_asked_on(const Verification& verification, const std::vector<std::size_t>& devices) {
  std::vector<std::string> others;
  for (std::size_t i = 1; i < devices.size() && others.size() < kDevicesShown; ++i)
    others.push_back(devices_of(verification, devices[i]));
  if (const std::size_t more = devices.size() - 1 - others.size(); more != 0)
    others.push_back(std::to_string(more) + " more");
  return devices_of(verification, devices.front()) + (others.empty() ? "" : ", nor on " + join(others, ", "));
}

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
  std::vector<const ForOthers*> all;
  ForOthersText said;
  for (const std::size_t i : devices) {
    const FatbinCounts& counts = file.devices[i].fatbins;
    said.warning |= fatbins(i) >= counts.sass + counts.jit;
    all.push_back(&*file.devices[i].for_others);
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

std::optional<ForOthersText> embedded_for_others_text(const Verification& verification,
                                                      const FileResult& file) {
  const auto kernels = [&](std::size_t i) { return file.devices[i].embedded.elsewhere.size(); };
  std::vector<std::size_t> devices;
  for (std::size_t i = 0; i < file.devices.size(); ++i)
    if (file.devices[i].coverage == Coverage::covered && kernels(i) != 0 &&
        is_to_be_told(verification, file, i))
      devices.push_back(i);
  if (devices.empty()) return std::nullopt;
  const auto worst = std::max_element(devices.begin(), devices.end(),
                                      [&](std::size_t a, std::size_t b) { return kernels(a) < kernels(b); });
  std::rotate(devices.begin(), worst, worst + 1);
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

}  // namespace archguard
