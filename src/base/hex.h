#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace archguard {

// The bytes of "00ff", two digits each, in small letters as JsonWriter writes them; nothing where it is not
// that.
std::optional<std::string> bytes_of_hex(std::string_view digits);

}  // namespace archguard
