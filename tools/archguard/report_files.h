#pragma once

#include <string>
#include <vector>

#include "commands.h"
#include "report/formats.h"

namespace archguard {

// A report that --report asks for.
struct ReportFile {
  const ReportFormat* format;
  std::string path;  // "-": standard output
};

// "html, json, …": what --report takes.
std::string names_of_reports();

// Reads --report, and looks whether each file can be written: before the work is done that they tell of.
Result<std::vector<ReportFile>> report_files_of(const VerifyOptions& options);

// Writes those that go to files, each whole or not at all. Where a CI service has a place for a summary
// (GITHUB_STEP_SUMMARY), the format github adds it there.
Status write_reports(const std::vector<ReportFile>& files, const Verification& verification,
                     const ReportOptions& options);
// Prints the others.
Status print_reports(const std::vector<ReportFile>& files, const Verification& verification,
                     const ReportOptions& options);

}  // namespace archguard
