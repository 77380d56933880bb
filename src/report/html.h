#pragma once

#include <string_view>

#include "report/report.h"

namespace archguard {

// One page that asks nothing of a network: the table of files and devices, of which a cell opens what it is
// about. What it shows is JSON within it, and its script makes the rows that are looked at.
class HtmlReport : public Report {
 public:
  using Report::Report;
  void write_to(TextSink& sink) const override;
};

// Text of others between the tags of a page.
std::string html_escape(std::string_view text);

// ---- in html_page.cc ----
extern const std::string_view kHtmlStyle, kHtmlScript;

}  // namespace archguard
