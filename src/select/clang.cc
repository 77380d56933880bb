#include <algorithm>
#include <map>

#include "select/parts.h"

namespace archguard {

std::vector<ChosenEntry> as_clang_needs_it(const std::vector<ChosenEntry>& entries) {
  std::map<Arch, ChosenEntry> by_arch;
  for (const ChosenEntry& chosen : entries) {
    const auto [place, is_new] = by_arch.insert({chosen.entry.arch, chosen});
    ChosenEntry& joined = place->second;
    if (is_new) {
      if (!joined.entry.real) joined.reason += "; with SASS, which clang cannot leave out";
      joined.entry.real = true;
      continue;
    }
    joined.entry.virtual_ = joined.entry.virtual_ || chosen.entry.virtual_;
    joined.reason += "; " + chosen.reason;
    joined.devices.insert(joined.devices.end(), chosen.devices.begin(), chosen.devices.end());
    std::sort(joined.devices.begin(), joined.devices.end());
  }
  std::vector<ChosenEntry> ascending;
  for (auto& [arch, chosen] : by_arch) ascending.push_back(std::move(chosen));
  return ascending;
}

std::vector<ArchEntry> as_clang_reads_it(const std::vector<ArchEntry>& list) {
  std::vector<ArchEntry> made;
  for (const ArchEntry& entry : list) {
    const bool without_ptx = std::any_of(list.begin(), list.end(), [&](const ArchEntry& other) {
      return other.arch == entry.arch && !other.virtual_;
    });
    made.push_back({entry.arch, true, !without_ptx});
  }
  return made;
}

}  // namespace archguard
