#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "coverage/verification.h"

namespace archguard {

// What one run of verify found.
struct ResultPart {
  std::string name;  // of the file that holds it, for messages
  Verification verification;
  bool hint_scope = false;  // of ReportOptions
};

// What one run over the files of all parts would have found. An error where they were asked for other
// devices, or two tell different things of one file. At least one part.
Result<Verification> join_parts(std::vector<ResultPart> parts);

}  // namespace archguard
