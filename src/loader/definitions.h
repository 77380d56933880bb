#pragma once

#include <set>
#include <string>
#include <string_view>
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

// Of a program and its libraries, in the order in which the loader asks them: what several define and each
// means for itself: all that leaves it to the loader gets that of the first.
struct Interposed {
  std::string name, path, first;  // the file whose own is not taken, and the one whose is
};
// The first such name of each library that begins so, of the file at `path`.
std::vector<Interposed> interposed_names(std::string_view beginning, const std::string& path,
                                         const LoaderFolders& folders);

}  // namespace archguard
