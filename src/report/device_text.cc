#include "report/device_text.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace archguard {
namespace {

std::uint64_t count_of_excluded(const Verification& verification) {
  std::uint64_t all = 0;
  for (const ExcludedDevice& excluded : verification.excluded)
    all += static_cast<std::uint64_t>(excluded.count);
  return all;
}

std::string excluded_text(const Verification& verification) {
  if (verification.excluded.empty()) return {};
  std::vector<std::string> parts;
  for (const ExcludedDevice& excluded : verification.excluded) {
    std::string text = to_string(excluded.capability);
    if (excluded.last_toolkit) text += ", last toolkit " + to_string(*excluded.last_toolkit);
    if (std::find(parts.begin(), parts.end(), text) == parts.end()) parts.push_back(std::move(text));
  }
  return fmt::format("; {} excluded at configure: {}", count_of_excluded(verification), join(parts, "; "));
}

}  // namespace

std::string devices_of(const Verification& verification, std::size_t device_class) {
  const auto& members = verification.classes[device_class].members;
  std::string text = describe(verification.devices[members.front()]);
  const std::uint64_t all = count_of_class(verification, device_class);
  if (all > 1) text += " and " + std::to_string(all - 1) + " more like it";
  return text;
}

std::uint64_t count_of_class(const Verification& verification, std::size_t device_class) {
  std::uint64_t all = 0;
  for (const std::size_t member : verification.classes[device_class].members)
    all += static_cast<std::uint64_t>(verification.devices.count(member));
  return all;
}

Error unjudged_device(const Device& device, std::size_t more) {
  return {describe(device) + (more == 0 ? "" : fmt::format(" and {} more", more)),
          "a device without a compute capability cannot be judged",
          "write its compute_cap (X.Y) into that line, or into its column excluded why it is left out"};
}

CoveredText covered_text(const Verification& verification, const std::vector<Coverage>& classes) {
  if (verification.devices.empty() && verification.excluded.empty()) return {};
  std::uint64_t covered = 0, all = count_of_excluded(verification);
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (classes[i] == Coverage::covered) covered += count_of_class(verification, i);
  const DeviceList& devices = verification.devices;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (is_wanted(devices.kind(i))) all += static_cast<std::uint64_t>(devices.count(i));
  return {fmt::format("{} of {} covered", covered, all), excluded_text(verification)};
}

}  // namespace archguard
