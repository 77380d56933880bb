#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "doctor/facts.h"

namespace archguard::doctor {

// What was asked for, and where to look where nothing was.
struct EnvironmentQuestion {
  std::vector<std::string> paths, pythons, prefixes;
  std::vector<int> pids;    // processes: the environments that they have loaded libraries of
  std::string own_program;  // the path of archguard itself: it does not judge the folder that it came in
  std::function<std::optional<std::string>(const char*)> variable;
};

// Finds the environments that are meant, by their files: `pyvenv.cfg` (PEP 405), `conda-meta`, and Debian's
// dist-packages. Without a name that is the active one (VIRTUAL_ENV, CONDA_PREFIX), else `.venv` here, else
// that of the first Python in PATH. What is named and is not there is an error. A path that is no environment
// is a folder, or a file, of its own.
void find_environments(const EnvironmentQuestion& question, Facts& facts);

// "venv /home/u/env, Python 3.11 (VIRTUAL_ENV)"
std::string describe(const PythonEnvironment& environment);

}  // namespace archguard::doctor
