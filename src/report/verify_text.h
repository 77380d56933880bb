#pragma once

#include <string>

#include "coverage/verification.h"
#include "report/style.h"

namespace archguard {

struct VerifyText {
  Style style;
  bool brief = false;       // only what fails, what is warned of, and one line a file
  std::string target;       // CMake target, named where an expectation fails
  bool hint_scope = false;  // name --scope library where some fat binaries fit and others do not
};

// The report for people: what fails first, with place, cause and fix; then a table of the devices; then one
// line.
std::string verify_text(const Verification& verification, const VerifyText& options);

}  // namespace archguard
