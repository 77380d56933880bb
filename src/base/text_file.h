#pragma once

#include <cstdio>
#include <string>

#include "base/result.h"

namespace archguard {

// A small text that a user hands over: a regular file, a pipe or a character device such as /dev/stdin, or
// standard input, which is called "-". Read to its end, at most 64 MiB or what is said. A pipe that nobody
// writes to is waited for. Binaries are read through FileSource (base/bytes.h), which refuses all but regular
// files.
inline constexpr std::size_t kMostTextBytes = std::size_t{64} << 20;
Result<std::string> read_text_file(const std::string& path, std::size_t most_bytes = kMostTextBytes);

// What messages call it: the path, or "standard input".
std::string text_file_name(const std::string& path);

// ---- file_posix.cc, file_windows.cc ----

// Opens it, standard input too; refuses folders and disks.
Result<std::FILE*> open_text_file(const std::string& path);

}  // namespace archguard
