#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace archguard {

// The DLLs that a PE image names in its import table, and in that of delayed imports, in order. Nothing for
// what is no PE image. An error is damage: the loader would refuse the file.
Result<std::optional<std::vector<std::string>>> read_pe_imports(const ByteSource& source);

}  // namespace archguard
