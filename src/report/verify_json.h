#pragma once

#include "report/report.h"

namespace archguard {

// The document "archguard.verify/1", indented, with a line end.
class VerifyJson : public Report {
 public:
  using Report::Report;
  void write_to(TextSink& sink) const override;
};

}  // namespace archguard
