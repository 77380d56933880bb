#include "coverage/for_others.h"

#include <algorithm>

namespace archguard {
namespace {

// What the toolkit at hand adds to a fat binary of nvcc, and nothing else.
bool is_addition(const Remedy& way) {
  return !way.add.empty() && way.unset.empty() && !way.driver && !way.toolkits && !way.apart &&
         !way.offload && !way.lz4 && !way.link;
}

}  // namespace

std::string fix_for_others(const std::vector<const ForOthers*>& devices) {
  std::vector<Addition> additions;
  for (const ForOthers* device : devices) {
    const auto& ways = device->mend.ways;
    const auto way = std::find_if(ways.begin(), ways.end(), is_addition);
    if (way == ways.end()) continue;
    for (const Addition& add : way->add) {
      const auto same = [&](const Addition& each) {
        return each.arch == add.arch && each.sass == add.sass && each.ptx == add.ptx &&
               each.by_lto == add.by_lto && each.lacks_lto == add.lacks_lto;
      };
      if (std::none_of(additions.begin(), additions.end(), same)) additions.push_back(add);
    }
  }
  return (additions.empty() ? "build the source files or libraries that they come from for these devices too"
                            : fix_by_building_too(additions)) +
         ", unless the program launches their kernels on other devices alone";
}

}  // namespace archguard
