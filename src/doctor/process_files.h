#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace archguard::doctor {

// What /proc tells of a process that runs (proc(5)).
struct RunningProcess {
  std::vector<std::string> files;  // that it has mapped, each once
  std::string program;             // its file, without links; empty where that is not told
  std::string started_as;          // the first argument: a path, or a name that PATH leads to
  std::string folder;              // that it works in
  std::optional<std::map<std::string, std::string>> variables;  // that it was started with, if they are told
};
Result<RunningProcess> read_process(int id);

// The path by which the process was started, which may be a link: a venv's Python is one. Empty where that
// is not the file that runs, since a process may write anything in place of its arguments.
std::string path_started(const RunningProcess& process);

}  // namespace archguard::doctor
