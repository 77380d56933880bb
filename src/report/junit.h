#pragma once

#include "report/report.h"

namespace archguard {

// JUnit's XML, as CI services and CTest's readers take it: a test case for each file and class of devices
// (not covered: failure, unknown: error), one for each device that is left out (skipped), and one for what is
// wrong beside them. Some case fails, unless the answer is "covered".
class JunitReport : public Report {
 public:
  using Report::Report;
  void write_to(TextSink& sink) const override;
};

// A text of others in XML 1.0, as an attribute or as an element's content: markup and letters that XML has
// not are replaced.
std::string xml_escape(std::string_view text);

}  // namespace archguard
