#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/failure_groups.h"

namespace archguard {

// What is said of failures with one cause, for every report in words: none of it is escaped or coloured.
struct FailureText {
  std::string kind;   // see kind_of()
  std::string where;  // "libfoo.so(.nv_fatbin+0x0) and 49 more files"
  std::string what;   // "kernel 'k(int*)' cannot run on H100 (9.0, fleet.csv:2)", or "on 3 kinds of device"
  // "cause", "fix", "fix for 8.6", …, and a text each.
  std::vector<std::pair<std::string, std::string>> details;
};

struct FailureWords {
  bool hint_scope = false;  // may the files be libraries that choose among their images?
  bool full = false;        // names every file and device; else the first few
  std::size_t columns = 0;  // see ReportOptions
};
FailureText failure_text(const Verification& verification, const FailureGroup& group,
                         const FailureWords& words);

// What mends one of the group's failures, in all of the group's files.
std::string fix_in(const Verification& verification, const FailureGroup& group, const Failure& failure);

// CUDA's number of the error; 0 where it documents none.
int error_number_of(const Failure& failure);
// "error 209"; "error" for 0.
std::string kind_of_error(int number);
std::string kind_of(const Failure& failure);  // that, or "unknown"

// Of a device that gets a part of a library and is covered: "perhaps not made for H100 (9.0): 241 of 2993
// kernels", and what to do about it. Precondition: result.partly.
struct PartlyText {
  std::string what, fix;
};
PartlyText partly_text(const DeviceResult& result, const std::string& device);

}  // namespace archguard
