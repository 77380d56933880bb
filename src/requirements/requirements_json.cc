#include "base/json.h"
#include "requirements/statement.h"

namespace archguard::requirements {
namespace {

const char* coverage_text(Coverage coverage) {
  switch (coverage) {
    case Coverage::covered:
      return "covered";
    case Coverage::not_covered:
      return "not-covered";
    case Coverage::unknown:
      break;
  }
  return "unknown";
}

void put_device(JsonWriter& json, const Served& device, bool newer) {
  json.begin_object(JsonLayout::packed);
  json.message_or_null("compute_capability", newer ? std::string() : to_string(device.capability));
  json.message("verdict", coverage_text(device.coverage));
  json.message_or_null("driver_cuda",
                       is_served(device) && device.driver_matters ? to_string(device.driver) : std::string());
  json.message_or_null("cause", device.why);
  json.end();
}

}  // namespace

std::string requirements_json(const Needs& needs, const std::vector<Statement>& statements,
                              const std::vector<std::string>& paths) {
  HeldText text;
  JsonWriter json(text);
  json.begin_object(JsonLayout::lines);
  json.message("schema", "archguard.requirements/1");
  json.texts("paths", paths, JsonLayout::packed);
  json.begin_list("devices");
  for (const Served& each : needs.devices) put_device(json, each, false);
  put_device(json, needs.newer, true);
  json.end();
  json.begin_list("statements");
  for (const Statement& each : statements) {
    json.begin_object(JsonLayout::lines);
    json.message("for", each.system);
    json.texts("lines", each.lines);
    json.message_or_null("none", each.none);
    json.message_or_null("fix", each.fix);
    json.texts("notes", each.notes);
    json.end();
  }
  json.end();
  json.end();
  return text.take();
}

}  // namespace archguard::requirements
