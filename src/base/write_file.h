#pragma once

#include <string>

#include "base/result.h"
#include "base/text_source.h"

namespace archguard {

// Writes beside the file and renames, so that a reader sees the old text or the new, never a part. What is no
// regular file (/dev/stdout, a pipe) is written to as it is. A file that is replaced keeps its mode and, as
// far as the system allows, its owner; `mode` is that of a new one, less what the umask takes. Windows has
// neither. Refuses a link or pipe of another user's in a folder that all may write to.
Status write_file(const std::string& path, const TextSource& text, unsigned mode = 0666);
inline Status write_file(const std::string& path, const std::string& text, unsigned mode = 0666) {
  return write_file(path, PlainText(text), mode);
}

// With all symbolic links resolved; the path itself where that fails, and on Windows.
std::string real_path(const std::string& path);

}  // namespace archguard
