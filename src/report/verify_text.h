#pragma once

#include <string>

#include "report/report.h"

namespace archguard {

// The report for people: what fails first, with place, cause and fix; then a table of the devices; then one
// line.
std::string verify_text(const Verification& verification, const ReportOptions& options);

class VerifyText : public Report {
 public:
  using Report::Report;
  void write_to(TextSink& sink) const override { sink.write(verify_text(verification_, options_)); }
};

}  // namespace archguard
