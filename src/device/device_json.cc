#include "device/device_json.h"

#include "compat/rules.h"

namespace archguard {
namespace {

void write_map(std::string_view key, const std::map<std::string, std::string>& map, JsonWriter& json) {
  json.begin_object(key);
  for (const auto& [name, value] : map) json.text(name, value);
  json.end();
}

}  // namespace

void write_members(const Device& device, DeviceMembers members, JsonWriter& json) {
  const bool found = members == DeviceMembers::found;
  json.text_or_null("name", device.name);
  json.known_or_null("compute_capability", device.capability);
  if (!found) json.flag("beyond_table", device.capability && is_beyond_table(*device.capability));
  json.text_or_null("driver_version", device.driver_version);
  json.known_or_null("driver_cuda", device.driver_cuda);
  json.text_or_null("uuid", device.uuid);
  if (found) json.text_or_null("pci_bus_id", device.pci_bus_id);
  json.flag("visible", device.visible);
  json.text_or_null("excluded", device.excluded);
  if (found) json.flag("mig", device.mig);
  json.number("count", device.count);
  json.text_or_null("host", device.host.value_or(""));
  json.text("origin", device.origin);
  if (!found) return;
  write_map("source", device.source, json);
  if (!device.extra.empty()) write_map("extra", device.extra, json);
}

}  // namespace archguard
