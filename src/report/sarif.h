#pragma once

#include "report/report.h"

namespace archguard {

// SARIF 2.1.0 (OASIS), as GitHub's and Azure's code scanning take it: a result for each finding, at the line
// of the fleet file, else at the file that was judged.
class SarifReport : public Report {
 public:
  using Report::Report;
  void write_to(TextSink& sink) const override;
};

}  // namespace archguard
