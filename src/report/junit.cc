#include "report/junit.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "host/host_file.h"
#include "image/demangle.h"
#include "report/any_of_text.h"
#include "report/coverage_table.h"
#include "report/device_text.h"
#include "report/failure_text.h"
#include "report/findings.h"
#include "report/names.h"

namespace archguard {
namespace {

enum class CaseEnd { passed, failure, error, skipped };

struct TestCase {
  std::string suite;  // its file
  std::string name;   // its device
  CaseEnd end = CaseEnd::passed;
  std::string type = {}, message = {}, text = {};
};

std::string words_of(const Failure& failure) {
  return kind_of(failure) + ": " + failure.reason;
}

TestCase case_of(const Verification& verification, const FileResult& file, std::size_t device) {
  TestCase made{object_name(file.path, file.member), devices_of(verification, device)};
  const CoverageCell cell = cell_of(verification, file, device);
  const bool elsewhere = cell.state == CoverageCell::State::elsewhere;
  if (is_good(cell) && !elsewhere) return made;
  // One of several files that a device needs one of fails for itself alone: that none serves it is told
  // apart.
  if (elsewhere || file.alternative) {
    made.end = CaseEnd::skipped;
    made.message = globs_text(verification, file) + (elsewhere ? ": another file covers the device" : "");
    return made;
  }
  const bool unknown = cell.state == CoverageCell::State::unknown;
  made.end = unknown ? CaseEnd::error : CaseEnd::failure;
  made.type = unknown ? "unknown" : cell.error == 0 ? "error" : "error " + std::to_string(cell.error);
  for (const Failure& failure : file.devices[device].failures) {
    if (made.message.empty()) made.message = words_of(failure);
    made.text += words_of(failure) + "\n";
    const auto add = [&](const char* label, const std::string& words) {
      if (!words.empty()) made.text += std::string(label) + ": " + words + "\n";
    };
    add("where", failure.where);
    add("found", failure.found);
    add("kernel", failure.kernel.empty() ? "" : demangle(failure.kernel));
    add("variable", failure.variable.empty() ? "" : demangle(failure.variable));
    add("fix", failure.fix);
  }
  if (made.message.empty()) made.message = "cannot be told";
  return made;
}

// Takes each case; called twice, for the numbers stand before the cases.
template <class Take>
void each_case(const Verification& verification, const std::vector<Finding>& findings, Take take) {
  for (const FileResult& file : verification.files) {
    const Outcome outcome = outcome_of(verification, file);
    if (outcome == Outcome::no_device_code) continue;
    for (std::size_t device = 0; device < file.devices.size(); ++device)
      take(case_of(verification, file, device));
  }
  for (const Finding& finding : findings) {
    const bool of_cells =
        finding.level != Finding::Level::warning && !finding.classes.empty() && finding.rule != "AG-any-of";
    if (of_cells || finding.level == Finding::Level::warning) continue;
    TestCase made{finding.text.where.empty() ? "archguard" : finding.text.where, finding.text.what};
    made.end = finding.level == Finding::Level::unknown ? CaseEnd::error : CaseEnd::failure;
    made.type = finding.rule;
    made.message = headline_of(finding);
    made.text = details_of(finding);
    take(made);
  }
  for (const ExcludedDevice& excluded : verification.excluded)
    take({"fleet",
          excluded.name + " (" + to_string(excluded.capability) + ")",
          CaseEnd::skipped,
          {},
          excluded.reason,
          {}});
  for (std::size_t i = 0; i < verification.devices.size(); ++i) {
    if (is_wanted(verification.devices.kind(i))) continue;
    const Device device = verification.devices[i];
    take({"fleet", describe(device), CaseEnd::skipped, {}, why_left_out(device), {}});
  }
}

void write_case(const TestCase& made, TextSink& sink) {
  sink.write("    <testcase classname=\"" + xml_escape(made.suite) + "\" name=\"" + xml_escape(made.name) +
             "\" time=\"0\"");
  if (made.end == CaseEnd::passed) return sink.write("/>\n");
  if (made.end == CaseEnd::skipped)
    return sink.write("><skipped message=\"" + xml_escape(made.message) + "\"/></testcase>\n");
  const std::string element = made.end == CaseEnd::failure ? "failure" : "error";
  sink.write("><" + element + " type=\"" + xml_escape(made.type) + "\" message=\"" +
             xml_escape(made.message) + "\">" + xml_escape(made.text) + "</" + element + "></testcase>\n");
}

}  // namespace

std::string xml_escape(std::string_view text) {
  std::string escaped;
  std::size_t begin = 0;
  while (begin <= text.size()) {  // line ends stay; printable() makes one line
    const auto end = std::min(text.find('\n', begin), text.size());
    std::string line = printable(text.substr(begin, end - begin));
    for (const char* none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})  // U+FFFE and U+FFFF are no letters of XML
      for (auto at = line.find(none); at != std::string::npos; at = line.find(none)) line.replace(at, 3, "?");
    for (const char c : line) {
      if (c == '&')
        escaped += "&amp;";
      else if (c == '<')
        escaped += "&lt;";
      else if (c == '>')
        escaped += "&gt;";
      else if (c == '"')
        escaped += "&quot;";
      else
        escaped += c;
    }
    if (end < text.size()) escaped += "&#10;";
    begin = end + 1;
  }
  return escaped;
}

void JunitReport::write_to(TextSink& sink) const {
  const std::vector<Finding> findings = findings_of(verification_, options_);
  std::uint64_t counts[4] = {};
  each_case(verification_, findings,
            [&](const TestCase& made) { ++counts[static_cast<std::size_t>(made.end)]; });
  const std::string numbers = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"0\"", counts[0] + counts[1] + counts[2] + counts[3],
      counts[static_cast<std::size_t>(CaseEnd::failure)], counts[static_cast<std::size_t>(CaseEnd::error)]);
  sink.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"archguard\" " + numbers + ">\n");
  sink.write(fmt::format("  <testsuite name=\"archguard\" {} skipped=\"{}\">\n", numbers,
                         counts[static_cast<std::size_t>(CaseEnd::skipped)]));
  each_case(verification_, findings, [&](const TestCase& made) { write_case(made, sink); });
  sink.write("  </testsuite>\n</testsuites>\n");
}

}  // namespace archguard
