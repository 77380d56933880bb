#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coverage/verification.h"

namespace archguard {

// What is said of one failure, for every report in words: none of it is escaped or coloured.
struct FailureText {
  std::string kind;   // "error 209", "error", "unknown"
  std::string where;  // "libfoo.so(.nv_fatbin+0x0)"
  std::string what;   // "kernel 'k(int*)' cannot run on H100 (9.0, fleet.csv:2)"
  std::vector<std::pair<std::string_view, std::string>> details;  // "cause", "fix", …; those that have a text
};

// `device`: index of the class. `hint_scope`: may the file be a library that chooses among its images?
FailureText failure_text(const Verification& verification, const FileResult& file, std::size_t device,
                         const Failure& failure, bool hint_scope);

// CUDA's number of the error; 0 where it documents none.
int error_number_of(const Failure& failure);

// "H100 (9.0): 241 of 2993 kernels"
std::string share_text(const DeviceResult& result, const std::string& device);

}  // namespace archguard
