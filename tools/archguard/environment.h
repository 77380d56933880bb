#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "coverage/judge_fatbin.h"

namespace archguard {

// What these settings ("CUDA_FORCE_PTX_JIT=1") tell the driver. Error: a name that no rule knows, or a value
// other than 0 and 1.
Result<JitEnvironment> read_environment(const std::vector<std::string>& settings);

// The settings of this process's environment that a rule knows, as read_environment() takes them.
std::vector<std::string> settings_of_this_process();

}  // namespace archguard
