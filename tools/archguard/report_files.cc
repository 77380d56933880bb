#include "report_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include "base/colour.h"
#include "base/text.h"
#include "base/write_file.h"
#include "report/markdown.h"
#include "result/verification_record.h"
#include "terminal.h"

namespace archguard {
namespace {

// Of a file or a pipe, such as the log of a build: names of CUTLASS' kernels have 2,000 characters.
constexpr std::size_t kColumnsElsewhere = 320;

constexpr std::uint64_t kMostSummaryBytes = 1U << 20U;  // GitHub's limit of one step

std::vector<std::string> report_names() {
  std::vector<std::string> names;
  for (const ReportFormat& format : report_formats())
    if (format.is_written) names.emplace_back(format.name);
  return names;
}

Result<ReportPlace> read_report_option(const std::string& text, const std::vector<std::string>& formats) {
  const auto end = text.find('=');
  const std::string name = text.substr(0, end);
  if (std::find(formats.begin(), formats.end(), name) == formats.end()) {
    Error error{"--report " + text, "'" + name + "' is no format of reports", {}};
    const auto meant = did_you_mean(name, formats);
    if (meant) error.what += "; did you mean '" + *meant + "'?";
    error.fix = "one of " + join(formats, ", ");
    return error;
  }
  if (end == std::string::npos || end + 1 == text.size())
    return Error{"--report " + text, "names no file", "--report " + name + "=FILE"};
  return ReportPlace{name, text.substr(end + 1)};
}

const ReportFormat* format_named(const std::string& name) {
  for (const ReportFormat& each : report_formats())
    if (each.is_written && each.name == name) return &each;
  return nullptr;
}

std::string file_of_format(std::string_view format) {
  const std::string_view ending = format == "text"       ? "txt"
                                  : format == "markdown" ? "md"
                                  : format == "junit"    ? "xml"
                                                         : format;
  return "report." + std::string(ending);
}

// One file by whatever name.
std::string canonical_place(const std::string& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  if (error) return path;
  const auto place = std::filesystem::weakly_canonical(whole, error);
  return error ? path : place.string();
}

// Appends, as GitHub asks for: other commands of the step have written there.
Status add_summary(const std::string& path, const Verification& verification, const ReportOptions& options) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  const std::uint64_t used = error ? 0 : size;
  if (used >= kMostSummaryBytes) return Done{};
  const std::string text = markdown_text(verification, options, kMostSummaryBytes - used);
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << text;
  file.close();
  if (!file)
    return Error{path, "cannot be written, and GITHUB_STEP_SUMMARY names it", "unset GITHUB_STEP_SUMMARY"};
  return Done{};
}

const char* environment_or_empty(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// With what reports that name files of the sources need.
ReportOptions options_of_reports(ReportOptions options, const Verification& verification) {
  std::error_code error;
  options.style = {};
  if (!options.full) options.columns = kColumnsElsewhere;
  options.version = ARCHGUARD_VERSION;
  options.folder = std::filesystem::current_path(error).string();
  options.root = environment_or_empty("GITHUB_WORKSPACE");
  if (!starts_with(options.root, "/")) options.root = options.folder;
  return with_record(std::move(options), verification);
}

}  // namespace

// What would keep it from being written is told before the work, not after it.
Status check_can_write(const std::string& option, const std::string& path, const std::string& name) {
  if (starts_with(path, "/dev/std")) return Done{};  // closed, it is held by a folder: writing to it tells
  struct stat about {};
  if (stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode))
    return Error{option, "is a folder",
                 "name a file in it: " + path + (ends_with(path, "/") ? "" : "/") + name};
  const std::string folder = folder_of(path);
  if (stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode))
    return Error{option, "cannot be written: there is no folder " + folder, "mkdir -p " + folder};
  if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) == 0) return Done{};
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return Error{option, "cannot be written: its folder is not yours to write to",
                 "name a file in a folder of your own"};
  return Done{};
}

ReportOptions text_options(const ReportChoice& choice) {
  ReportOptions options;
  options.full = choice.full;
  std::size_t columns = 0;
  if (choice.output.empty()) {
    options.style = {colour_for_stdout()};
    columns = columns_of_stdout();
  }
  if (!options.full) options.columns = columns != 0 ? columns : kColumnsElsewhere;
  return options;
}

std::string names_of_reports() {
  return join(report_names(), ", ");
}

Result<std::vector<ReportPlace>> report_places(const std::vector<std::string>& reports,
                                               const std::vector<std::string>& formats,
                                               const std::string& output, bool shares_output,
                                               std::string_view first_format) {
  std::vector<ReportPlace> wanted;
  std::set<std::string> places;
  if (!output.empty()) places.insert(canonical_place(output));
  for (const std::string& text : reports) {
    ARCHGUARD_TRY(place, read_report_option(text, formats));
    const bool printed = place.path == "-";
    if (!printed)
      ARCHGUARD_CHECK(check_can_write("--report " + text, place.path, file_of_format(place.format)));
    if (printed && !shares_output && output.empty())
      return Error{"--report " + text, "standard output is taken by --format " + std::string(first_format),
                   "name a file"};
    if (!places.insert(printed ? "-" : canonical_place(place.path)).second)
      return Error{"--report " + text, "another report is written there", "name another file"};
    wanted.push_back(std::move(place));
  }
  return wanted;
}

Result<WantedReports> reports_of(const ReportChoice& choice) {
  const ReportFormat& format = *choice.format;
  if (!choice.output.empty())
    ARCHGUARD_CHECK(check_can_write("--output " + choice.output, choice.output, file_of_format(format.name)));
  ARCHGUARD_TRY(places, report_places(choice.reports, report_names(), choice.output, format.is_for_people,
                                      format.name));
  WantedReports wanted{&format, choice.output, {}};
  for (ReportPlace& place : places)
    wanted.files.push_back({format_named(place.format), std::move(place.path)});
  return wanted;
}

Status write_also(const std::vector<std::string>& reports, const Verification& verification) {
  for (const std::string& text : reports) {
    ARCHGUARD_TRY(place, read_report_option(text, report_names()));
    const auto report =
        format_named(place.format)->verify(verification, options_of_reports({}, verification));
    ARCHGUARD_CHECK(write_file(place.path, *report));
  }
  return Done{};
}

Status attach_page(const std::string& path, const Verification& verification) {
  ARCHGUARD_CHECK(write_also({"html=" + path}, verification));
  print("<DartMeasurementFile name=\"ArchGuard\" type=\"file\">" + path + "</DartMeasurementFile>\n");
  return finish_printing();
}

ReportOptions with_record(ReportOptions options, const Verification& verification) {
  options.record = record_of(verification, ARCHGUARD_VERSION, options.hint_scope);
  options.record_of_file = record_of_file;
  return options;
}

Status write_all(const WantedReports& wanted, const Verification& verification,
                 const ReportOptions& options) {
  const ReportOptions own = options_of_reports(options, verification);
  const std::string summary = environment_or_empty("GITHUB_STEP_SUMMARY");
  bool summarized = summary.empty();
  for (const auto& [format, path] : wanted.files) {
    if (path != "-") ARCHGUARD_CHECK(write_file(path, *format->verify(verification, own)));
    if (summarized || format->name != "github") continue;
    ARCHGUARD_CHECK(add_summary(summary, verification, own));
    summarized = true;
  }
  ReportOptions first = own;
  first.style = options.style;
  first.columns = options.columns;
  const auto report = wanted.format->verify(verification, first);
  if (!wanted.output.empty())
    ARCHGUARD_CHECK(write_file(wanted.output, *report));
  else
    print_source(*report);
  for (const auto& [format, path] : wanted.files)
    if (path == "-") print_source(*format->verify(verification, own));
  return finish_printing();
}

}  // namespace archguard
