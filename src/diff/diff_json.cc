#include <set>

#include "base/json.h"
#include "diff/diff_report.h"
#include "report/error_json.h"
#include "report/names.h"

namespace archguard {
namespace {

void write_diff_size(std::string_view key, const DiffSize& size, JsonWriter& json) {
  json.begin_object(key);
  json.number("images", size.images);
  json.number("kernels", size.kernels);
  json.number("size", size.stored);
  json.number("uncompressed_size", size.uncompressed);
  json.end();
}

void write_archs(const Difference& difference, JsonWriter& json) {
  DiffSizes before = sizes_of(difference.before), after = sizes_of(difference.after);
  for (const auto& [image, size] : after) before.try_emplace(image);
  json.begin_list("archs", JsonLayout::packed_lines);
  for (const auto& [image, size] : before) {
    json.begin_object(JsonLayout::packed);
    json.message("kind", name_of(image.first));
    json.message("arch", to_string(image.second));
    write_diff_size("old", size, json);
    write_diff_size("new", after[image], json);
    json.end();
  }
  json.end();
}

void write_path_of(std::string_view key, const DiffSide& side, std::optional<std::size_t> index,
                   JsonWriter& json) {
  if (!index) return json.null(key);
  const DiffFile& file = side.files[*index];
  json.begin_object(key);
  json.text("path", file.path);
  json.text_or_null("member", file.member);
  json.end();
}

void write_losses(const Difference& difference, JsonWriter& json) {
  json.begin_list("losses", JsonLayout::packed_lines);
  for (const CoverageLoss& loss : difference.losses) {
    json.begin_object(JsonLayout::packed);
    json.message("how", name_of(loss.how));
    write_path_of("old", difference.before, loss.before, json);
    write_path_of("new", difference.after, loss.after, json);
    json.begin_list("devices");
    for (const std::size_t device : loss.devices) json.number_element(device);
    json.end();
    json.flag("was_covered", loss.was_covered);
    if (loss.verdict.code != 0)
      json.number("code", loss.verdict.code);
    else
      json.null("code");
    json.text_or_null("cause", loss.verdict.what);
    json.text_or_null("found", loss.verdict.found);
    json.text_or_null("fix", loss.verdict.fix);
    std::vector<std::string> kernels, variables;
    for (const DiffName& name : loss.names) (name.is_variable ? variables : kernels).push_back(name.text);
    json.texts("kernels", kernels);
    json.texts("variables", variables);
    json.end();
  }
  json.end();
}

}  // namespace

void write_diff_json(const Difference& difference, const Style&, TextSink& sink) {
  JsonWriter json(sink);
  json.begin_object(JsonLayout::packed);
  json.message("schema", "archguard.diff/1");
  json.message("verdict", is_untold(difference) ? "unknown" : is_lost(difference) ? "lost" : "kept");
  json.text("old", difference.before.name);
  json.text("new", difference.after.name);
  std::set<std::size_t> lost, unknown;
  for (const CoverageLoss& loss : difference.losses)
    (loss.how == CoverageLoss::How::unknown ? unknown : lost)
        .insert(loss.devices.begin(), loss.devices.end());
  const std::set<std::size_t> gained(difference.gained.begin(), difference.gained.end());
  json.begin_list("devices", JsonLayout::packed_lines);
  for (std::size_t i = 0; i < difference.before.devices.size(); ++i) {
    const DiffDevice& device = difference.before.devices[i];
    json.begin_object(JsonLayout::packed);
    json.message("compute_capability", to_string(device.capability));
    json.known_or_null("driver_cuda", device.driver_cuda);
    json.message("verdict", lost.count(i) != 0 ? "lost" : unknown.count(i) != 0 ? "unknown" : "kept");
    json.flag("gained", gained.count(i) != 0);
    json.end();
  }
  json.end();
  write_diff_size("old_total", total_of(sizes_of(difference.before)), json);
  write_diff_size("new_total", total_of(sizes_of(difference.after)), json);
  if (difference.grow) {
    json.begin_object("grow");
    json.number("most_percent", *difference.grow);
    json.flag("exceeded", grew_too_much(difference));
    json.end();
  } else {
    json.null("grow");
  }
  write_archs(difference, json);
  json.begin_list("files", JsonLayout::packed_lines);
  for (const FilePair& pair : difference.files) {
    json.begin_object(JsonLayout::packed);
    write_path_of("old", difference.before, pair.before, json);
    write_path_of("new", difference.after, pair.after, json);
    const auto size = [](const DiffSide& side, std::optional<std::size_t> index) {
      return index ? total_of(side.files[*index].sizes) : DiffSize{};
    };
    write_diff_size("old_total", size(difference.before, pair.before), json);
    write_diff_size("new_total", size(difference.after, pair.after), json);
    json.end();
  }
  json.end();
  write_losses(difference, json);
  json.begin_list("ptx_went", JsonLayout::packed_lines);
  for (const std::size_t file : difference.ptx_went) {
    json.begin_object(JsonLayout::packed);
    json.text("path", difference.after.files[file].path);
    json.text_or_null("member", difference.after.files[file].member);
    json.end();
  }
  json.end();
  std::vector<std::string> passed_over = difference.before.passed_over;
  passed_over.insert(passed_over.end(), difference.after.passed_over.begin(),
                     difference.after.passed_over.end());
  json.texts("passed_over", passed_over);
  json.begin_list("errors", JsonLayout::packed_lines);
  for (const DiffSide* side : {&difference.before, &difference.after})
    for (const Error& error : side->errors) {
      json.begin_object(JsonLayout::packed);
      write_members(error, json);
      json.end();
    }
  json.end();
  json.end();
  sink.flush();
}

}  // namespace archguard
