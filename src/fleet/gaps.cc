#include "fleet/gaps.h"

#include <map>
#include <unordered_set>

#include "compat/driver.h"
#include "compat/rules.h"
#include "products/products.h"

namespace archguard::fleet {
namespace {

constexpr std::size_t kMostDescribed = 3;

// What is missing of one device; the same texts are one gap.
struct Missing {
  std::string what, consequence, fix;
};

std::vector<Missing> missing_of(const Device& device, ProductLookup& products) {
  std::vector<Missing> missing;
  if (!device.capability) {
    missing.push_back(
        {"no compute capability", "no architecture is chosen for them, and their verdict is unknown",
         "write it into the column compute_cap: archguard fleet import knows it for many product names"});
    return missing;
  }
  if (is_beyond_table(*device.capability))
    missing.push_back({"no known CUDA makes code for " + to_string(*device.capability),
                       "SASS that fits cannot be named",
                       "look whether the number is right; a newer ArchGuard may know it"});
  const ProductMatch& match = products.find(device.name);
  if (match.product != nullptr && match.product->capability != *device.capability)
    missing.push_back({"NVIDIA's list gives this name " + to_string(match.product->capability),
                       "one of name and compute_cap is wrong", "correct it"});
  if (device.driver_version.empty() && !device.driver_cuda) {
    missing.push_back(
        {"no driver", "errors 35 and 222 cannot be judged", "add the column driver_version, or driver_cuda"});
  } else if (!device.driver_cuda) {
    missing.push_back({"the driver's version does not tell the CUDA that it offers",
                       "errors 35 and 222 cannot be judged",
                       "write what nvidia-smi calls CUDA Version into driver_cuda"});
  } else if (device.cuda_at_least) {
    missing.push_back({"the driver is newer than any that is known",
                       "what needs more than " + to_string(*device.driver_cuda) + " is unknown",
                       "write what nvidia-smi calls CUDA Version into driver_cuda"});
  } else if (driver_knows_device(device) == Fit::no) {
    missing.push_back({"a driver for CUDA " + to_string(*device.driver_cuda) + " does not know this GPU",
                       "one of driver and compute_cap is wrong", "correct it"});
  }
  return missing;
}

}  // namespace

std::vector<FleetGap> gaps_of(const DeviceList& devices) {
  std::vector<FleetGap> gaps;
  std::map<std::string, std::size_t> numbers;  // of gaps, by what is missing
  ProductLookup products;
  std::unordered_set<std::string> uuids;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!is_wanted(devices.kind(i))) continue;
    const Device device = devices[i];
    std::vector<Missing> all = missing_of(device, products);
    if (!device.uuid.empty() && !uuids.insert(device.uuid).second)
      all.push_back({"a uuid that stands on a line above, too", "one GPU counts as two",
                     "remove one of the lines, or correct the uuid"});
    for (Missing& each : all) {
      const auto [number, is_new] = numbers.try_emplace(each.what, gaps.size());
      if (is_new)
        gaps.push_back({std::move(each.what), std::move(each.consequence), std::move(each.fix), {}, 0});
      FleetGap& gap = gaps[number->second];
      ++gap.lines;
      if (gap.devices.size() < kMostDescribed) gap.devices.push_back(describe(device));
    }
  }
  return gaps;
}

}  // namespace archguard::fleet
