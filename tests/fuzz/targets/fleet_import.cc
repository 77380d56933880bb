#include "device/fleet.h"
#include "fleet/sources.h"
#include "targets.h"

namespace archguard::fuzz {

// What any format tells is written as a fleet that reads back to as many GPUs.
void fleet_import(ByteView bytes) {
  archguard::fleet::FleetBuilder builder(bytes.size % 2 == 0);
  const auto read = archguard::fleet::import_text(bytes.text(), "f", "", builder);
  if (!read) promise(!read.error().what.empty());
  const auto devices = builder.devices();
  promise(devices.empty() == (builder.count() == 0));
  const auto again = parse_fleet(held_text(FleetText(devices, FleetColumns::told)), "f.csv");
  promise(again.ok() && again->size() == devices.size());
  for (const std::string& note : builder.notes()) promise(!note.empty());
}

}  // namespace archguard::fuzz
