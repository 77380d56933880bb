#include "base/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace archguard {
namespace {

// Letters put in, left out, changed, or swapped with the next.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = above;
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = a[i - 1] == b[j - 1] ? above[j - 1] : 1 + std::min({above[j - 1], above[j], row[j - 1]});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const auto at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
  std::string joined;
  for (const auto& piece : pieces) {
    if (&piece != &pieces.front()) joined += separator;
    joined += piece;
  }
  return joined;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (starts_with(text, kMark)) text.remove_prefix(kMark.size());
  return text;
}

bool is_utf16(std::string_view text) {
  if (starts_with(text, "\xff\xfe") || starts_with(text, "\xfe\xff")) return true;
  constexpr std::size_t kBytes = 16;
  const auto is_nul = [&](std::size_t at) { return text[at] == '\0'; };
  if (text.size() < kBytes || is_nul(0) == is_nul(1)) return false;
  for (std::size_t i = 2; i < kBytes; ++i)
    if (is_nul(i) != is_nul(i % 2)) return false;
  return true;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t most) {
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (digit > most || value > (most - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::string hex(std::uint64_t value) {
  char digits[19];
  std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
  return digits;
}

std::string count_of(std::uint64_t count, std::string_view singular, std::string_view plural) {
  std::string text = std::to_string(count) + " ";
  if (count == 1) return text.append(singular);
  return plural.empty() ? text.append(singular) + "s" : text.append(plural);
}

std::optional<std::string> did_you_mean(std::string_view text, const std::vector<std::string>& known) {
  std::optional<std::string> nearest;
  std::size_t best = 3;
  for (const auto& candidate : known) {
    // Other cases of letters are no edits.
    if (candidate.size() == text.size() && to_lower(candidate) == to_lower(text)) return candidate;
    if (candidate.size() > text.size() + 2 || text.size() > candidate.size() + 2) continue;
    const std::size_t distance = edit_distance(text, candidate);
    if (distance < best && distance < text.size() && (distance < 2 || candidate.size() > 5)) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string quoted_for_shell(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.,:/@%=";
  const bool plain =
      !word.empty() && word[0] != '-' && word.find_first_not_of(kPlain) == std::string_view::npos;
  if (plain) return std::string(word);
  std::string text = word.empty() || word[0] != '-' ? "'" : "'./";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace archguard
