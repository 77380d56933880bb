#include <algorithm>

#include "compat/driver.h"
#include "requirements/needs.h"

namespace archguard::requirements {
namespace {

// A driver that all of a range need, and that shuts out no machine which is covered, lies between the highest
// that one needs and the lowest that the others are covered with.
struct Limits {
  std::optional<Version> needed;
  Version most;
};

bool take_in(Limits& limits, const Served& device) {
  Limits joined = limits;
  if (device.driver_matters && (!joined.needed || *joined.needed < device.driver))
    joined.needed = device.driver;
  joined.most = std::min(joined.most, device.driver);
  if (joined.needed && joined.most < *joined.needed) return false;
  limits = joined;
  return true;
}

}  // namespace

bool is_shut_out(const Served& device, std::optional<Version> driver) {
  const auto last = last_driver_cuda_for(device.capability);
  return driver && last && *last < *driver;
}

std::vector<Range> ranges_of(const Needs& needs) {
  std::vector<Range> ranges;
  std::optional<Limits> limits;  // of the range that is not at its end
  for (const Served& each : needs.devices) {
    if (!is_served(each)) {
      if (limits && !is_shut_out(each, limits->needed)) limits.reset();
      continue;
    }
    if (!limits || !take_in(*limits, each)) {
      ranges.emplace_back();
      limits = Limits{each.driver_matters ? std::optional(each.driver) : std::nullopt, each.driver};
    }
    ranges.back().devices.push_back(each.capability);
    ranges.back().driver = limits->needed;
  }
  if (limits) ranges.back().open = is_served(needs.newer);
  return ranges;
}

bool share_driver(const std::vector<Range>& ranges) {
  return std::all_of(ranges.begin(), ranges.end(),
                     [&](const Range& each) { return each.driver == ranges.front().driver; });
}

}  // namespace archguard::requirements
