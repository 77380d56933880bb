#include "fatbin/host_bytes.h"

#include <algorithm>

namespace archguard::fatbin {

bool visit_host_bytes(
    const ByteSource& source, const HostObject& host, const std::vector<Fatbin>& fatbins,
    const std::function<bool(const Section& section)>& is_wanted,
    const std::function<bool(const Section& section, std::uint64_t at, std::uint64_t size)>& visit) {
  if (host.sections.empty()) return false;
  std::uint64_t visited = 0;
  for (const Section& section : host.sections) {
    if (!section.has_bytes || !is_wanted(section)) continue;
    if (section.size > source.size() - visited) return false;
    visited += section.size;
    std::uint64_t at = section.offset;
    const std::uint64_t end = section.offset + section.size;
    auto next =
        std::lower_bound(fatbins.begin(), fatbins.end(), at,
                         [](const Fatbin& each, std::uint64_t wanted) { return each.offset < wanted; });
    for (; next != fatbins.end() && next->offset < end; ++next) {
      if (next->offset < at) continue;  // within the one before
      if (!visit(section, at, next->offset - at)) return false;
      at = next->offset + std::min(next->size, end - next->offset);
    }
    if (!visit(section, at, end - at)) return false;
  }
  return true;
}

}  // namespace archguard::fatbin
