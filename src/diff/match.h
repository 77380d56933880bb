#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "diff/side.h"

namespace archguard {

// "libx.so" for libx.so.12.3, "x" for x-1.1-cp311-cp311-linux_x86_64.whl, "lib/y.dll" for lib/y64_110.dll,
// "x//y.so" for x/1.2/y.so:
// the path without what tells a version of the file, or of the Python that it is for.
std::string without_versions(const std::string& path);

// Which file of NEW is that of OLD: of the same path relative to the argument; else of the same path but for
// versions; else of the same name but for versions, where only one on each side has it.
struct FilePair {
  std::optional<std::size_t> before, after;  // indices; one is missing where the file is new, or gone
};
std::vector<FilePair> match_files(const std::vector<DiffFile>& before, const std::vector<DiffFile>& after);

}  // namespace archguard
