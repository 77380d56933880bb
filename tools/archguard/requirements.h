#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace archguard {

struct RequirementsOptions {
  std::vector<std::string> paths;
  std::string system;  // of --for: one of requirements::systems(), or json; empty: all, as text
  std::string slurm_map;
  std::string scope = "fatbin";
};

// Says what the files need in the words of schedulers and package managers. Exit 1 where nothing true can be
// said in those of --for.
Result<int> run_requirements(const RequirementsOptions& options);

// Are all of these for hosts of x86-64, which no Tegra has? By the ELF header, and the tag in a wheel's name.
bool are_for_x86(const std::vector<std::string>& paths);

}  // namespace archguard
