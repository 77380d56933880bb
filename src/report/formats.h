#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "report/inspect.h"
#include "report/report.h"

namespace archguard {

// A format of reports, and who writes it.
struct ReportFormat {
  std::string_view name;  // of --format, --report
  bool is_for_people;     // has kernels by the names of their source, and remarks around it
  bool is_printed;        // --format takes it
  bool is_written;        // --report takes it
  std::unique_ptr<Report> (*verify)(const Verification&, const ReportOptions&);
  std::unique_ptr<InspectWriter> (*inspect)(TextSink&, const InspectLook&);  // null: verify alone has it
};

// All of them; the first is the one that nobody has to name.
const std::vector<ReportFormat>& report_formats();

}  // namespace archguard
