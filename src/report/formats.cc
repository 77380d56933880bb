#include "report/formats.h"

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
      {"text", true, report<VerifyText>, inspect_text},
      {"json", false, report<VerifyJson>, inspect_json},
  };
  return formats;
}

}  // namespace archguard
