#include "base/json.h"
#include "device/device_json.h"
#include "doctor/doctor_report.h"

namespace archguard::doctor {
namespace {

void write_finding(const Finding& finding, JsonWriter& json) {
  json.begin_object(JsonLayout::packed);
  json.message("id", name_of(finding.id));
  json.message("rank", name_of(finding.rank));
  if (finding.package) {
    json.begin_object("package");
    json.text("name", finding.package->name);
    json.text_or_null("version", finding.package->version);
    json.message("owner", archguard::name_of(finding.package->manager));
    json.end();
  } else {
    json.null("package");
  }
  if (finding.code != 0)
    json.number("code", finding.code);
  else
    json.null("code");
  json.text("cause", finding.cause);
  json.texts("evidence", finding.evidence);
  json.text_or_null("fix", finding.fix);
  json.end();
}

}  // namespace

void write_doctor_json(const Diagnosis& diagnosis, const ReportWords&, const Style&, TextSink& sink) {
  JsonWriter json(sink);
  json.begin_object(JsonLayout::packed);
  json.message("schema", "archguard.doctor/1");
  json.message("verdict", name_of(diagnosis.answer));
  json.begin_list("devices", JsonLayout::packed_lines);
  for (const Device& device : diagnosis.devices) {
    json.begin_object(JsonLayout::packed);
    write_members(device, DeviceMembers::found, json);
    json.end();
  }
  json.end();
  json.begin_list("findings", JsonLayout::packed_lines);
  for (const Finding& finding : diagnosis.findings) write_finding(finding, json);
  json.end();
  json.begin_list("checked", JsonLayout::packed_lines);
  for (const Checked& each : diagnosis.checked) {
    json.begin_object(JsonLayout::packed);
    json.message("id", name_of(each.id));
    json.message("what", each.what);
    json.number("count", each.count);
    json.end();
  }
  json.end();
  json.begin_list("told", JsonLayout::packed_lines);
  for (const Told& told : diagnosis.told) {
    json.begin_object(JsonLayout::packed);
    json.message("id", told.id);
    if (told.code != 0)
      json.number("code", told.code);
    else
      json.null("code");
    json.text("meaning", told.meaning);
    json.end();
  }
  json.end();
  json.texts("environments", diagnosis.environments, JsonLayout::packed);
  json.begin_list("unread", JsonLayout::packed_lines);
  for (const Error& error : diagnosis.unread) {
    json.begin_object(JsonLayout::packed);
    json.text_or_null("where", error.where);
    json.text("what", error.what);
    json.text_or_null("fix", error.fix);
    json.end();
  }
  json.end();
  json.begin_object("versions", JsonLayout::packed);
  for (const auto& [name, version] : diagnosis.versions) json.text(name, version);
  json.end();
  json.end();
  sink.flush();
}

}  // namespace archguard::doctor
