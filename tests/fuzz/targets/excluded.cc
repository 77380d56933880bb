#include "excluded.h"

#include "targets.h"

namespace archguard::fuzz {

void excluded(ByteView bytes) {
  const auto excluded = parse_excluded(bytes.text(), "select.json");
  promise(excluded.ok() || !excluded.error().what.empty());
}

}  // namespace archguard::fuzz
