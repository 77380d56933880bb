#include "base/printable.h"
#include "base/text.h"
#include "commands.h"

namespace archguard {
namespace {

// Collects the members of an object on one line; their values are JSON text.
class JsonObject {
 public:
  JsonObject& add(std::string_view key, std::string_view value) {
    if (!members_.empty()) members_ += ", ";
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

 private:
  std::string members_;
};

// A document, one member a line, which is written as it is made.
class JsonDocument {
 public:
  explicit JsonDocument(TextSink& sink) : sink_(sink) {}
  void add(std::string_view key, std::string_view value) {
    sink_.write(separator_ + json_quote(key) + ": ");
    sink_.write(value);
    separator_ = ",\n  ";
  }
  // A list that people read, one element a line.
  void begin_list(std::string_view key) {
    add(key, "[");
    any_ = false;
  }
  void add_element(const std::string& element) {
    sink_.write((any_ ? ",\n    " : "\n    ") + element);
    any_ = true;
  }
  void end_list() { sink_.write(any_ ? "\n  ]" : "]"); }
  void end() { sink_.write("\n}\n"); }

 private:
  TextSink& sink_;
  std::string separator_ = "{\n  ";
  bool any_ = false;  // the list that is being written has an element
};

std::string json_array(const std::vector<std::string>& elements) {
  return "[" + join(elements, ", ") + "]";
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

std::string json_status(ProbeStatus status) {
  return status == ProbeStatus::ok ? "\"ok\"" : status == ProbeStatus::none ? "\"none\"" : "\"failed\"";
}

std::string json_diagnostic(const Diagnostic& diagnostic) {
  return JsonObject()
      .add("stage", json_quote(diagnostic.stage))
      .add("code", diagnostic.code ? std::to_string(*diagnostic.code) : "null")
      .add("name", json_text_or_null(diagnostic.name))
      .add("cause", json_message(diagnostic.cause))
      .add("fix", json_printable_or_null(diagnostic.fix))
      .text();
}

// Of an answer that may come from --cache: does it, and if not, why not. Null without that option.
std::string json_cache(const ProbeResult& probe) {
  if (!probe.from_cache && probe.cache_dropped.empty()) return "null";
  return JsonObject()
      .add("used", json_bool(probe.from_cache))
      .add("reason", json_printable_or_null(probe.cache_dropped))
      .text();
}

std::string json_entry(const ChosenEntry& chosen) {
  const char* kind = !chosen.entry.virtual_ ? "real" : !chosen.entry.real ? "virtual" : "both";
  std::string devices;
  for (const std::size_t device : chosen.devices)
    devices.append(devices.empty() ? "" : ", ").append(std::to_string(device));
  return JsonObject()
      .add("arch", json_quote(to_string(chosen.entry.arch)))
      .add("kind", json_quote(kind))
      .add("reason", json_message(chosen.reason))
      .add("devices", "[" + devices + "]")
      .text();
}

std::string json_excluded(std::size_t index, const Device& device, const Exclusion& why) {
  return JsonObject()
      .add("device", json_device(device))
      .add("device_name", json_printable_or_null(device.name))
      .add("index", std::to_string(index))
      .add("reason", json_message(why.reason))
      .add("first_toolkit", json_known_or_null(why.first_toolkit))
      .add("last_toolkit", json_known_or_null(why.last_toolkit))
      .text();
}

std::string json_judged(std::size_t index, const Device& device, const ListJudgement& judgement) {
  return JsonObject()
      .add("device", json_quote(describe(device)))
      .add("index", std::to_string(index))
      .add("verdict", json_quote(to_string(judgement.verdict)))
      .add("code", std::to_string(judgement.code))
      .add("reason", json_message(judgement.reason))
      .add("fix", json_message(judgement.fix))
      .text();
}

std::string json_unmade(const UnmadeEntry& unmade) {
  return JsonObject()
      .add("entry", json_quote(to_string(unmade.entry)))
      .add("reason", json_message(unmade.reason))
      .text();
}

void add_devices(const ProbeReport& report, JsonDocument& document) {
  document.begin_list("devices");
  for (std::size_t i = 0; i < report.devices.size(); ++i)
    document.add_element(json_device(report.devices[i]));
  document.end_list();
  document.begin_list("diagnostics");
  for (const Diagnostic& each : report.probe.diagnostics) document.add_element(json_diagnostic(each));
  document.end_list();
  document.add("cache", json_cache(report.probe));
}

// The devices that this compiler cannot serve. One that is hidden, or that its fleet excludes, is none of
// them: it stands in "devices" alone, so that nobody takes an equal GPU that is to be served for left out.
void add_excluded(const SelectReport& report, JsonDocument& document) {
  const DeviceList& devices = report.devices;
  document.begin_list("excluded");
  for (const std::size_t i : report.selection.excluded)
    if (is_wanted(devices.kind(i)))
      document.add_element(
          json_excluded(i, devices[i], report.selection.why_excluded[devices.kind_number(i)]));
  document.end_list();
}

void add_judged(const SelectReport& report, JsonDocument& document) {
  const DeviceList& devices = report.devices;
  document.begin_list("judged");
  for (std::size_t i = 0; i < devices.size() && !report.judged.empty(); ++i)
    if (is_wanted(devices.kind(i)))
      document.add_element(json_judged(i, devices[i], report.judged[devices.kind_number(i)]));
  document.end_list();
}

}  // namespace

void write_devices_json(const ProbeReport& report, TextSink& sink) {
  const ProbeResult& probe = report.probe;
  JsonObject driver;
  driver.add("version", json_text_or_null(probe.driver_version))
      .add("cuda_version", json_known_or_null(probe.driver_cuda))
      .add_text("library", probe.library)
      .add("library_version", json_text_or_null(probe.library_version));
  JsonDocument document(sink);
  document.add("schema", "\"archguard.devices/1\"");
  document.add("status", json_status(probe.status));
  document.add("driver", driver.text());
  add_devices(report, document);
  document.end();
}

void SelectionJson::write_to(TextSink& sink) const {
  const Selection& selection = report_.selection;
  std::vector<std::string> architectures, toolkits;
  for (const auto& chosen : selection.entries) architectures.push_back(to_string(chosen.entry));
  for (const Version version : selection.toolkits_for_all) toolkits.push_back(to_string(version));
  JsonObject toolkit;
  toolkit.add("version", json_quote(to_string(report_.compiler.version)))
      .add_text("nvcc", report_.compiler.path)
      .add("clang", json_text_or_null(report_.compiler.clang));
  JsonDocument document(sink);
  document.add("schema", "\"archguard.select/1\"");
  document.add("status", json_status(report_.probe.status));
  document.add("toolkit", toolkit.text());
  document.add("baseline", json_bool(selection.baseline));
  document.add("architectures", json_strings(architectures));
  document.begin_list("entries");
  for (const ChosenEntry& chosen : selection.entries) document.add_element(json_entry(chosen));
  document.end_list();
  add_excluded(report_, document);
  document.add("toolkits_for_all", json_strings(toolkits));
  document.add("toolkits_note", json_printable_or_null(selection.toolkits_note));
  document.add("warnings", json_messages(selection.warnings));
  add_judged(report_, document);
  document.begin_list("unmade");
  for (const UnmadeEntry& unmade : report_.unmade) document.add_element(json_unmade(unmade));
  document.end_list();
  add_devices(report_, document);
  document.end();
}

}  // namespace archguard
