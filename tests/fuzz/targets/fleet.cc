#include "device/fleet.h"

#include "targets.h"

namespace archguard::fuzz {

// What was read is written so that it reads back.
void fleet(ByteView bytes) {
  const auto devices = parse_fleet(bytes.text(), "f.csv");
  if (!devices) return promise(!devices.error().what.empty());
  const std::string written = held_text(FleetText(*devices));
  const auto again = parse_fleet(written, "f.csv");
  promise(again.ok() && again->size() == devices->size() && held_text(FleetText(*again)) == written);
  for (std::size_t i = 0; i < devices->size(); ++i) promise((*again)[i].excluded == (*devices)[i].excluded);
}

}  // namespace archguard::fuzz
