#include "report/verify_json.h"

#include <set>

#include "base/json.h"
#include "device/device_json.h"
#include "installed/package.h"
#include "report/error_json.h"
#include "report/kernel_costs_text.h"
#include "report/names.h"

namespace archguard {
namespace {

std::vector<std::string> names_of(const std::vector<ExpectedImage>& images) {
  std::vector<std::string> names;
  for (const ExpectedImage& image : images)
    names.push_back(to_string(image.arch) + (image.sass ? "-real" : "-virtual"));
  return names;
}

// Each name once.
std::vector<std::string> sorted(const std::vector<std::string>& some, const std::vector<std::string>& more) {
  std::set<std::string> names(some.begin(), some.end());
  names.insert(more.begin(), more.end());
  return {names.begin(), names.end()};
}

// Writes the document. What there is one of for each device, of which there may be a million, is written as
// it is made; what is said of them is made once for each class.
class VerifyJsonWriter {
 public:
  VerifyJsonWriter(const Verification& verification, const ReportOptions& options, TextSink& sink)
      : all_(verification),
        options_(options),
        json_(sink, JsonTexts::verify_1),
        unjudged_(verification.classes.size()),
        class_of_(verification.devices.size(), unjudged_) {
    for (std::size_t i = 0; i < all_.classes.size(); ++i)
      for (const std::size_t member : all_.classes[i].members) class_of_[member] = i;
  }

  void write() {
    json_.begin_object(JsonLayout::lines);
    json_.message("schema", "archguard.verify/1");
    json_.message("verdict", name_of(outcome_of(all_)));
    write_devices();
    list("excluded", all_.excluded);
    json_.begin_list("files");
    for (const FileResult& each : all_.files) write_file(each);
    json_.end();
    if (!all_.any_of.empty()) {
      json_.begin_list("any_of");
      for (const AnyOf& each : all_.any_of) write_group(each);
      json_.end();
    }
    if (all_.needed) object("needed", *all_.needed);
    if (all_.expects) json_.flag("expects_in_vain", expects_in_vain(all_));
    json_.texts("passed_over", paths_of(all_.passed_over));
    list("unused_waivers", all_.unused_waivers);
    if (!options_.record.empty()) json_.message("record", options_.record);
    json_.end();
  }

 private:
  // An object of which members() tells the members, or a list of such.
  template <class Value>
  void object(std::string_view key, const Value& value) {
    json_.begin_object(key);
    members(value);
    json_.end();
  }
  template <class Value>
  void or_null(std::string_view key, const std::optional<Value>& value) {
    value ? object(key, *value) : json_.null(key);
  }
  template <class Value>
  void list(std::string_view key, const std::vector<Value>& values) {
    json_.begin_list(key);
    for (const Value& each : values) {
      json_.begin_object();
      members(each);
      json_.end();
    }
    json_.end();
  }

  void members(const Error& error) { write_members(error, json_); }

  void members(const ExcludedDevice& excluded) {
    json_.text("name", excluded.name);
    json_.message("compute_capability", to_string(excluded.capability));
    json_.text("reason", excluded.reason);
    json_.known_or_null("first_toolkit", excluded.first_toolkit);
    json_.known_or_null("last_toolkit", excluded.last_toolkit);
  }

  void members(const Package& package) {
    json_.text("name", package.name);
    json_.text_or_null("version", package.version);
    json_.message("owner", name_of(package.manager));
  }

  void members(const FatbinPlace& place) {
    json_.number("offset", place.offset);
    json_.text("section", place.section);
    json_.text_or_null("member", place.member);
  }

  void members(const Failure& failure) {
    if (failure.code == 0 || !failure.numbered)
      json_.null("code");
    else
      json_.number("code", failure.code);
    json_.number("count", failure.places.size());
    json_.flag("unknown", failure.unknown);
    json_.text("cause", failure.reason);
    json_.text("found", failure.found);
    json_.text("fix", failure.fix);
    std::vector<ExpectedImage> add;
    for (const Addition& each : failure.add) {
      if (each.sass) add.push_back({each.arch, true});
      if (each.ptx) add.push_back({each.arch, false});
    }
    json_.texts("add", names_of(add));
    list("containers", failure.places);
  }

  void members(const Partly& partly) {
    json_.number("kernels", partly.kernels);
    json_.number("best", partly.best);
    json_.message("best_compute_capability", to_string(partly.best_device));
    json_.flag("clear", partly.clear);
    json_.flag("compiles_at_run_time", partly.compiles_at_run_time);
    if (partly.core_fatbins != 0) {
      json_.number("containers", partly.fatbins);
      json_.number("core_containers", partly.core_fatbins);
    }
    if (partly.needs_driver) json_.message("needs_driver_cuda", to_string(*partly.needs_driver));
  }

  void members(const OtherOrder& other) {
    json_.number("containers", other.fatbins);
    json_.text("where", other.where);
    json_.text("text", other.text);
  }

  void members(const ForOthers& others) {
    json_.number("containers", others.fatbins);
    json_.text("where", others.where);
    json_.text("found", others.found);
    json_.text_or_null("kernel", others.kernel);
    json_.text("fix", fix_for_others({&others}));
  }

  void members(const EmbeddedResult& embedded) {
    json_.number("images", embedded.total);
    json_.number("fitting", embedded.fitting);
    json_.number("unknown", embedded.unknown);
    json_.message("verdict", !embedded.lacking()    ? "covered"
                             : embedded.undecided() ? "unknown"
                                                    : "not-covered");
    json_.texts("without", embedded.without);
    json_.texts("for_other_devices", embedded.elsewhere);
    json_.text_or_null("cause", embedded.reason);
  }

  void members(const FatbinCounts& counts) {
    json_.number("total", counts.total);
    json_.number("specific", counts.specific);
    json_.number("sass", counts.sass);
    json_.number("jit", counts.jit);
    json_.number("linked_at_load", counts.linked_at_load);
    json_.number("uncovered", counts.uncovered);
    json_.number("unknown", counts.unknown);
  }

  void members(const KernelCounts& counts) {
    json_.number("total", counts.total);
    json_.number("covered", counts.covered);
    json_.texts("missing", sorted(counts.missing, counts.unlaunchable));
    json_.texts("hollow", counts.hollow);
  }

  void members(const VariableCounts& counts) {
    json_.number("total", counts.total);
    json_.texts("missing", sorted(counts.missing, counts.unregistered));
    json_.texts("unnamed", counts.unnamed);
  }

  void members(const DeviceResult& result) {
    json_.message("verdict", name_of(result.coverage));
    object("containers", result.fatbins);
    json_.flag("linked_at_load", result.fatbins.linked_at_load != 0);
    list("errors", result.failures);
    object("kernels", result.kernels);
    object("variables", result.variables);
    or_null("partly", result.partly);
    if (result.embedded.total == 0)
      json_.null("embedded");
    else
      object("embedded", result.embedded);
    json_.known_or_null("needs_driver_cuda", result.needs_driver);
    json_.known_or_null("driver_too_old_for_toolkit", result.toolkit_ahead);
    or_null("other_order", result.other_order);
    or_null("for_other_devices", result.for_others);
    json_.text("fix", result.fix);
  }

  void members(const CodeSizes::OfKernel& kernel) {
    json_.text("name", kernel.name);
    json_.number("images", kernel.size.images);
    json_.number("size", kernel.size.stored);
    json_.number("uncompressed_size", kernel.size.uncompressed);
  }

  void write_sizes_of(const CodeSizes& sizes) {
    ArchSizes archs;
    for (const auto& [kind, arch, size] : sizes.archs) archs[{kind, arch}] = size;
    write_sizes(archs, json_);
    list("largest_kernels", sizes.largest);
  }

  void members(const ExpectFailure& failure) {
    members(failure.place);
    json_.texts("absent", names_of(failure.absent));
    json_.text("found", failure.found);
  }

  void members(const ExpectResult& expect) {
    json_.number("containers", expect.fatbins);
    json_.number("specific", expect.specific);
    list("failures", expect.failures);
  }

  void numbers(std::string_view key, const std::vector<std::size_t>& numbers) {
    json_.begin_list(key);
    for (const std::size_t number : numbers) json_.number_element(number);
    json_.end();
  }

  void members(const AnyOfDevice& result) {
    json_.message("verdict", name_of(result.coverage));
    numbers("covered_by", result.covered_by);
  }

  void members(const UnusedWaiver& unused) {
    json_.text("kernel", unused.waiver.kernel);
    json_.text("compute_cap", unused.waiver.compute_cap);
    json_.text("origin", unused.waiver.origin);
  }

  void members(const NeededOutcome& needed) {
    json_.texts("passed_over", needed.passed_over);
    list("errors", needed.errors);
  }

  void write_devices() {
    json_.begin_list("devices");
    for (std::size_t i = 0; i < all_.devices.size(); ++i) {
      json_.begin_object();
      write_members(all_.devices[i], DeviceMembers::judged, json_);
      if (!options_.record.empty()) json_.number("kind", all_.devices.kind_number(i));
      json_.end();
    }
    json_.end();
  }

  // For each device that is judged, or could not be: `write` tells what is said of its class, or of those
  // that could not be judged.
  template <class Write>
  void write_results(Write write) {
    std::vector<std::string> said(unjudged_ + 1);
    for (std::size_t i = 0; i < class_of_.size(); ++i) {
      if (class_of_[i] == unjudged_ && !is_unjudged(all_.devices.kind(i))) continue;
      json_.begin_object();
      json_.number("device", i);
      std::string& members = said[class_of_[i]];
      if (members.empty()) members = json_.kept_members([&] { write(class_of_[i]); });
      json_.members_again(members);
      json_.end();
    }
  }

  void write_file(const FileResult& file) {
    const Outcome outcome = outcome_of(all_, file);
    json_.begin_object();
    json_.text("path", file.path);
    json_.text_or_null("member", file.member);
    json_.message("verdict", name_of(outcome));
    if (file.package) object("package", *file.package);
    json_.flag("objects", file.objects);
    json_.begin_list("results");
    if (outcome != Outcome::no_device_code)  // of which nothing can be said
      write_results([&](std::size_t i) { members(i == unjudged_ ? DeviceResult{} : file.devices[i]); });
    json_.end();
    list("errors", file.errors);
    json_.texts("runtime_code", file.runtime_code);
    std::vector<std::string> warnings;
    for (const Error& warning : file.warnings) warnings.push_back(warning.text());
    json_.texts("warnings", warnings);
    if (!file.sizes.archs.empty()) write_sizes_of(file.sizes);
    if (file.optix != 0) json_.number("optix", file.optix);
    if (all_.needed) {
      json_.text_or_null("needed_by", file.needed_by);
      json_.flag("by_linker", file.by_linker);
    }
    if (all_.expects) object("expect", file.expect);
    if (!all_.any_of.empty()) {
      std::vector<std::string> globs;
      for (const std::size_t group : globs_of(all_, file)) globs.push_back(all_.any_of[group].glob);
      json_.texts("any_of", globs);
    }
    if (options_.record_of_file != nullptr) json_.message("record", options_.record_of_file(file));
    json_.end();
  }

  void write_group(const AnyOf& group) {
    json_.begin_object();
    json_.text("glob", group.glob);
    if (!group.in.empty()) json_.text("in", group.in);
    json_.message("verdict", name_of(outcome_of(all_, group)));
    numbers("files", group.files);
    json_.number("without_device_code", group.without_code);
    json_.begin_list("results");
    write_results([&](std::size_t i) { members(i == unjudged_ ? AnyOfDevice{} : group.devices[i]); });
    json_.end();
    if (all_.expects) json_.texts("absent", names_of(group.absent));
    json_.end();
  }

  const Verification& all_;
  const ReportOptions& options_;
  JsonWriter json_;
  const std::size_t unjudged_;  // in place of a class: it cannot be told what such a device gets
  std::vector<std::size_t> class_of_;
};

}  // namespace

void VerifyJson::write_to(TextSink& sink) const {
  VerifyJsonWriter(verification_, options_, sink).write();
}

}  // namespace archguard
