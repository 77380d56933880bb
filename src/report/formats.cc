#include "report/formats.h"

#include "report/github.h"
#include "report/html.h"
#include "report/junit.h"
#include "report/markdown.h"
#include "report/sarif.h"
#include "report/verify_json.h"
#include "report/verify_text.h"

namespace archguard {
namespace {

template <class Made>
std::unique_ptr<Report> report(const Verification& verification, const ReportOptions& options) {
  return std::make_unique<Made>(verification, options);
}

}  // namespace

const std::vector<ReportFormat>& report_formats() {
  static const std::vector<ReportFormat> formats = {
      {"text", true, true, false, report<VerifyText>, inspect_text},
      {"json", false, true, true, report<VerifyJson>, inspect_json},
      {"html", true, false, true, report<HtmlReport>, nullptr},
      {"markdown", true, false, true, report<MarkdownReport>, nullptr},
      {"junit", true, false, true, report<JunitReport>, nullptr},
      {"github", true, false, true, report<GithubReport>, nullptr},
      {"sarif", true, false, true, report<SarifReport>, nullptr},
  };
  return formats;
}

}  // namespace archguard
