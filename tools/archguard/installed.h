#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace archguard {

// Paths that were found, which are no more than that: what is no binary is passed over.
struct FoundPaths {
  std::vector<std::string> files;
  std::vector<std::string> links;  // followed, where no file of these is what they lead to
  std::vector<std::string> gone;   // in the list, and not there
};

// The files of an install step, from CMAKE_INSTALL_MANIFEST_FILES with a line end for each semicolon, which a
// name may hold as well. `destdir` is $DESTDIR, as an absolute path or empty: it stands in front of each, and
// in front of what an absolute link leads to where that was installed there.
FoundPaths installed_paths(std::string_view manifest, const std::string& destdir);

}  // namespace archguard
