#pragma once

#include <string>

#include "base/result.h"

namespace archguard {

// Writes beside the file and renames, so that a reader sees the old text or the new, never a part.
Status write_file(const std::string& path, const std::string& text);

}  // namespace archguard
