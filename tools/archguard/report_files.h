#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "report/formats.h"

namespace archguard {

// How a text looks that is printed, or written to `output`.
ReportOptions text_options(const ReportChoice& choice);

// The reports of one run.
struct WantedReports {
  struct ToFile {
    const ReportFormat* format;
    std::string path;  // "-": standard output
  };
  const ReportFormat* format;  // of the one that is printed, or written to `output`
  std::string output;          // empty: it is printed
  std::vector<ToFile> files;
};

// A report of --report FORMAT=FILE; file "-" is standard output.
struct ReportPlace {
  std::string format, path;
};
// Reads --report, of which `formats` are known, and looks whether each file can be written: before the work
// is done that they tell of. `output`: where the first report goes, empty for standard output, which it
// leaves to others only where `shares_output`.
Result<std::vector<ReportPlace>> report_places(const std::vector<std::string>& reports,
                                               const std::vector<std::string>& formats,
                                               const std::string& output, bool shares_output,
                                               std::string_view first_format);

// "html, json, …": what --report takes.
std::string names_of_reports();

// Of verify and report; see report_places().
Result<WantedReports> reports_of(const ReportChoice& choice);

// Writes those that go to files, each whole or not at all, and prints the others. Where a CI service has a
// place for a summary (GITHUB_STEP_SUMMARY), the format github adds it there.
Status write_all(const WantedReports& wanted, const Verification& verification, const ReportOptions& options);

// Reports of a check in a build, each FORMAT=FILE.
Status write_also(const std::vector<std::string>& reports, const Verification& verification);

// Writes the page of a check that CTest runs, and names it so that CTest puts it beside the test's result.
Status attach_page(const std::string& path, const Verification& verification);

// Can a report be written there, `option` being what names it? In a folder a file of this name could be.
Status check_can_write(const std::string& option, const std::string& path, const std::string& name);

// What a document needs so that `archguard report` can join it with others.
ReportOptions with_record(ReportOptions options, const Verification& verification);

}  // namespace archguard
