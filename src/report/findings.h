#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "report/failure_text.h"
#include "report/report.h"

namespace archguard {

// What is wrong, or may be, one by one: for reports that other tools read. Nothing of it is escaped.
struct Finding {
  // `error` makes the answer "not covered", `unknown` "unknown", `warning` nothing.
  enum class Level { error, unknown, warning };
  Level level = Level::error;
  std::string rule;  // "AG209", of CUDA's number; else a word: "AG-unread". rules_of() has the names
  FailureText text;
  std::vector<std::size_t> files;    // indices, ascending; empty: of all, or of none
  std::vector<std::size_t> classes;  // of devices; likewise
  // Of each of these classes, where there are several: what `text` says of all of them together.
  struct OfClass {
    std::string cause, fix;
  };
  std::vector<OfClass> of_classes = {};
};

// The gravest first: errors, of these what CUDA reports; then what is unknown; then warnings. Where the
// answer is "not covered" or "unknown", one finding at least is not a warning.
std::vector<Finding> findings_of(const Verification& verification, const ReportOptions& options);

struct FindingRule {
  std::string id;
  std::string name;  // "no kernel image is available for execution on the device"
};
// Those of the findings, each once, in order.
std::vector<FindingRule> rules_of(const std::vector<Finding>& findings);

// "error 209: libfoo.so(.nv_fatbin+0x0) and 3 more files: kernel 'k(int*)' cannot run on H100 (9.0)".
std::string headline_of(const Finding& finding);
// "found: sm_80 cubin, no PTX", a line each.
std::string details_of(const Finding& finding);

// The answer in one line: "not covered: 1 of 3 files covered on all of 5 devices".
std::string verdict_line(const Verification& verification);

}  // namespace archguard
