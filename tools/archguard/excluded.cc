#include "excluded.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "files.h"

namespace archguard {
namespace {

using ExcludedJson = nlohmann::json;

constexpr const char* kSelectionSchema = "archguard.select/1";

std::string selected_text(const ExcludedJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<ExcludedDevice> parse_one(const ExcludedJson& entry) {
  if (!entry.is_object()) return std::nullopt;
  const auto device = entry.find("device");
  if (device == entry.end() || !device->is_object()) return std::nullopt;
  ExcludedDevice excluded;
  excluded.name = selected_text(*device, "name");
  excluded.uuid = selected_text(*device, "uuid");
  excluded.driver_cuda = parse_version(selected_text(*device, "driver_cuda"));
  excluded.reason = selected_text(entry, "reason");
  excluded.first_toolkit = parse_version(selected_text(entry, "first_toolkit"));
  excluded.last_toolkit = parse_version(selected_text(entry, "last_toolkit"));
  const auto capability = parse_capability(selected_text(*device, "compute_capability"));
  if (!capability) return std::nullopt;
  excluded.capability = *capability;
  return excluded;
}

}  // namespace

Result<std::vector<ExcludedDevice>> parse_excluded(std::string_view text, const std::string& path) {
  const ExcludedJson document = ExcludedJson::parse(text, nullptr, false);
  const Error not_a_selection{
      path, "is not the JSON of a selection",
      "write it with: arch_probe select --format json … > " + (path == text_file_name("-") ? "FILE" : path)};
  if (!document.is_object() || selected_text(document, "schema") != kSelectionSchema) return not_a_selection;
  const auto list = document.find("excluded");
  if (list == document.end() || !list->is_array()) return not_a_selection;
  std::vector<ExcludedDevice> all;
  for (const ExcludedJson& entry : *list) {
    auto excluded = parse_one(entry);
    // A device without a capability was never a candidate; it stays in the fleet, and is unknown there.
    if (excluded) all.push_back(std::move(*excluded));
  }
  return all;
}

Result<std::vector<ExcludedDevice>> read_excluded(const std::string& path) {
  ARCHGUARD_TRY(text, read_file_of_option("--excluded", path));
  return parse_excluded(text, text_file_name(path));
}

std::vector<ExcludedDevice> take_excluded(DeviceList& devices, const std::vector<ExcludedDevice>& excluded) {
  std::vector<ExcludedDevice> taken;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (is_excluded(devices.kind(i))) continue;
    const Device device = devices[i];
    const auto match = std::find_if(excluded.begin(), excluded.end(), [&](const ExcludedDevice& each) {
      return device.capability == each.capability && device.name == each.name && device.uuid == each.uuid &&
             device.driver_cuda == each.driver_cuda;
    });
    if (match == excluded.end()) continue;
    taken.push_back(*match);
    taken.back().count = device.count;
    indices.push_back(i);
  }
  devices.remove(indices);
  return taken;
}

}  // namespace archguard
