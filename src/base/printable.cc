#include "base/printable.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace archguard {
namespace {

std::string escaped_byte(unsigned char byte) {
  switch (byte) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  char text[5];
  std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned>(byte));
  return text;
}

// Of a sequence of two or three bytes.
unsigned code_point(std::string_view sequence) {
  unsigned code = static_cast<unsigned char>(sequence[0]) & (sequence.size() == 2 ? 0x1fU : 0x0fU);
  for (const char c : sequence.substr(1)) code = code << 6U | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

bool does_something(unsigned code) {
  const bool control = code >= 0x80 && code < 0xa0;
  const bool line_end = code == 0x2028 || code == 0x2029;
  const bool direction = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return control || line_end || direction;
}

bool separates_words(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Nearly all text is plain, and is looked at once.
bool is_plain(std::string_view text) {
  const bool letters = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
  return letters && text.find("::") == std::string_view::npos && text.find("##") == std::string_view::npos;
}

}  // namespace

// Table 3-7 of the Unicode standard.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto tail = [&](std::size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xbf; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return tail(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned low = lead == 0xe0 ? 0xa0 : 0x80, high = lead == 0xed ? 0x9f : 0xbf;
    return byte(1) >= low && byte(1) <= high && tail(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned low = lead == 0xf0 ? 0x90 : 0x80, high = lead == 0xf4 ? 0x8f : 0xbf;
    return byte(1) >= low && byte(1) <= high && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string shown;
  shown.reserve(text.size());
  bool starts = true;  // nothing but blanks stands before, in the line or since the last blank
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    const bool command = (starts && text.substr(0, 2) == "::") || text.substr(0, 2) == "##";
    if (length == 0 || lead < ' ' || lead == 0x7f || command) {
      shown += escaped_byte(lead);
    } else if ((length == 2 || length == 3) && does_something(code_point(sequence))) {
      char escape[7];
      std::snprintf(escape, sizeof escape, "\\u%04x", code_point(sequence));
      shown += escape;
    } else {
      shown += sequence;
    }
    starts = separates_words(text[0]);
    text.remove_prefix(sequence.size());
  }
  return shown;
}

std::string excerpt(std::string_view text, std::size_t most) {
  if (text.size() <= most) return printable(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;  // no half of a letter
  return printable(text.substr(0, most)) + "…";
}

std::optional<std::string> bytes_beside(std::string_view text) {
  if (is_utf8(text)) return std::nullopt;
  std::string digits;
  for (const char c : text) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    digits += two;
  }
  return digits;
}

}  // namespace archguard
