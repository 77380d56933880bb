#include "loader/ld_cache.h"
#include "targets.h"

namespace archguard::fuzz {

void loader_cache(ByteView bytes) {
  const auto cache = parse_loader_cache(bytes);
  if (!cache) return;
  for (const auto& [name, paths] : *cache) {
    promise(!name.empty() && name.size() < bytes.size);
    for (const std::string_view path : paths) promise(!path.empty() && path.size() < bytes.size);
  }
}

}  // namespace archguard::fuzz
