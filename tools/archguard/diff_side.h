#pragma once

#include <string>
#include <vector>

#include "diff/side.h"
#include "verify_question.h"

namespace archguard {

// The question of verify for each device that some known CUDA makes code for, without a driver, and for
// these.
Result<VerifyQuestion> question_of_table(const std::vector<std::string>& fleets,
                                         const std::vector<std::string>& devices, const std::string& scope,
                                         const std::string& embedded);

// What the files hold, and what verify says of them.
Result<DiffSide> side_of(const std::vector<std::string>& paths, VerifyQuestion& question);

// What a fix of a baseline adds to the line that writes one.
std::string options_of(const std::vector<std::string>& fleets, const std::vector<std::string>& devices,
                       const std::string& scope, const std::string& embedded);

}  // namespace archguard
