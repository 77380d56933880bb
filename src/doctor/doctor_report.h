#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text_source.h"
#include "doctor/finding.h"
#include "report/style.h"

namespace archguard::doctor {

struct ReportWords {
  bool full = false;       // every finding whole; Markdown names folders as they are
  std::string home, host;  // what Markdown leaves out without it
  std::vector<std::string> users;
};

// A format of the report. Each is a file; the table is in doctor_report.cc.
struct DoctorFormat {
  std::string_view name;  // of --format
  void (*write)(const Diagnosis&, const ReportWords&, const Style&, TextSink&);
};
const std::vector<DoctorFormat>& doctor_formats();  // the first is the one that nobody has to name

void write_doctor_text(const Diagnosis& diagnosis, const ReportWords& words, const Style& style,
                       TextSink& sink);
void write_doctor_json(const Diagnosis& diagnosis, const ReportWords& words, const Style& style,
                       TextSink& sink);
void write_doctor_markdown(const Diagnosis& diagnosis, const ReportWords& words, const Style& style,
                           TextSink& sink);

// What the formats share.

// The answer in one line: "cause found: 1 certain, 2 likely".
std::string answer_text(const Diagnosis& diagnosis);
// "12 files with device code, …": what there was any of, or with `full` all that was looked for.
std::string checked_text(const Diagnosis& diagnosis, bool full);

}  // namespace archguard::doctor
