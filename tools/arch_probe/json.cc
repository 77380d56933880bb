#include "base/json.h"

#include "base/printable.h"
#include "commands.h"
#include "device/device_json.h"
#include "device_models.h"

namespace archguard {
namespace {

const char* name_of(ProbeStatus status) {
  return status == ProbeStatus::ok ? "ok" : status == ProbeStatus::none ? "none" : "failed";
}

std::vector<std::string> printable_each(std::vector<std::string> texts) {
  for (std::string& text : texts) text = printable(text);
  return texts;
}

template <class Value>
std::vector<std::string> texts_of(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(to_string(value));
  return texts;
}

// The documents. Their members stand in lines, and so do the elements of a list that people read; of these
// each is a row. A sentence is printable, since whoever reads the document may print it.
class ProbeJson {
 public:
  explicit ProbeJson(TextSink& sink) : json_(sink) {}

  void devices(const ProbeReport& report) {
    json_.begin_object(JsonLayout::lines);
    json_.message("schema", "archguard.devices/1");
    json_.message("status", name_of(report.probe.status));
    driver(report.probe);
    machine(report);
    json_.end();
  }

  void selection(const SelectReport& report) {
    json_.begin_object(JsonLayout::lines);
    json_.message("schema", "archguard.select/1");
    json_.message("status", name_of(report.probe.status));
    compiler(report.compiler);
    chosen(report.selection);
    excluded(report);
    excluded_models(report);
    json_.texts("toolkits_for_all", texts_of(report.selection.toolkits_for_all), JsonLayout::row);
    json_.message_or_null("toolkits_note", printable(report.selection.toolkits_note));
    json_.texts("warnings", printable_each(report.selection.warnings), JsonLayout::row);
    judged(report);
    missed(report);
    unmade(report.unmade);
    machine(report);
    json_.end();
  }

 private:
  void driver(const ProbeResult& probe) {
    json_.begin_object("driver", JsonLayout::row);
    json_.message_or_null("version", probe.driver_version);
    json_.known_or_null("cuda_version", probe.driver_cuda);
    json_.text_or_null("library", probe.library);
    json_.message_or_null("library_version", probe.library_version);
    json_.end();
  }

  void machine(const ProbeReport& report) {
    json_.begin_list("devices");
    for (std::size_t i = 0; i < report.devices.size(); ++i) {
      json_.begin_object(JsonLayout::row);
      write_members(report.devices[i], DeviceMembers::found, json_);
      json_.end();
    }
    json_.end();
    json_.begin_list("diagnostics");
    for (const Diagnostic& each : report.probe.diagnostics) diagnostic(each);
    json_.end();
    cache(report.probe);
  }

  void diagnostic(const Diagnostic& diagnostic) {
    json_.begin_object(JsonLayout::row);
    json_.message("stage", diagnostic.stage);
    if (diagnostic.code)
      json_.number("code", *diagnostic.code);
    else
      json_.null("code");
    json_.message_or_null("name", diagnostic.name);
    json_.message("cause", printable(diagnostic.cause));
    json_.message_or_null("fix", printable(diagnostic.fix));
    json_.end();
  }

  // Of an answer that may come from --cache: does it, and if not, why not. Null without that option.
  void cache(const ProbeResult& probe) {
    if (!probe.from_cache && probe.cache_dropped.empty()) return json_.null("cache");
    json_.begin_object("cache", JsonLayout::row);
    json_.flag("used", probe.from_cache);
    json_.message_or_null("reason", printable(probe.cache_dropped));
    json_.end();
  }

  void compiler(const Compiler& compiler) {
    json_.begin_object("toolkit", JsonLayout::row);
    json_.message("version", to_string(compiler.version));
    json_.text_or_null("nvcc", compiler.path);
    json_.message_or_null("clang", compiler.clang);
    json_.end();
  }

  void chosen(const Selection& selection) {
    json_.flag("baseline", selection.baseline);
    std::vector<std::string> architectures;
    for (const ChosenEntry& each : selection.entries) architectures.push_back(to_string(each.entry));
    json_.texts("architectures", architectures, JsonLayout::row);
    json_.begin_list("entries");
    for (const ChosenEntry& each : selection.entries) {
      json_.begin_object(JsonLayout::row);
      json_.message("arch", to_string(each.entry.arch));
      json_.message("kind", !each.entry.virtual_ ? "real" : !each.entry.real ? "virtual" : "both");
      json_.message("reason", printable(each.reason));
      json_.begin_list("devices");
      for (const std::size_t device : each.devices) json_.number_element(device);
      json_.end();
      json_.end();
    }
    json_.end();
  }

  // The devices that this compiler cannot support. One that is hidden, or that its fleet excludes, is none of
  // them: it stands in "devices" alone, so that nobody takes an equal GPU that is to be served for left out.
  void excluded(const SelectReport& report) {
    const DeviceList& devices = report.devices;
    json_.begin_list("excluded");
    for (const std::size_t i : report.selection.excluded) {
      if (!is_wanted(devices.kind(i))) continue;
      const Exclusion& why = report.selection.why_excluded[devices.kind_number(i)];
      const Device device = devices[i];
      json_.begin_object(JsonLayout::row);
      json_.begin_object("device");
      write_members(device, DeviceMembers::found, json_);
      json_.end();
      json_.message_or_null("device_name", printable(device.name));
      json_.number("index", i);
      json_.message("reason", printable(why.reason));
      json_.known_or_null("first_toolkit", why.first_toolkit);
      json_.known_or_null("last_toolkit", why.last_toolkit);
      json_.end();
    }
    json_.end();
  }

  // The same by models, for those who tell of them.
  void excluded_models(const SelectReport& report) {
    json_.begin_list("excluded_models");
    for (const LeftOutModel& each : left_out_models(report).models) {
      if (!is_wanted(each.first)) continue;
      json_.begin_object(JsonLayout::row);
      json_.message("device", describe(each.first) + more_like_it(each.count));
      json_.flag("has_capability", each.first.capability.has_value());
      json_.number("count", each.count);
      json_.message("reason", printable(each.reason));
      json_.end();
    }
    json_.end();
  }

  void judged(const SelectReport& report) {
    const DeviceList& devices = report.devices;
    json_.begin_list("judged");
    for (std::size_t i = 0; i < devices.size() && !report.judged.empty(); ++i) {
      if (!is_wanted(devices.kind(i))) continue;
      const ListJudgement& judgement = report.judged[devices.kind_number(i)];
      json_.begin_object(JsonLayout::row);
      json_.message("device", describe(devices[i]));
      json_.number("index", i);
      json_.message("verdict", to_string(judgement.verdict));
      json_.number("code", judgement.code);
      json_.message("reason", printable(judgement.reason));
      json_.message("fix", printable(judgement.fix));
      json_.message("advice", printable(judgement.advice));
      json_.end();
    }
    json_.end();
  }

  // The same by models, without those that the list covers.
  void missed(const SelectReport& report) {
    json_.begin_list("missed_models");
    for (const MissedModel& each : missed_models(report)) {
      json_.begin_object(JsonLayout::row);
      json_.message("device", describe(each.first) + more_like_it(each.count));
      json_.number("count", each.count);
      json_.message("verdict", to_string(each.judgement->verdict));
      json_.number("code", each.judgement->code);
      json_.message("reason", printable(each.judgement->reason));
      json_.message("fix", printable(each.judgement->fix));
      json_.message("advice", printable(each.judgement->advice));
      json_.end();
    }
    json_.end();
  }

  void unmade(const std::vector<UnmadeEntry>& entries) {
    json_.begin_list("unmade");
    for (const UnmadeEntry& each : entries) {
      json_.begin_object(JsonLayout::row);
      json_.message("entry", to_string(each.entry));
      json_.message("reason", printable(each.reason));
      json_.end();
    }
    json_.end();
  }

  JsonWriter json_;
};

}  // namespace

void write_devices_json(const ProbeReport& report, TextSink& sink) {
  ProbeJson(sink).devices(report);
}

void SelectionJson::write_to(TextSink& sink) const {
  ProbeJson(sink).selection(report_);
}

}  // namespace archguard
