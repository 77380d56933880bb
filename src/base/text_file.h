#pragma once

#include <cstdio>
#include <string>

#include "base/result.h"

namespace archguard {

// A small text that a user hands over: a regular file, a pipe or a character device such as /dev/stdin, or
// standard input, which is called "-". Read to its end, at most 64 MiB. A pipe that nobody writes to is
// waited for. Binaries are read through FileSource (base/bytes.h), which refuses all but regular files.
Result<std::string> read_text_file(const std::string& path);

// What messages call it: the path, or "standard input".
std::string text_file_name(const std::string& path);

// ---- file_posix.cc, file_windows.cc ----

// Opens it, standard input too; refuses folders and disks.
Result<std::FILE*> open_text_file(const std::string& path);

}  // namespace archguard
