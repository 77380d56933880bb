#include "report/verify_json.h"

#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "compat/rules.h"
#include "report/names.h"

namespace archguard {
namespace {

using Json = nlohmann::ordered_json;

// Bytes that are not UTF-8 (a path, a kernel's name) are replaced when the document is written. They stand
// beside then: of "path" in "path_bytes", of a list of texts in a list that has null for those that are
// whole.
Json bytes_of(const Json& value) {
  if (value.is_string()) {
    const auto bytes = bytes_beside(value.get_ref<const std::string&>());
    return bytes ? Json(*bytes) : Json(nullptr);
  }
  if (!value.is_array()) return nullptr;
  bool any = false;
  Json all = Json::array();
  for (const Json& each : value) {
    if (!each.is_string()) return nullptr;
    all.push_back(bytes_of(each));
    any = any || !all.back().is_null();
  }
  return any ? std::move(all) : Json(nullptr);
}

void add_bytes(Json& json) {
  std::vector<std::pair<std::string, Json>> added;
  for (auto each = json.begin(); each != json.end(); ++each) {
    Json& value = *each;
    if (json.is_object())
      if (Json bytes = bytes_of(value); !bytes.is_null())
        added.emplace_back(each.key() + "_bytes", std::move(bytes));
    if (value.is_structured()) add_bytes(value);
  }
  for (auto& [key, bytes] : added) json[key] = std::move(bytes);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(to_string(*value)) : Json(nullptr);
}

Json to_json(const Device& device) {
  return {{"name", text_or_null(device.name)},
          {"compute_capability", or_null(device.capability)},
          {"beyond_table", device.capability && is_beyond_table(*device.capability)},
          {"driver_version", text_or_null(device.driver_version)},
          {"driver_cuda", or_null(device.driver_cuda)},
          {"uuid", text_or_null(device.uuid)},
          {"visible", device.visible},
          {"excluded", text_or_null(device.excluded)},
          {"count", device.count},
          {"host", device.host ? Json(*device.host) : Json(nullptr)},
          {"origin", device.origin}};
}

Json to_json(const Excluded& excluded) {
  return {{"name", excluded.name},
          {"compute_capability", to_string(excluded.capability)},
          {"reason", excluded.reason},
          {"first_toolkit", or_null(excluded.first_toolkit)},
          {"last_toolkit", or_null(excluded.last_toolkit)}};
}

Json to_json(const ContainerPlace& place) {
  return {{"offset", place.offset}, {"section", place.section}, {"member", text_or_null(place.member)}};
}

Json to_json(const Failure& failure) {
  Json containers = Json::array();
  for (const ContainerPlace& place : failure.places) containers.push_back(to_json(place));
  return {{"code", failure.code == 0 || !failure.numbered ? Json(nullptr) : Json(failure.code)},
          {"count", failure.places.size()},
          {"unknown", failure.unknown},
          {"cause", failure.reason},
          {"found", failure.found},
          {"fix", failure.fix},
          {"containers", std::move(containers)}};
}

Json to_json(const std::optional<Partly>& partly) {
  if (!partly) return nullptr;
  return {{"kernels", partly->kernels},
          {"best", partly->best},
          {"best_compute_capability", to_string(partly->best_device)},
          {"clear", partly->clear},
          {"compiles_at_run_time", partly->compiles_at_run_time}};
}

Json to_json(const std::optional<OtherOrder>& other) {
  if (!other) return nullptr;
  return {{"containers", other->containers}, {"where", other->where}, {"text", other->text}};
}

Json to_json(const EmbeddedResult& embedded) {
  if (embedded.total == 0) return nullptr;
  return {{"images", embedded.total},
          {"fitting", embedded.fitting},
          {"unknown", embedded.unknown},
          {"verdict", !embedded.lacking()    ? "covered"
                      : embedded.undecided() ? "unknown"
                                             : "not-covered"},
          {"without", embedded.without},
          {"cause", text_or_null(embedded.reason)}};
}

Json to_json(std::size_t device, const DeviceResult& result) {
  const ContainerCounts& counts = result.containers;
  Json errors = Json::array();
  for (const Failure& failure : result.failures) errors.push_back(to_json(failure));
  return {{"device", device},
          {"verdict", name_of(result.coverage)},
          {"containers",
           {{"total", counts.total},
            {"specific", counts.specific},
            {"sass", counts.sass},
            {"jit", counts.jit},
            {"linked_at_load", counts.linked_at_load},
            {"uncovered", counts.uncovered},
            {"unknown", counts.unknown}}},
          {"linked_at_load", counts.linked_at_load != 0},
          {"errors", std::move(errors)},
          {"kernels",
           {{"total", result.kernels.total},
            {"covered", result.kernels.covered},
            {"missing", result.kernels.missing},
            {"hollow", result.kernels.hollow}}},
          {"variables",
           {{"total", result.variables.total},
            {"missing", result.variables.missing},
            {"unnamed", result.variables.unnamed}}},
          {"partly", to_json(result.partly)},
          {"embedded", to_json(result.embedded)},
          {"needs_driver_cuda", or_null(result.needs_driver)},
          {"driver_too_old_for_toolkit", or_null(result.toolkit_ahead)},
          {"other_order", to_json(result.other_order)},
          {"fix", result.fix}};
}

Json names_of(const std::vector<ExpectedImage>& images) {
  Json names = Json::array();
  for (const ExpectedImage& image : images)
    names.push_back(to_string(image.arch) + (image.sass ? "-real" : "-virtual"));
  return names;
}

Json to_json(const ExpectResult& expect) {
  Json failures = Json::array();
  for (const ExpectFailure& failure : expect.failures) {
    Json entry = to_json(failure.place);
    entry["absent"] = names_of(failure.absent);
    entry["found"] = failure.found;
    failures.push_back(std::move(entry));
  }
  return {
      {"containers", expect.containers}, {"specific", expect.specific}, {"failures", std::move(failures)}};
}

Json to_json(const Error& error) {
  return {{"where", error.where}, {"what", error.what}, {"fix", text_or_null(error.fix)}};
}

// What a device without a known capability gets: it cannot be told.
DeviceResult unjudged() {
  return {};
}

Json to_json(const Verification& verification, const FileResult& file) {
  Json results = Json::array();  // stays empty for a file without device code, of which nothing can be said
  const Outcome outcome = outcome_of(verification, file);
  for (std::size_t i = 0; i < verification.devices.size() && outcome != Outcome::no_device_code; ++i) {
    if (const auto index = class_of(verification, i)) {
      results.push_back(to_json(i, file.devices[*index]));
    } else if (is_unjudged(verification.devices[i])) {
      results.push_back(to_json(i, unjudged()));
    }
  }
  Json errors = Json::array();
  for (const Error& error : file.errors) errors.push_back(to_json(error));
  Json json = {
      {"path", file.path},       {"member", text_or_null(file.member)}, {"verdict", name_of(outcome)},
      {"objects", file.objects}, {"results", std::move(results)},       {"errors", std::move(errors)}};
  json["runtime_code"] = file.runtime_code;
  json["warnings"] = Json::array();
  for (const Error& warning : file.warnings) json["warnings"].push_back(warning.text());
  if (file.optix != 0) json["optix"] = file.optix;
  if (verification.needed) {
    json["needed_by"] = text_or_null(file.needed_by);
    json["by_linker"] = file.by_linker;
  }
  if (verification.expects) json["expect"] = to_json(file.expect);
  if (!verification.any_of.empty()) {
    json["any_of"] = Json::array();
    for (const std::size_t group : globs_of(verification, file))
      json["any_of"].push_back(verification.any_of[group].glob);
  }
  return json;
}

Json to_json(const Verification& verification, const AnyOf& group) {
  Json results = Json::array();
  for (std::size_t i = 0; i < verification.devices.size(); ++i) {
    const auto index = class_of(verification, i);
    if (!index && !is_unjudged(verification.devices[i])) continue;
    const AnyOfDevice result = index ? group.devices[*index] : AnyOfDevice{};
    results.push_back(
        {{"device", i}, {"verdict", name_of(result.coverage)}, {"covered_by", result.covered_by}});
  }
  Json json = {{"glob", group.glob},
               {"verdict", name_of(outcome_of(verification, group))},
               {"files", group.files},
               {"without_device_code", group.without_code},
               {"results", std::move(results)}};
  if (verification.expects) json["absent"] = names_of(group.absent);
  return json;
}

}  // namespace

std::string verify_json(const Verification& verification) {
  Json json = {{"schema", "archguard.verify/1"}, {"verdict", name_of(outcome_of(verification))}};
  json["devices"] = Json::array();
  for (const Device& device : verification.devices) json["devices"].push_back(to_json(device));
  json["excluded"] = Json::array();
  for (const Excluded& excluded : verification.excluded) json["excluded"].push_back(to_json(excluded));
  json["files"] = Json::array();
  for (const FileResult& file : verification.files) json["files"].push_back(to_json(verification, file));
  if (!verification.any_of.empty()) {
    json["any_of"] = Json::array();
    for (const AnyOf& group : verification.any_of) json["any_of"].push_back(to_json(verification, group));
  }
  if (verification.needed) {
    Json errors = Json::array();
    for (const Error& error : verification.needed->errors) errors.push_back(to_json(error));
    json["needed"] = {{"passed_over", verification.needed->passed_over}, {"errors", std::move(errors)}};
  }
  if (verification.expects) json["expects_in_vain"] = expects_in_vain(verification);
  json["passed_over"] = paths_of(verification.passed_over);
  json["unused_waivers"] = Json::array();
  for (const UnusedWaiver& unused : verification.unused_waivers)
    json["unused_waivers"].push_back({{"kernel", unused.waiver.kernel},
                                      {"compute_cap", unused.waiver.compute_cap},
                                      {"origin", unused.waiver.origin}});
  add_bytes(json);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace archguard
