#include "explain/pasted_text.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace archguard {
namespace {

bool is_pasted_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}
bool is_pasted_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_pasted_word(char c) {
  return c == '_' || is_pasted_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Behind "\033[1;31m", where one stands at `at`.
std::size_t behind_escape(std::string_view bytes, std::size_t at) {
  constexpr std::size_t kMost = 16;
  if (bytes[at] != '\033' || at + 1 >= bytes.size() || bytes[at + 1] != '[') return at;
  for (std::size_t i = at + 2; i < bytes.size() && i < at + kMost; ++i)
    if (bytes[i] >= '@' && bytes[i] <= '~') return i + 1;
  return at;
}

bool ends_words(std::string_view lower, Found found, std::string_view pattern) {
  if (is_pasted_word(pattern.front()) && found.begin != 0 && is_pasted_word(lower[found.begin - 1]))
    return false;
  return !(is_pasted_word(pattern.back()) && found.end < lower.size() && is_pasted_word(lower[found.end]));
}

// The pieces behind the first, each as near as it stands.
std::optional<std::size_t> end_of_pieces(std::string_view lower, const std::vector<std::string_view>& pieces,
                                         std::size_t at) {
  std::size_t end = at + pieces.front().size();
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].empty()) continue;
    const auto within = lower.substr(end, kMostBetween + pieces[i].size());
    const auto next = within.find(pieces[i]);
    if (next == std::string_view::npos) return std::nullopt;
    end += next + pieces[i].size();
  }
  return end;
}

constexpr std::string_view kBridgeMarks = " :=(#";

// What stands between "CUDA" and its number.
struct Bridge {
  std::string_view before;  // up to it
  bool told = false;        // a word says that it is an error
  bool failed = false;      // "failed": of a function, as "building for CUDA failed" is no error of CUDA
};

Bridge before_number(std::string_view text) {
  constexpr std::array<std::string_view, 11> kWords = {"error",  "code", "returned", "failed",
                                                       "status", "with", "failure",  "runtime",
                                                       "driver", "api",  "errno"};
  Bridge bridge;
  for (bool again = true; again;) {
    again = false;
    while (!text.empty() && kBridgeMarks.find(text.back()) != std::string_view::npos)
      text.remove_suffix(1), again = true;
    for (const std::string_view word : kWords) {
      if (!ends_with(text, word)) continue;
      text.remove_suffix(word.size());
      bridge.told = bridge.told || (word != "with" && word != "runtime" && word != "driver" && word != "api");
      bridge.failed = bridge.failed || word == "failed";
      again = true;
    }
  }
  bridge.before = text;
  return bridge;
}

// Libraries beside CUDA, with numbers of their own, whose names begin as those of the driver's functions.
bool is_other_library(std::string_view lower) {
  constexpr std::array<std::string_view, 12> kLibraries = {"cublas",   "cudnn",  "cufft", "cusparse",
                                                           "cusolver", "curand", "cupy",  "cutensor",
                                                           "cufile",   "cudss",  "cuml",  "cudf"};
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [lower](std::string_view library) { return starts_with(lower, library); });
}

// Does the text end with a name of CUDA's: "CUDA", "cudaError_t", "cuInit", "cuModuleLoadData()"?
bool ends_with_cuda(std::string_view text, const Bridge& bridge) {
  if (ends_with(text, "()")) text.remove_suffix(2);
  std::size_t begin = text.size();
  while (begin != 0 && is_pasted_word(text[begin - 1])) --begin;
  const std::string_view name = text.substr(begin);
  const std::string lower = to_lower(name);
  if (lower == "curesult" || lower == "cudaerror_t") return true;
  if (!bridge.told || is_other_library(lower)) return false;
  if (lower == "cuda" || lower == "cuda_") return !bridge.failed;
  const std::size_t prefix = starts_with(name, "cuda") ? 4 : starts_with(name, "cu") ? 2 : 0;
  return prefix != 0 && name.size() > prefix && name[prefix] >= 'A' && name[prefix] <= 'Z';
}

// Does a noun follow on the same line, which the number counts: "2 errors detected", "100 tokens", "2 GiB"?
bool is_followed_by_noun(const PastedText& pasted, std::size_t end) {
  constexpr std::array<std::string_view, 30> kNoNouns = {
      "at", "in",  "on",   "from", "when", "while",   "after",   "during", "for",     "by",
      "is", "was", "with", "and",  "or",   "as",      "to",      "of",     "because", "but",
      "no", "the", "a",    "an",   "out",  "invalid", "unknown", "line",   "file",    "device"};
  const std::string_view lower = pasted.lower;
  if (end + 1 >= lower.size() || lower[end] != ' ') return false;
  if (std::binary_search(pasted.line_ends.begin(), pasted.line_ends.end(), end)) return false;
  std::size_t behind = end + 1;
  while (behind < lower.size() && lower[behind] >= 'a' && lower[behind] <= 'z') ++behind;
  const std::string_view word = lower.substr(end + 1, behind - end - 1);
  if (word.empty() || starts_with(word, "cu")) return false;
  return std::find(kNoNouns.begin(), kNoNouns.end(), word) == kNoNouns.end();
}

// Is it a number alone: no part of a word, a version, a percentage?
bool is_whole_number(std::string_view text, Found found) {
  const std::size_t at = found.begin, end = found.end;
  if (at != 0 && (is_pasted_word(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == '-')) return false;
  if (end < text.size() && (is_pasted_word(text[end]) || text[end] == '%')) return false;
  return !(end + 1 < text.size() && text[end] == '.' && is_pasted_digit(text[end + 1]));
}

// numba's "[222] Call to cuLinkAddData results in".
bool is_of_numba(std::string_view text, Found number) {
  constexpr std::string_view kCall = "] Call to cu";
  if (number.begin == 0 || text[number.begin - 1] != '[') return false;
  const std::string_view behind = text.substr(number.end, kCall.size() + 1);
  return starts_with(behind, kCall) && behind.back() >= 'A' && behind.back() <= 'Z';
}

// A number in place of a name: "CUDA_ERROR_209".
std::optional<Found> driver_name_with(const PastedText& pasted, Found number) {
  constexpr std::string_view kPrefix = "cuda_error_";
  const std::string_view lower = pasted.lower;
  if (!ends_with(lower.substr(0, number.begin), kPrefix)) return std::nullopt;
  const Found found{number.begin - kPrefix.size(), number.end};
  return ends_words(lower, found, lower.substr(found.begin, found.end - found.begin)) ? std::optional(found)
                                                                                      : std::nullopt;
}

// "209 35", as somebody asks for several; a longer one is a table of something else.
bool is_list_of_numbers(std::string_view text) {
  constexpr std::size_t kMost = 64;
  return text.size() <= kMost && text.find_first_not_of("0123456789 ,;") == std::string_view::npos;
}

}  // namespace

PastedText read_pasted(std::string_view bytes) {
  PastedText pasted;
  pasted.text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    if (const std::size_t behind = behind_escape(bytes, at); behind != at) {
      at = behind;
      continue;
    }
    const char c = bytes[at++];
    if (!is_pasted_blank(c)) {
      pasted.text += c;
      continue;
    }
    if (!pasted.text.empty() && pasted.text.back() != ' ') pasted.text += ' ';
    const std::size_t blank = pasted.text.size() - 1;
    if (c == '\n' && !pasted.text.empty() && (pasted.line_ends.empty() || pasted.line_ends.back() != blank))
      pasted.line_ends.push_back(blank);
  }
  if (!pasted.text.empty() && pasted.text.back() == ' ') pasted.text.pop_back();
  pasted.lower = to_lower(pasted.text);
  return pasted;
}

std::optional<Found> find_pattern(const PastedText& pasted, std::string_view pattern) {
  const std::string small = to_lower(pattern);
  const std::vector<std::string_view> pieces = split(small, '*');
  const std::string_view lower = pasted.lower;
  for (std::size_t at = lower.find(pieces.front()); at != std::string_view::npos;
       at = lower.find(pieces.front(), at + 1)) {
    const auto end = end_of_pieces(lower, pieces, at);
    if (!end) continue;
    if (ends_words(lower, {at, *end}, small)) return Found{at, *end};
  }
  return std::nullopt;
}

std::optional<Found> find_error_code(const PastedText& pasted, int code) {
  const std::string number = std::to_string(code);
  const std::string_view text = pasted.text;
  for (std::size_t at = text.find(number); at != std::string_view::npos; at = text.find(number, at + 1)) {
    const std::size_t end = at + number.size();
    if (const auto found = driver_name_with(pasted, {at, end})) return found;
    if (!is_whole_number(text, {at, end})) continue;
    if (is_of_numba(text, {at, end})) return Found{at, end};
    if (is_followed_by_noun(pasted, end)) continue;
    constexpr std::size_t kMostBefore = 64;
    const std::size_t begin = at > kMostBefore ? at - kMostBefore : 0;
    const Bridge bridge = before_number(std::string_view(pasted.lower).substr(begin, at - begin));
    const std::size_t before = bridge.before.size();
    const bool alone = (before == 0 && begin == 0 &&
                        trim(text.substr(end)).find_first_not_of(").,;:") == std::string_view::npos) ||
                       is_list_of_numbers(text);
    if (alone || ends_with_cuda(text.substr(begin, before), bridge))
      return Found{text.find_first_not_of(kBridgeMarks, begin + before), end};
  }
  return std::nullopt;
}

}  // namespace archguard
