#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archguard {

// Without leading and trailing blanks, tabs and line ends.
std::string_view trim(std::string_view text);

// The pieces between separators, untrimmed, empty ones kept: "a;;b" → "a", "", "b". An empty text is one
// empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string join(const std::vector<std::string>& pieces, std::string_view separator);

bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);

// The folder part of a path, "." for a bare name.
std::string folder_of(const std::string& path);

// UTF-8's, which editors of Windows write before a text.
std::string_view without_byte_order_mark(std::string_view text);
// Does a text begin with the byte order mark of UTF-16, or with eight letters of ASCII in it? And how to get
// one that does not.
bool is_utf16(std::string_view text);
inline constexpr const char* kSaveAsUtf8 = "save it as UTF-8 (PowerShell: Out-File -Encoding utf8)";

// ASCII only: option and column names.
std::string to_lower(std::string_view text);

// A non-empty run of decimal digits no greater than `most`; no sign, no blanks.
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t most);

// 0x1a40
std::string hex(std::uint64_t value);

// "1 kernel", "2 kernels"; `plural` for irregular ones ("library", "libraries").
std::string count_of(std::uint64_t count, std::string_view singular, std::string_view plural = {});

// The one of `known` that `text` most likely meant, or nothing: at most two edits away, one where it has no
// more than five letters, and fewer than the text has. Two neighbours that changed places are one edit.
std::optional<std::string> did_you_mean(std::string_view text, const std::vector<std::string>& known);

// As one word of a command line for a shell of POSIX.
std::string quoted_for_shell(std::string_view word);

}  // namespace archguard
