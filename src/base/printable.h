#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace archguard {

// What others wrote (names of files, kernels, members and devices), for a line of a terminal or a log. All
// text that ArchGuard prints goes through here.

// The length of the well-formed UTF-8 sequence at the start of `text`, 0 where there is none (RFC 3629).
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

// One line, in which no letter does anything: control characters and line ends become \x1b and \n, what turns
// the direction of writing (U+202A to U+202E, U+2066 to U+2069) or ends a line (U+2028, U+2029) becomes
// \u202e, and bytes that are not UTF-8 become \xff. Logs of CI services take `::word::` at the start of a
// line and `##[word]` for commands: there the first of these signs is escaped as well. Escaping twice changes
// nothing more.
std::string printable(std::string_view text);
// As printable(), and where it is longer than `most` bytes cut there and ended by "…".
std::string excerpt(std::string_view text, std::size_t most);

// For JSON, whose texts are UTF-8: the bytes as hexadecimal digits, where replacing some would lose them.
std::optional<std::string> bytes_beside(std::string_view text);

}  // namespace archguard
