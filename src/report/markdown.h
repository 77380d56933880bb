#pragma once

#include <cstdint>
#include <string>

#include "report/report.h"

namespace archguard {

// The table of files and devices, and what is wrong, for a pull request or a summary of a CI service. At most
// `most_bytes`: what does not fit is counted.
std::string markdown_text(const Verification& verification, const ReportOptions& options,
                          std::uint64_t most_bytes);

// Of one comment at GitHub, unless everything is asked for.
class MarkdownReport : public Report {
 public:
  using Report::Report;
  void write_to(TextSink& sink) const override;
};

// A text of others within a line: no letter of it is markup, a mention or a link to an issue.
std::string markdown_escape(std::string_view text);

}  // namespace archguard
