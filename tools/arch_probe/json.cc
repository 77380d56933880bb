#include "base/printable.h"
#include "base/text.h"
#include "commands.h"

namespace archguard {
namespace {

// Collects the members of an object, whose values are JSON text: on one line, or, for a document, one a line.
class JsonObject {
 public:
  explicit JsonObject(bool document = false) : separator_(document ? ",\n  " : ", ") {}
  JsonObject& add(std::string_view key, std::string_view value) {
    if (!members_.empty()) members_ += separator_;
    members_.append(json_quote(key)).append(": ").append(value);
    return *this;
  }
  // A text of others: what JSON cannot hold of it stands beside it.
  JsonObject& add_text(std::string_view key, const std::string& text, bool null_if_empty = true) {
    add(key, text.empty() && null_if_empty ? "null" : json_quote(text));
    const auto bytes = bytes_beside(text);
    return bytes ? add(std::string(key) + "_bytes", json_quote(*bytes)) : *this;
  }
  std::string text() const { return "{" + members_ + "}"; }
  std::string document_text() const { return "{\n  " + members_ + "\n}\n"; }

 private:
  const char* separator_;
  std::string members_;
};

std::string json_array(const std::vector<std::string>& elements) {
  return "[" + join(elements, ", ") + "]";
}

// One element a line, for the lists that people read.
std::string json_lines(const std::vector<std::string>& elements) {
  return elements.empty() ? "[]" : "[\n    " + join(elements, ",\n    ") + "\n  ]";
}

std::string json_text_or_null(const std::string& text) {
  return text.empty() ? "null" : json_quote(text);
}

template <class Value>
std::string json_known_or_null(const std::optional<Value>& value) {
  return value ? json_quote(to_string(*value)) : "null";
}

// A sentence, which whoever reads the document may print.
std::string json_message(const std::string& text) {
  return json_quote(printable(text));
}

std::string json_bool(bool value) {
  return value ? "true" : "false";
}

std::string json_strings(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const auto& text : texts) quoted.push_back(json_quote(text));
  return json_array(quoted);
}

std::string json_printable_or_null(const std::string& text) {
  return text.empty() ? "null" : json_message(text);
}

std::string json_messages(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const auto& text : texts) quoted.push_back(json_message(text));
  return json_array(quoted);
}

std::string json_map(const std::map<std::string, std::string>& map) {
  JsonObject object;
  for (const auto& [key, value] : map) object.add_text(key, value, false);
  return object.text();
}

std::string json_device(const Device& device) {
  JsonObject object;
  object.add_text("name", device.name)
      .add("compute_capability", json_known_or_null(device.capability))
      .add_text("driver_version", device.driver_version)
      .add("driver_cuda", json_known_or_null(device.driver_cuda))
      .add_text("uuid", device.uuid)
      .add_text("pci_bus_id", device.pci_bus_id)
      .add("visible", json_bool(device.visible))
      .add_text("excluded", device.excluded)
      .add("mig", json_bool(device.mig))
      .add("count", std::to_string(device.count))
      .add_text("host", device.host.value_or(""))
      .add_text("origin", device.origin, false)
      .add("source", json_map(device.source));
  if (!device.extra.empty()) object.add("extra", json_map(device.extra));
  return object.text();
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
    elements.push_back(JsonObject()
                           .add("stage", json_quote(each.stage))
                           .add("code", each.code ? std::to_string(*each.code) : "null")
                           .add("name", json_text_or_null(each.name))
                           .add("cause", json_message(each.cause))
                           .add("fix", json_printable_or_null(each.fix))
                           .text());
  return json_lines(elements);
}

// Of an answer that may come from --cache: does it, and if not, why not. Null without that option.
std::string json_cache(const ProbeResult& probe) {
  if (!probe.from_cache && probe.cache_dropped.empty()) return "null";
  return JsonObject()
      .add("used", json_bool(probe.from_cache))
      .add("reason", json_printable_or_null(probe.cache_dropped))
      .text();
}

std::string json_entries(const std::vector<ChosenEntry>& entries) {
  std::vector<std::string> elements;
  for (const auto& chosen : entries) {
    const char* kind = !chosen.entry.virtual_ ? "real" : !chosen.entry.real ? "virtual" : "both";
    std::vector<std::string> devices;
    for (const std::size_t device : chosen.devices) devices.push_back(std::to_string(device));
    elements.push_back(JsonObject()
                           .add("arch", json_quote(to_string(chosen.entry.arch)))
                           .add("kind", json_quote(kind))
                           .add("reason", json_message(chosen.reason))
                           .add("devices", json_array(devices))
                           .text());
  }
  return json_lines(elements);
}

// The devices that this compiler cannot serve. One that is hidden, or that its fleet excludes, is none of
// them: it stands in "devices" alone, so that nobody takes an equal GPU that is to be served for left out.
std::string json_excluded(const SelectReport& report) {
  std::vector<std::string> elements;
  for (const auto& excluded : report.selection.excluded) {
    if (!is_wanted(report.probe.devices[excluded.device])) continue;
    elements.push_back(
        JsonObject()
            .add("device", json_device(report.probe.devices[excluded.device]))
            .add("device_name", json_printable_or_null(report.probe.devices[excluded.device].name))
            .add("index", std::to_string(excluded.device))
            .add("reason", json_message(excluded.reason))
            .add("first_toolkit", json_known_or_null(excluded.first_toolkit))
            .add("last_toolkit", json_known_or_null(excluded.last_toolkit))
            .text());
  }
  return json_lines(elements);
}

std::string json_judged(const SelectReport& report) {
  std::vector<std::string> elements;
  for (const auto& judged : report.judged)
    elements.push_back(JsonObject()
                           .add("device", json_quote(describe(report.probe.devices[judged.device])))
                           .add("index", std::to_string(judged.device))
                           .add("verdict", json_quote(to_string(judged.verdict)))
                           .add("code", std::to_string(judged.code))
                           .add("reason", json_message(judged.reason))
                           .add("fix", json_message(judged.fix))
                           .text());
  return json_lines(elements);
}

std::string json_unmade(const SelectReport& report) {
  std::vector<std::string> elements;
  for (const auto& unmade : report.unmade)
    elements.push_back(JsonObject()
                           .add("entry", json_quote(to_string(unmade.entry)))
                           .add("reason", json_message(unmade.reason))
                           .text());
  return json_lines(elements);
}

}  // namespace

std::string devices_json(const ProbeResult& probe) {
  JsonObject driver, document(true);
  driver.add("version", json_text_or_null(probe.driver_version))
      .add("cuda_version", json_known_or_null(probe.driver_cuda))
      .add_text("library", probe.library)
      .add("library_version", json_text_or_null(probe.library_version));
  return document.add("schema", "\"archguard.devices/1\"")
      .add("status", json_status(probe.status))
      .add("driver", driver.text())
      .add("devices", json_devices(probe.devices))
      .add("diagnostics", json_diagnostics(probe.diagnostics))
      .add("cache", json_cache(probe))
      .document_text();
}

std::string selection_json(const SelectReport& report) {
  std::vector<std::string> architectures, toolkits;
  for (const auto& chosen : report.selection.entries) architectures.push_back(to_string(chosen.entry));
  for (const Version version : report.selection.toolkits_for_all) toolkits.push_back(to_string(version));
  JsonObject toolkit, document(true);
  toolkit.add("version", json_quote(to_string(report.compiler.version)))
      .add_text("nvcc", report.compiler.path)
      .add("clang", json_text_or_null(report.compiler.clang));
  return document.add("schema", "\"archguard.select/1\"")
      .add("status", json_status(report.probe.status))
      .add("toolkit", toolkit.text())
      .add("baseline", json_bool(report.selection.baseline))
      .add("architectures", json_strings(architectures))
      .add("entries", json_entries(report.selection.entries))
      .add("excluded", json_excluded(report))
      .add("toolkits_for_all", json_strings(toolkits))
      .add("toolkits_note", json_printable_or_null(report.selection.toolkits_note))
      .add("warnings", json_messages(report.selection.warnings))
      .add("judged", json_judged(report))
      .add("unmade", json_unmade(report))
      .add("devices", json_devices(report.probe.devices))
      .add("diagnostics", json_diagnostics(report.probe.diagnostics))
      .add("cache", json_cache(report.probe))
      .document_text();
}

}  // namespace archguard
