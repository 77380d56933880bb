#include "report/sarif.h"

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/printable.h"
#include "base/text.h"
#include "report/findings.h"
#include "report/source_place.h"

namespace archguard {
namespace {

constexpr std::size_t kMostPlaces = 100;    // of one result
constexpr std::size_t kMostResults = 5000;  // GitHub shows as many of a run

class SarifWriter {
 public:
  SarifWriter(const Verification& verification, const ReportOptions& options, TextSink& sink)
      : all_(verification), options_(options), json_(sink), findings_(findings_of(verification, options)) {}

  void write() {
    json_.begin_object(JsonLayout::lines);
    json_.message("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_.message("version", "2.1.0");
    json_.begin_list("runs");
    json_.begin_object();
    write_tool();
    json_.message("columnKind", "utf16CodeUnits");
    json_.begin_list("results");
    for (std::size_t i = 0; i < findings_.size() && i < kMostResults; ++i) write_result(findings_[i]);
    json_.end();
    json_.end();
    json_.end();
    json_.end();
  }

 private:
  void message(std::string_view key, const std::string& text) {
    json_.begin_object(key, JsonLayout::row);
    json_.message("text", text);
    json_.end();
  }

  void write_tool() {
    json_.begin_object("tool");
    json_.begin_object("driver");
    json_.message("name", "ArchGuard");
    if (!options_.version.empty()) json_.message("version", options_.version);
    json_.begin_list("rules");
    for (const FindingRule& rule : rules_of(findings_)) {
      rules_.emplace(rule.id, rules_.size());
      json_.begin_object(JsonLayout::row);
      json_.message("id", rule.id);
      message("shortDescription", rule.name);
      json_.end();
    }
    json_.end();
    json_.end();
    json_.end();
  }

  // Names of others in it are escaped as in a log: viewers show it so.
  static std::string text_of(const Finding& finding) {
    std::string text = printable(headline_of(finding));
    for (const auto& [label, words] : finding.text.details) text += "\n" + printable(label + ": " + words);
    return text;
  }

  void write_result(const Finding& finding) {
    json_.begin_object();
    json_.message("ruleId", finding.rule);
    json_.number("ruleIndex", rules_.at(finding.rule));
    json_.message("level", finding.level == Finding::Level::warning ? "warning" : "error");
    message("message", text_of(finding));
    auto place = place_of(all_, finding, options_);  // readers want one
    if (!place && !all_.files.empty())
      place = SourcePlace{path_below_root(all_.files.front().path, options_), 0};
    json_.begin_list("locations");
    if (place) write_location(*place);
    json_.end();
    write_related(finding, place);
    json_.end();
  }

  // The devices' other lines, and the files that are not the place itself.
  void write_related(const Finding& finding, const std::optional<SourcePlace>& place) {
    std::vector<SourcePlace> places;  // each once, as members of one wheel have one place
    const auto add = [&](SourcePlace each) {
      const auto is_it = [&](const SourcePlace& other) {
        return other.path == each.path && other.line == each.line;
      };
      const bool is_known = (place && is_it(*place)) || std::any_of(places.begin(), places.end(), is_it);
      if (!is_known && places.size() < kMostPlaces) places.push_back(std::move(each));
    };
    for (const std::size_t each : finding.classes)
      if (auto line = place_of_device(all_.devices[all_.classes[each].members.front()], options_))
        add(std::move(*line));
    for (std::size_t i = 0; i < finding.files.size() && places.size() < kMostPlaces; ++i)
      add({path_below_root(all_.files[finding.files[i]].path, options_), 0});
    if (places.empty()) return;
    json_.begin_list("relatedLocations");
    for (const SourcePlace& each : places) write_location(each);
    json_.end();
  }

  void write_location(const SourcePlace& place) {
    json_.begin_object(JsonLayout::row);
    json_.begin_object("physicalLocation");
    json_.begin_object("artifactLocation");
    json_.message("uri", uri_of(place.path));
    if (!starts_with(place.path, "/")) json_.message("uriBaseId", "%SRCROOT%");
    json_.end();
    if (place.line != 0) {
      json_.begin_object("region");
      json_.number("startLine", place.line);
      json_.end();
    }
    json_.end();
    json_.end();
  }

  const Verification& all_;
  const ReportOptions& options_;
  JsonWriter json_;
  const std::vector<Finding> findings_;
  std::map<std::string, std::size_t> rules_;
};

}  // namespace

void SarifReport::write_to(TextSink& sink) const {
  SarifWriter(verification_, options_, sink).write();
}

}  // namespace archguard
