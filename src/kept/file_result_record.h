#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coverage/verify.h"

namespace archguard {

// A result as bytes, whole, and back. Not made to be read by another build of ArchGuard: its format is that
// of the structs.
std::string encode(FileResult result);

// Nothing for bytes that encode() did not make. They may hold anything.
std::optional<FileResult> decode_file_result(std::string_view bytes);

}  // namespace archguard
