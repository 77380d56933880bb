#include "read_result.h"

#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/text.h"
#include "report/verify_json.h"
#include "report_files.h"
#include "result/verification_record.h"

namespace archguard {
namespace {

using ResultJson = nlohmann::json;

constexpr const char* kVerifySchema = "archguard.verify/1";

// Of a member; empty where it is none. Bytes that JSON cannot hold stand beside it as hexadecimal digits.
std::string text_member(const ResultJson& object, const std::string& key) {
  const auto bytes = object.find(key + "_bytes");
  if (bytes != object.end() &&
      bytes->is_string())  // what is no such digit makes another document of it: see below
    return bytes_of_hex(bytes->get_ref<const std::string&>()).value_or(std::string());
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Error cannot_read(const std::string& name, const std::string& what) {
  return {name, what, "write it with: archguard verify … --report json=FILE"};
}

// A device is one of its kind; the line of a fleet file stands behind that file's name.
bool take_device(const ResultJson& object, const std::vector<Device>& kinds, DeviceList& devices) {
  const auto kind = object.find("kind"), count = object.find("count");
  if (!object.is_object() || kind == object.end() || !kind->is_number_unsigned() || count == object.end() ||
      !count->is_number_integer() || kind->get<std::size_t>() >= kinds.size())
    return false;
  Device device = kinds[kind->get<std::size_t>()];
  device.name = text_member(object, "name");
  device.driver_version = text_member(object, "driver_version");
  device.uuid = text_member(object, "uuid");
  device.count = count->get<int>();
  if (const std::string host = text_member(object, "host"); !host.empty()) device.host = host;
  const std::string origin = text_member(object, "origin");
  std::uint64_t line = 0;
  if (origin != device.origin) {
    if (!starts_with(origin, device.origin + ":")) return false;
    const auto number = parse_number(std::string_view(origin).substr(device.origin.size() + 1), UINT32_MAX);
    if (!number) return false;
    line = *number;
  }
  devices.push_back(device, static_cast<std::size_t>(line));
  return true;
}

std::optional<Verification> rebuild(const ResultJson& document, ReadRecord read) {
  Verification verification = std::move(read.verification);
  const auto devices = document.find("devices"), files = document.find("files");
  if (devices == document.end() || !devices->is_array() || files == document.end() || !files->is_array())
    return std::nullopt;
  for (const ResultJson& device : *devices)
    if (!device.is_object() || !take_device(device, read.kinds, verification.devices)) return std::nullopt;
  verification.classes = classes_of(verification.devices);
  for (const ResultJson& each : *files) {
    if (!each.is_object()) return std::nullopt;
    auto file = read_file_record(text_member(each, "record"));
    if (!file || file->devices.size() != verification.classes.size()) return std::nullopt;
    verification.files.push_back(std::move(*file));
  }
  find_alternatives(verification, read.globs);
  return verification;
}

}  // namespace

Result<ResultPart> parse_result(const std::string& text, const std::string& name) {
  const ResultJson document = ResultJson::parse(text, nullptr, false);
  if (document.is_discarded()) return cannot_read(name, "is not JSON, or was cut");
  const std::string schema = document.is_object() ? text_member(document, "schema") : "";
  if (schema != kVerifySchema)
    return cannot_read(name,
                       "is no result of archguard verify" + (schema.empty() ? "" : ", but '" + schema + "'"));
  const std::string record = text_member(document, "record");
  const std::string version = version_of_record(record);
  if (version.empty())
    return cannot_read(name, "holds no record: another version of archguard wrote it, or another program");
  if (version != ARCHGUARD_VERSION)
    return cannot_read(name, "was written by archguard " + version + ", and this is " + ARCHGUARD_VERSION);
  const Error damaged = cannot_read(name, "is damaged: its record is not that of its results");
  auto read = read_record(record);
  if (!read) return damaged;
  const bool hint_scope = read->hint_scope;
  auto verification = rebuild(document, std::move(*read));
  if (!verification) return damaged;
  ReportOptions options;
  options.hint_scope = hint_scope;
  // Written again it says the same: nobody changed what stands beside the records.
  const std::string again = held_text(VerifyJson(*verification, with_record(options, *verification)));
  if (again != text && ResultJson::parse(again, nullptr, false) != document) return damaged;
  return ResultPart{name, std::move(*verification), hint_scope};
}

}  // namespace archguard
