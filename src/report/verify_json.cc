#include "report/verify_json.h"

#include "compat/rules.h"
#include "report/json_stream.h"
#include "report/names.h"

namespace archguard {
namespace {

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

Json to_json(const ExcludedDevice& excluded) {
  return {{"name", excluded.name},
          {"compute_capability", to_string(excluded.capability)},
          {"reason", excluded.reason},
          {"first_toolkit", or_null(excluded.first_toolkit)},
          {"last_toolkit", or_null(excluded.last_toolkit)}};
}

Json to_json(const FatbinPlace& place) {
  return {{"offset", place.offset}, {"section", place.section}, {"member", text_or_null(place.member)}};
}

Json to_json(const Failure& failure) {
  Json fatbins = Json::array();
  for (const FatbinPlace& place : failure.places) fatbins.push_back(to_json(place));
  return {{"code", failure.code == 0 || !failure.numbered ? Json(nullptr) : Json(failure.code)},
          {"count", failure.places.size()},
          {"unknown", failure.unknown},
          {"cause", failure.reason},
          {"found", failure.found},
          {"fix", failure.fix},
          {"containers", std::move(fatbins)}};
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
  return {{"containers", other->fatbins}, {"where", other->where}, {"text", other->text}};
}

Json to_json(const std::optional<ForOthers>& others) {
  if (!others) return nullptr;
  return {{"containers", others->fatbins},
          {"where", others->where},
          {"found", others->found},
          {"kernel", text_or_null(others->kernel)},
          {"fix", fix_for_others({&*others})}};
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

Json to_json(const DeviceResult& result) {
  const FatbinCounts& counts = result.fatbins;
  Json errors = Json::array();
  for (const Failure& failure : result.failures) errors.push_back(to_json(failure));
  return {{"verdict", name_of(result.coverage)},
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
          {"for_other_devices", to_json(result.for_others)},
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
  return {{"containers", expect.fatbins}, {"specific", expect.specific}, {"failures", std::move(failures)}};
}

Json to_json(const Error& error) {
  return {{"where", error.where}, {"what", error.what}, {"fix", text_or_null(error.fix)}};
}

Json to_json(const AnyOfDevice& result) {
  return {{"verdict", name_of(result.coverage)}, {"covered_by", result.covered_by}};
}

// Writes the document. What there is one of for each device, of which there may be a million, is written as
// it is made; what is said of them is made once for each class.
class VerifyJsonWriter {
 public:
  VerifyJsonWriter(const Verification& verification, TextSink& sink)
      : all_(verification),
        out_(sink),
        unjudged_(verification.classes.size()),
        class_of_(verification.devices.size(), unjudged_) {
    for (std::size_t i = 0; i < all_.classes.size(); ++i)
      for (const std::size_t member : all_.classes[i].members) class_of_[member] = i;
  }

  void write() {
    Json json = {{"schema", "archguard.verify/1"},
                 {"verdict", name_of(outcome_of(all_))},
                 {"devices", {}},
                 {"excluded", {}},
                 {"files", {}}};
    JsonStream::Lists lists = {{"devices", [&] { write_devices(); }},
                               {"excluded",
                                [&] {
                                  for (const ExcludedDevice& each : all_.excluded)
                                    out_.element(to_json(each));
                                }},
                               {"files", [&] {
                                  for (const FileResult& each : all_.files) write_file(each);
                                }}};
    if (!all_.any_of.empty()) {
      json["any_of"] = nullptr;
      lists["any_of"] = [&] {
        for (const AnyOf& each : all_.any_of) write_group(each);
      };
    }
    if (all_.needed) {
      Json errors = Json::array();
      for (const Error& error : all_.needed->errors) errors.push_back(to_json(error));
      json["needed"] = {{"passed_over", all_.needed->passed_over}, {"errors", std::move(errors)}};
    }
    if (all_.expects) json["expects_in_vain"] = expects_in_vain(all_);
    json["passed_over"] = paths_of(all_.passed_over);
    json["unused_waivers"] = Json::array();
    for (const UnusedWaiver& unused : all_.unused_waivers)
      json["unused_waivers"].push_back({{"kernel", unused.waiver.kernel},
                                        {"compute_cap", unused.waiver.compute_cap},
                                        {"origin", unused.waiver.origin}});
    out_.document(std::move(json), lists);
  }

 private:
  void write_devices() {
    for (std::size_t i = 0; i < all_.devices.size(); ++i) out_.element(to_json(all_.devices[i]));
  }

  // For each device that is judged, or could not be: `result` tells what is said of its class, or of those
  // that could not be judged.
  void write_results(const std::function<Json(std::size_t)>& result) {
    std::vector<std::string> texts(unjudged_ + 1);
    for (std::size_t i = 0; i < class_of_.size(); ++i) {
      if (class_of_[i] == unjudged_ && !is_unjudged(all_.devices.kind(i))) continue;
      std::string& text = texts[class_of_[i]];
      if (text.empty()) text = out_.text_of_element(result(class_of_[i]));
      out_.numbered_element(text, "device", i);
    }
  }

  void write_file(const FileResult& file) {
    const Outcome outcome = outcome_of(all_, file);
    Json errors = Json::array();
    for (const Error& error : file.errors) errors.push_back(to_json(error));
    Json json = {{"path", file.path},
                 {"member", text_or_null(file.member)},
                 {"verdict", name_of(outcome)},
                 {"objects", file.objects},
                 {"results", {}},
                 {"errors", std::move(errors)}};
    json["runtime_code"] = file.runtime_code;
    json["warnings"] = Json::array();
    for (const Error& warning : file.warnings) json["warnings"].push_back(warning.text());
    if (file.optix != 0) json["optix"] = file.optix;
    if (all_.needed) {
      json["needed_by"] = text_or_null(file.needed_by);
      json["by_linker"] = file.by_linker;
    }
    if (all_.expects) json["expect"] = to_json(file.expect);
    if (!all_.any_of.empty()) {
      json["any_of"] = Json::array();
      for (const std::size_t group : globs_of(all_, file)) json["any_of"].push_back(all_.any_of[group].glob);
    }
    const auto results = [&] {
      if (outcome == Outcome::no_device_code) return;  // of which nothing can be said
      write_results(
          [&](std::size_t i) { return to_json(i == unjudged_ ? DeviceResult{} : file.devices[i]); });
    };
    out_.object_element(std::move(json), {{"results", results}});
  }

  void write_group(const AnyOf& group) {
    Json json = {{"glob", group.glob},
                 {"verdict", name_of(outcome_of(all_, group))},
                 {"files", group.files},
                 {"without_device_code", group.without_code},
                 {"results", {}}};
    if (all_.expects) json["absent"] = names_of(group.absent);
    const auto results = [&] {
      write_results(
          [&](std::size_t i) { return to_json(i == unjudged_ ? AnyOfDevice{} : group.devices[i]); });
    };
    out_.object_element(std::move(json), {{"results", results}});
  }

  const Verification& all_;
  JsonStream out_;
  const std::size_t unjudged_;  // in place of a class: it cannot be told what such a device gets
  std::vector<std::size_t> class_of_;
};

}  // namespace

void VerifyJson::write_to(TextSink& sink) const {
  VerifyJsonWriter(verification_, sink).write();
}

}  // namespace archguard
