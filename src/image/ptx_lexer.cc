#include "image/ptx_lexer.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "image/ptx_text.h"

namespace archguard {
namespace {

// As ptxas 11.8 to 13.5 take them, also what ended a text of DOS.
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == '\x1a';  // no vertical tab
}

constexpr std::array<bool, 256> table_of(std::string_view characters) {
  std::array<bool, 256> table{};
  for (const char c : characters) table[static_cast<unsigned char>(c)] = true;
  return table;
}

bool is_word(char c) {
  static constexpr auto kWords =
      table_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%.");
  return kWords[static_cast<unsigned char>(c)];
}

// What can end a statement, or hide its end.
bool is_end_mark(char c) {
  static constexpr auto kEnds = table_of(";{}/\"");
  return kEnds[static_cast<unsigned char>(c)];
}

// What can begin or end a block, or hide its marks.
bool is_mark(char c) {
  return (c == '{') | (c == '}') | (c == '/') | (c == '"');
}

constexpr std::size_t kVector = 16, kRun = 4 * kVector;

// Loops without a way out, of bytes alone: compilers make vector instructions of them. All of a kernel's body
// goes through here.
template <std::size_t kSize>
bool has_mark(const char* run) {
  std::array<unsigned char, kVector> marks{};
  for (std::size_t at = 0; at < kSize; at += kVector)
    for (std::size_t i = 0; i < kVector; ++i) marks[i] |= is_mark(run[at + i]);
  std::array<std::uint64_t, kVector / 8> words;
  std::memcpy(words.data(), marks.data(), kVector);
  return (words[0] | words[1]) != 0;
}

std::size_t find_mark(std::string_view text, std::size_t at) {
  while (text.size() - at >= kRun && !has_mark<kRun>(text.data() + at)) at += kRun;
  while (text.size() - at >= kVector && !has_mark<kVector>(text.data() + at)) at += kVector;
  while (at < text.size() && !is_mark(text[at])) ++at;
  return at;
}

}  // namespace

void PtxLexer::skip_blanks(bool strings) {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (is_blank(c)) {
      ++at_;
      continue;
    }
    const char following = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    std::size_t end = 0;
    if (c == '/' && following == '/') {
      end = text_.find('\n', at_);
      if (end == std::string_view::npos) end = text_.size() - 1;  // the last line needs no end
    } else if (c == '/' && following == '*') {
      end = text_.find("*/", at_ + 2);
      if (end != std::string_view::npos) ++end;
    } else if (c == '"' && strings) {
      end = text_.find('"', at_ + 1);
      ++strings_;
    } else if (c == '#') {
      const std::size_t size = size_of_line_marker(text_.substr(at_));
      if (size == 0) return;
      end = at_ + size - 1;
    } else {
      return;
    }
    broken_ = end == std::string_view::npos;
    at_ = broken_ ? text_.size() : end + 1;
  }
}

std::string_view PtxLexer::next() {
  skip_blanks();
  if (at_ == text_.size()) return {};
  const std::size_t begin = at_++;
  if (!is_word(text_[begin])) return text_.substr(begin, 1);
  const bool directive = text_[begin] == '.';  // `.param.b32` is two
  bool qualified = false;                      // `shared::cta`, `.sp::2:4`; else one colon ends a label
  for (; at_ < text_.size(); ++at_) {
    if (is_word(text_[at_]) && !(directive && text_[at_] == '.')) continue;
    const std::string_view colons = text_.substr(at_, 2);
    if (colons == "::")
      ++at_;
    else if (!qualified || colons.size() < 2 || colons[0] != ':' || colons[1] < '0' || colons[1] > '9')
      break;
    qualified = true;
  }
  return text_.substr(begin, at_ - begin);
}

std::string_view PtxLexer::next_in_head() {
  const std::string_view word = next(), first = word_in_ptx_head(word);
  at_ -= word.size() - first.size();
  return first;
}

std::optional<std::string_view> PtxLexer::next_string() {
  skip_blanks(false);
  if (at_ == text_.size() || text_[at_] != '"') return std::nullopt;
  const std::size_t begin = at_ + 1, end = text_.find('"', begin);
  broken_ = end == std::string_view::npos;
  at_ = broken_ ? text_.size() : end + 1;
  if (broken_) return std::nullopt;
  return text_.substr(begin, end - begin);
}

std::string_view PtxLexer::end_of_statement(std::string_view token) {
  for (std::size_t braces = 0; !token.empty(); token = next()) {
    if (token == "{") ++braces;
    if (token == "}" && braces-- == 0) break;
    if (token == ";" && braces == 0) break;
    while (at_ < text_.size() && !is_end_mark(text_[at_])) ++at_;
  }
  return token;
}

void PtxLexer::skip_line() {
  const auto end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end;
}

bool PtxLexer::skip_block() {
  std::size_t depth = 1;
  while (depth != 0) {
    const std::size_t stop = find_mark(text_, at_);
    at_ = stop;
    if (stop == text_.size()) return false;
    const char c = text_[at_];
    if (c == '{' || c == '}') {
      depth += c == '{' ? 1 : std::size_t(-1);
      ++at_;
    } else {
      skip_blanks();
      if (at_ == stop) ++at_;  // a lone slash
    }
  }
  return true;
}

Error ptx_ends_inside(const std::string& what) {
  return {{}, "PTX ends inside " + what, "build it again, or copy it whole"};
}

}  // namespace archguard
