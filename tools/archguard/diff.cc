#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/colour.h"
#include "base/text.h"
#include "base/text_file.h"
#include "base/write_file.h"
#include "commands.h"
#include "device/fleet.h"
#include "diff/baseline.h"
#include "diff/diff_report.h"
#include "diff_side.h"
#include "image/demangle.h"
#include "report_files.h"
#include "terminal.h"

namespace archguard {
namespace {

// The JSON of inspect, by its name or its first sign: no binary begins so.
bool is_baseline(const std::string& path) {
  if (path == "-" || ends_with(path, ".json")) return true;
  const auto source = FileSource::open(path);
  if (!source) return false;
  const auto start = read_bytes(*source, 0, std::min<std::uint64_t>(1, source->size()));
  return start && !start->empty() && start->front() == '{';
}

// A fleet that leaves nothing to compare is an error of its own; see question_of().
Result<VerifyQuestion> question_of_diff(const DiffOptions& options) {
  if (options.fleets.empty() && options.devices.empty())
    return question_of_table({}, {}, options.scope, options.embedded);
  VerifyOptions verify;
  verify.fleets = options.fleets;
  verify.devices = options.devices;
  verify.scope = options.scope;
  verify.embedded = options.embedded;
  return question_of(verify);
}

// Nobody can say what a device without a capability loses.
Status check_judged(const DeviceList& devices) {
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (is_unjudged(devices[i]))
      return Error{{}, describe(devices[i]) + " cannot be judged", "give its compute_cap in the fleet"};
  return Done{};
}

// What a format makes of a difference, or of what becomes of a fleet.
class DiffDocument : public TextSource {
 public:
  using Write = std::function<void(const DiffFormat&, const Style&, TextSink&)>;
  DiffDocument(const Write& write, const DiffFormat& format) : write_(write), format_(format) {}
  void write_to(TextSink& sink) const override { write_(format_, Style{}, sink); }

 private:
  const Write& write_;
  const DiffFormat& format_;
};

std::vector<std::string> diff_format_names() {
  std::vector<std::string> names;
  for (const DiffFormat& each : diff_formats()) names.emplace_back(each.name);
  return names;
}

Result<std::vector<ReportPlace>> diff_reports(const DiffOptions& options) {
  const DiffFormat& first = *options.format;
  return report_places(options.reports, diff_format_names(), {}, first.is_for_people, first.name);
}

Status write_diff(const DiffOptions& options, const std::vector<ReportPlace>& reports,
                  const DiffDocument::Write& write) {
  const auto document = [&](const std::string& name) {
    const auto& formats = diff_formats();
    return DiffDocument(write, *std::find_if(formats.begin(), formats.end(),
                                             [&](const DiffFormat& each) { return each.name == name; }));
  };
  for (const auto& [format, path] : reports)
    if (path != "-") ARCHGUARD_CHECK(write_file(path, document(format)));
  PrintingSink out;
  write(*options.format, Style{options.format->is_for_people && colour_for_stdout()}, out);
  for (const auto& [format, path] : reports)
    if (path == "-") print_source(document(format));
  return finish_printing();
}

Result<DiffSide> side_of_argument(const std::string& path, const DiffOptions& options,
                                  VerifyQuestion& question) {
  if (!is_baseline(path)) return side_of({path}, question);
  ARCHGUARD_TRY(text, read_text_file(path));
  const std::string line = options_of(options.fleets, options.devices, options.scope, options.embedded);
  ARCHGUARD_TRY(side, parse_baseline(text, text_file_name(path), line));
  if (side.scope != options.scope || side.embedded != options.embedded)
    return Error{path,
                 "was judged with --scope " + side.scope + " --embedded " + side.embedded + ", and --scope " +
                     options.scope + " --embedded " + options.embedded + " is asked",
                 "write it with: " + write_line(line, path)};
  std::vector<DiffDevice> devices;
  for (const DeviceClass& each : question.of_file.classes) devices.push_back(diff_device(each));
  return for_devices(std::move(side), devices, line);
}

Result<std::optional<std::uint64_t>> read_grow(std::string_view text) {
  if (text.empty()) return std::optional<std::uint64_t>();
  if (ends_with(text, "%")) text.remove_suffix(1);
  const auto percent = parse_number(trim(text), 1'000'000);
  if (!percent)
    return Error{"--grow", "a whole number of percent is needed, found '" + std::string(text) + "'",
                 "--grow 10"};
  return percent;
}

int exit_code(bool lost, bool untold) {
  if (untold) return kExitUnreadable;
  return lost ? kExitNotCovered : kExitCovered;
}

Result<int> diff_sides(const DiffOptions& options) {
  if (options.paths.size() != 2)
    return Error{
        {},
        "diff compares two, and " + count_of(options.paths.size(), "PATH", "PATHs") +
            (options.paths.size() == 1 ? " was given" : " were given"),
        "archguard diff OLD NEW; or one set of files on two fleets: --fleet-from OLD.csv --fleet-to NEW.csv"};
  ARCHGUARD_TRY(reports, diff_reports(options));
  ARCHGUARD_TRY(grow, read_grow(options.grow));
  ARCHGUARD_TRY(question, question_of_diff(options));
  ARCHGUARD_CHECK(check_judged(question.devices));
  ARCHGUARD_TRY(before, side_of_argument(options.paths[0], options, question));
  ARCHGUARD_TRY(after, side_of_argument(options.paths[1], options, question));
  for (const DiffSide* side : {&before, &after}) {  // as one that is not there
    if (!side->files.empty()) continue;
    if (!side->errors.empty()) return side->errors.front();
    if (!side->passed_over.empty())
      return Error{side->passed_over.front(), "may hold device code, and is not read", "unpack or link it"};
  }
  if (before.files.empty()) return Error{before.name, "holds no device code to compare with", {}};
  Difference difference = difference_of(std::move(before), std::move(after));
  difference.grow = grow;
  ARCHGUARD_CHECK(
      write_diff(options, reports, [&](const DiffFormat& format, const Style& style, TextSink& sink) {
        format.write(difference, style, sink);
      }));
  return exit_code(is_lost(difference) || grew_too_much(difference), is_untold(difference));
}

Result<int> diff_fleets(const DiffOptions& options) {
  if (options.fleet_from.empty() || options.fleet_to.empty())
    return Error{{}, "--fleet-from and --fleet-to go together", "--fleet-from OLD.csv --fleet-to NEW.csv"};
  if (!options.fleets.empty() || !options.devices.empty() || !options.grow.empty())
    return Error{{}, "with two fleets there is no --fleet, --device or --grow", "archguard diff --help"};
  ARCHGUARD_TRY(reports, diff_reports(options));
  VerifyOptions verify;
  verify.scope = options.scope;
  verify.embedded = options.embedded;
  DeviceList devices;
  ARCHGUARD_TRY(before, read_fleet(options.fleet_from, devices, "--fleet-from"));
  if (before == 0) return no_device_in_fleet(options.fleet_from);
  ARCHGUARD_TRY(after, read_fleet(options.fleet_to, devices, "--fleet-to"));
  if (after == 0) return no_device_in_fleet(options.fleet_to);
  ARCHGUARD_CHECK(check_judged(devices));
  verify.given = std::move(devices);
  ARCHGUARD_TRY(question, question_of(verify));
  FleetChange change;
  change.from = options.fleet_from;
  change.to = options.fleet_to;
  for (const DeviceClass& each : question.of_file.classes) {
    FleetChange::Devices kind{diff_device(each), {}, 0, 0};
    for (const std::size_t member : each.members) {
      const auto count = static_cast<std::uint64_t>(question.devices.count(member));
      (member < before ? kind.before : kind.after) += count;
      if (kind.example.empty() || (member >= before && kind.after == count))
        kind.example = describe(question.devices[member]);
    }
    change.devices.push_back(std::move(kind));
  }
  ARCHGUARD_TRY(files, side_of(options.paths, question));
  change.files = std::move(files);
  if (change.files.files.empty() && change.files.errors.empty())
    return Error{change.files.name, "holds no device code", {}};
  ARCHGUARD_CHECK(
      write_diff(options, reports, [&](const DiffFormat& format, const Style& style, TextSink& sink) {
        format.write_fleets(change, style, sink);
      }));
  return exit_code(breaks_something(change), is_untold(change));
}

}  // namespace

Result<int> run_diff(const DiffOptions& options) {
  if (options.format->is_for_people || !options.reports.empty()) prepare_demangle();
  if (!options.fleet_from.empty() || !options.fleet_to.empty()) return diff_fleets(options);
  return diff_sides(options);
}

}  // namespace archguard
