#pragma once

#include <string>

#include "base/result.h"

namespace archguard {

// Writes beside the file and renames, so that a reader sees the old text or the new, never a part. What is no
// regular file (/dev/stdout, a pipe) is written to as it is.
Status write_file(const std::string& path, const std::string& text);

// With all symbolic links resolved; the path itself where that fails, and on Windows.
std::string real_path(const std::string& path);

}  // namespace archguard
