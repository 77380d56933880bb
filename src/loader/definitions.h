#pragma once

#include <set>
#include <string>
#include <vector>

#include "loader/needed.h"

namespace archguard {

struct Definitions {
  std::set<std::string> names;         // of those asked for
  std::vector<std::string> not_found;  // libraries that were not found, or cannot be read
  bool needs_libcuda = false;          // one of all these
};

// Which of these symbols the libraries define that the file at `path` needs. The driver's are not asked:
// those of another machine count.
Definitions definitions_of(const std::set<std::string>& names, const std::string& path,
                           const LoaderFolders& folders);

}  // namespace archguard
