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
  explicit JsonDocument(const TextSink& sink) : sink_(sink) {}
  JsonDocument& add(std::string_view key, std::string_view value) {
    sink_(separator_ + json_quote(key) + ": ");
    sink_(value);
    separator_ = ",\n  ";
    return *this;
  }
  // A list that people read, one element a line: `text` makes each.
  template <class List, class Text>
  JsonDocument& add_lines(std::string_view key, const List& list, Text text) {
    add(key, "[");
    bool any = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string element = text(list[i]);
      if (element.empty()) continue;  // left out
      sink_(any ? ",\n    " : "\n    ");
      sink_(element);
      any = true;
    }
    sink_(any ? "\n  ]" : "]");
    return *this;
  }
  void end() { sink_("\n}\n"); }

 private:
  const TextSink& sink_;
  std::string separator_ = "{\n  ";
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

// A device that this compiler cannot serve. One that is hidden, or that its fleet excludes, is none of
// them: it stands in "devices" alone, so that nobody takes an equal GPU that is to be served for left out.
std::string json_excluded(const DeviceList& devices, const ExcludedDevice& excluded) {
  if (!is_wanted(devices.kind(excluded.device))) return {};
  const Device device = devices[excluded.device];
  return JsonObject()
      .add("device", json_device(device))
      .add("device_name", json_printable_or_null(device.name))
      .add("index", std::to_string(excluded.device))
      .add("reason", json_message(excluded.why->reason))
      .add("first_toolkit", json_known_or_null(excluded.why->first_toolkit))
      .add("last_toolkit", json_known_or_null(excluded.why->last_toolkit))
      .text();
}

std::string json_judged(const DeviceList& devices, const JudgedDevice& judged) {
  const ListJudgement& judgement = *judged.judgement;
  return JsonObject()
      .add("device", json_quote(describe(devices[judged.device])))
      .add("index", std::to_string(judged.device))
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

}  // namespace

TextSource devices_json(const ProbeReport& report) {
  return [&report](const TextSink& sink) {
    const ProbeResult& probe = report.probe;
    JsonObject driver;
    driver.add("version", json_text_or_null(probe.driver_version))
        .add("cuda_version", json_known_or_null(probe.driver_cuda))
        .add_text("library", probe.library)
        .add("library_version", json_text_or_null(probe.library_version));
    JsonDocument(sink)
        .add("schema", "\"archguard.devices/1\"")
        .add("status", json_status(probe.status))
        .add("driver", driver.text())
        .add_lines("devices", report.devices, json_device)
        .add_lines("diagnostics", probe.diagnostics, json_diagnostic)
        .add("cache", json_cache(probe))
        .end();
  };
}

TextSource selection_json(const SelectReport& report) {
  return [&report](const TextSink& sink) {
    const Selection& selection = report.selection;
    std::vector<std::string> architectures, toolkits;
    for (const auto& chosen : selection.entries) architectures.push_back(to_string(chosen.entry));
    for (const Version version : selection.toolkits_for_all) toolkits.push_back(to_string(version));
    JsonObject toolkit;
    toolkit.add("version", json_quote(to_string(report.compiler.version)))
        .add_text("nvcc", report.compiler.path)
        .add("clang", json_text_or_null(report.compiler.clang));
    JsonDocument(sink)
        .add("schema", "\"archguard.select/1\"")
        .add("status", json_status(report.probe.status))
        .add("toolkit", toolkit.text())
        .add("baseline", json_bool(selection.baseline))
        .add("architectures", json_strings(architectures))
        .add_lines("entries", selection.entries, json_entry)
        .add_lines("excluded", selection.excluded,
                   [&](const ExcludedDevice& each) { return json_excluded(report.devices, each); })
        .add("toolkits_for_all", json_strings(toolkits))
        .add("toolkits_note", json_printable_or_null(selection.toolkits_note))
        .add("warnings", json_messages(selection.warnings))
        .add_lines("judged", report.judged,
                   [&](const JudgedDevice& each) { return json_judged(report.devices, each); })
        .add_lines("unmade", report.unmade, json_unmade)
        .add_lines("devices", report.devices, json_device)
        .add_lines("diagnostics", report.probe.diagnostics, json_diagnostic)
        .add("cache", json_cache(report.probe))
        .end();
  };
}

}  // namespace archguard
