#include "base/text.h"
#include "commands.h"

namespace archguard {
namespace {

using JsonMembers = std::vector<std::pair<std::string, std::string>>;  // key → JSON text

std::string json_object(const JsonMembers& members) {
  std::string text;
  for (const auto& [key, value] : members)
    text += (text.empty() ? "" : ", ") + json_quote(key) + ": " + value;
  return "{" + text + "}";
}

std::string json_array(const std::vector<std::string>& elements) {
  return "[" + join(elements, ", ") + "]";
}

// One element a line, for the lists that people read.
std::string json_lines(const std::vector<std::string>& elements) {
  return elements.empty() ? "[]" : "[\n    " + join(elements, ",\n    ") + "\n  ]";
}

std::string json_document(const JsonMembers& members) {
  std::string text;
  for (const auto& [key, value] : members)
    text += (text.empty() ? "" : ",") + ("\n  " + json_quote(key) + ": ") + value;
  return "{" + text + "\n}\n";
}

std::string json_text_or_null(const std::string& text) {
  return text.empty() ? "null" : json_quote(text);
}

template <class Value>
std::string json_known_or_null(const std::optional<Value>& value) {
  return value ? json_quote(to_string(*value)) : "null";
}

std::string json_bool(bool value) {
  return value ? "true" : "false";
}

std::string json_strings(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const auto& text : texts) quoted.push_back(json_quote(text));
  return json_array(quoted);
}

std::string json_map(const std::map<std::string, std::string>& map) {
  JsonMembers members;
  for (const auto& [key, value] : map) members.emplace_back(key, json_quote(value));
  return json_object(members);
}

std::string json_device(const Device& device) {
  JsonMembers members = {{"name", json_text_or_null(device.name)},
                         {"compute_capability", json_known_or_null(device.capability)},
                         {"driver_version", json_text_or_null(device.driver_version)},
                         {"driver_cuda", json_known_or_null(device.driver_cuda)},
                         {"uuid", json_text_or_null(device.uuid)},
                         {"pci_bus_id", json_text_or_null(device.pci_bus_id)},
                         {"visible", json_bool(device.visible)},
                         {"mig", json_bool(device.mig)},
                         {"count", std::to_string(device.count)},
                         {"host", device.host ? json_quote(*device.host) : "null"},
                         {"origin", json_quote(device.origin)},
                         {"source", json_map(device.source)}};
  if (!device.extra.empty()) members.emplace_back("extra", json_map(device.extra));
  return json_object(members);
}

std::string json_devices(const std::vector<Device>& devices) {
  std::vector<std::string> elements;
  for (const auto& device : devices) elements.push_back(json_device(device));
  return json_lines(elements);
}

std::string json_status(ProbeStatus status) {
  return status == ProbeStatus::ok ? "\"ok\"" : status == ProbeStatus::none ? "\"none\"" : "\"failed\"";
}

std::string json_diagnostics(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> elements;
  for (const auto& each : diagnostics)
    elements.push_back(json_object({{"stage", json_quote(each.stage)},
                                    {"code", each.code ? std::to_string(*each.code) : "null"},
                                    {"name", json_text_or_null(each.name)},
                                    {"cause", json_quote(each.cause)},
                                    {"fix", json_text_or_null(each.fix)}}));
  return json_lines(elements);
}

std::string json_entries(const std::vector<ChosenEntry>& entries) {
  std::vector<std::string> elements;
  for (const auto& chosen : entries) {
    const char* kind = !chosen.entry.virtual_ ? "real" : !chosen.entry.real ? "virtual" : "both";
    std::vector<std::string> devices;
    for (const std::size_t device : chosen.devices) devices.push_back(std::to_string(device));
    elements.push_back(json_object({{"arch", json_quote(to_string(chosen.entry.arch))},
                                    {"kind", json_quote(kind)},
                                    {"reason", json_quote(chosen.reason)},
                                    {"devices", json_array(devices)}}));
  }
  return json_lines(elements);
}

// The devices that this compiler cannot serve. A hidden one is none of them: it stands in "devices" alone, so
// that nobody takes an equal GPU that is to be served for left out.
std::string json_excluded(const SelectReport& report) {
  std::vector<std::string> elements;
  for (const auto& excluded : report.selection.excluded) {
    if (!report.probe.devices[excluded.device].visible) continue;
    elements.push_back(json_object({{"device", json_device(report.probe.devices[excluded.device])},
                                    {"index", std::to_string(excluded.device)},
                                    {"reason", json_quote(excluded.reason)},
                                    {"first_toolkit", json_known_or_null(excluded.first_toolkit)},
                                    {"last_toolkit", json_known_or_null(excluded.last_toolkit)}}));
  }
  return json_lines(elements);
}

std::string json_judged(const SelectReport& report) {
  std::vector<std::string> elements;
  for (const auto& judged : report.judged)
    elements.push_back(json_object({{"device", json_quote(describe(report.probe.devices[judged.device]))},
                                    {"index", std::to_string(judged.device)},
                                    {"verdict", json_quote(to_string(judged.verdict))},
                                    {"code", std::to_string(judged.code)},
                                    {"reason", json_quote(judged.reason)},
                                    {"fix", json_quote(judged.fix)}}));
  return json_lines(elements);
}

}  // namespace

std::string devices_json(const ProbeResult& probe) {
  return json_document(
      {{"schema", json_quote("archguard.devices/1")},
       {"status", json_status(probe.status)},
       {"driver", json_object({{"version", json_text_or_null(probe.driver_version)},
                               {"cuda_version", json_known_or_null(probe.driver_cuda)},
                               {"library", json_text_or_null(probe.library)},
                               {"library_version", json_text_or_null(probe.library_version)}})},
       {"devices", json_devices(probe.devices)},
       {"diagnostics", json_diagnostics(probe.diagnostics)}});
}

std::string selection_json(const SelectReport& report) {
  std::vector<std::string> architectures, toolkits;
  for (const auto& chosen : report.selection.entries) architectures.push_back(to_string(chosen.entry));
  for (const Version version : report.selection.toolkits_for_all) toolkits.push_back(to_string(version));
  return json_document({{"schema", json_quote("archguard.select/1")},
                        {"status", json_status(report.probe.status)},
                        {"toolkit", json_object({{"version", json_quote(to_string(report.compiler.version))},
                                                 {"nvcc", json_text_or_null(report.compiler.path)}})},
                        {"baseline", json_bool(report.selection.baseline)},
                        {"architectures", json_strings(architectures)},
                        {"entries", json_entries(report.selection.entries)},
                        {"excluded", json_excluded(report)},
                        {"toolkits_for_all", json_strings(toolkits)},
                        {"warnings", json_strings(report.selection.warnings)},
                        {"judged", json_judged(report)},
                        {"devices", json_devices(report.probe.devices)},
                        {"diagnostics", json_diagnostics(report.probe.diagnostics)}});
}

}  // namespace archguard
