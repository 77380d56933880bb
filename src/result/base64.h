#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace archguard {

// RFC 4648, with its padding and without line ends.
std::string to_base64(std::string_view bytes);
// Nothing for a text that to_base64() does not make.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace archguard
