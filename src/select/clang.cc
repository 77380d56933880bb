#include <algorithm>

#include "select/parts.h"

namespace archguard {

std::vector<ChosenEntry> as_clang_needs_it(const std::vector<ChosenEntry>& entries) {
  std::vector<ChosenEntry> ascending;
  for (const ChosenEntry& chosen : entries) {
    auto at = ascending.begin();
    while (at != ascending.end() && at->entry.arch < chosen.entry.arch) ++at;
    if (at == ascending.end() || at->entry.arch != chosen.entry.arch) {
      at = ascending.insert(at, chosen);
      if (!at->entry.real) at->reason += "; with SASS, which clang cannot leave out";
      at->entry.real = true;
      continue;
    }
    at->entry.virtual_ = at->entry.virtual_ || chosen.entry.virtual_;
    at->reason += "; " + chosen.reason;
    at->devices.insert(at->devices.end(), chosen.devices.begin(), chosen.devices.end());
    std::sort(at->devices.begin(), at->devices.end());
  }
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
