#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace archguard {

// How a program ended and what it printed.
struct ProcessOutcome {
  int exit_status = 0;     // meaningful where it neither timed out nor died of a signal
  int signal = 0;          // that ended it, or 0
  bool timed_out = false;  // killed at the deadline; what it printed until then is kept
  std::string out, err;    // at most 4 MiB each; more is read and dropped
};

// Runs a program without a shell, its standard input empty, in a process group of its own. argv[0] is a path,
// or a name that is looked up in PATH. At the deadline the whole group is killed; a child that even that does
// not end (stuck in the kernel) is left behind, so this always returns within a second of the deadline. What
// the program leaves running in the background is not waited for. The error: it could not be started, and
// why.
Result<ProcessOutcome> run_process(const std::vector<std::string>& argv, std::chrono::milliseconds timeout);

bool is_program(const std::string& path);
// The path of a bare name, by PATH; a name with a folder as it is. Empty where no folder of PATH has such a
// program.
std::string find_program(const std::string& name);

}  // namespace archguard
