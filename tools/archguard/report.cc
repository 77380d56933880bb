#include "base/colour.h"
#include "base/text_file.h"
#include "commands.h"
#include "image/demangle.h"
#include "read_result.h"
#include "report_files.h"
#include "result/join.h"

namespace archguard {
namespace {

constexpr std::size_t kMostResultBytes = std::size_t{4} << 30;

}  // namespace

Result<int> run_report(const ReportCommandOptions& options) {
  ARCHGUARD_TRY(wanted, reports_of(options.report));
  prepare_demangle();
  std::vector<ResultPart> parts;
  ReportOptions report = text_options(options.report);
  for (const std::string& path : options.results) {
    ARCHGUARD_TRY(text, read_text_file(path, kMostResultBytes));
    ARCHGUARD_TRY(part, parse_result(text, text_file_name(path)));
    report.hint_scope |= part.hint_scope;
    parts.push_back(std::move(part));
  }
  ARCHGUARD_TRY(joined, join_parts(std::move(parts)));
  report.brief = options.report.brief;
  ARCHGUARD_CHECK(write_all(wanted, joined, report));
  return exit_code(outcome_of(joined));
}

}  // namespace archguard
