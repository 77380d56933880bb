#include "container/ptx_text.h"

#include "base/text.h"

namespace archguard {
namespace {

// Takes the word at the start of `text`, up to a blank, a comma or a comment.
std::string_view take_word(std::string_view& text) {
  text = skip_ptx_blanks(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n,;/"));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

std::string_view skip_ptx_blanks(std::string_view text) {
  if (starts_with(text, "\xef\xbb\xbf")) text.remove_prefix(3);
  for (;;) {
    const auto first = text.find_first_not_of(" \t\r\n\f\v");
    if (first == std::string_view::npos) return {};
    text.remove_prefix(first);
    const bool line = starts_with(text, "//");
    if (!line && !starts_with(text, "/*")) return text;
    const auto end = line ? text.find('\n') : text.find("*/", 2);
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + (line ? 1 : 2));
  }
}

bool is_ptx(std::string_view text) {
  return starts_with(skip_ptx_blanks(text), ".version");
}

PtxHead read_ptx_head(std::string_view text) {
  PtxHead head;
  if (take_word(text) == ".version") head.version = take_word(text);
  if (take_word(text) == ".target") head.target = take_word(text);
  return head;
}

bool PtxEnd::take(std::string_view text) {
  for (const char c : text) {
    if (take(static_cast<unsigned char>(c))) return true;
    ++size_;
  }
  return false;
}

bool PtxEnd::take(unsigned char c) {
  const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
  const bool comment =
      state_ == State::line_comment || state_ == State::block_comment || state_ == State::star;
  nul_ = c == 0;
  if (nul_ || (!comment && ((c < ' ' && !blank) || c == 0x7f))) return true;
  if (state_ == State::code && begins_next(c)) return true;
  if (line_open_) {
    line_open_ = state_ == State::code && blank && c != '\n';
    if (state_ == State::code && blank) statements_ = size_ + 1;
  }
  switch (state_) {
    case State::code:
      return !blank && take_code(c);
    case State::slash:
      state_ = c == '/' ? State::line_comment : c == '*' ? State::block_comment : State::code;
      if (state_ != State::code) return false;
      if (!in_statement_) {  // the slash begins no statement: a path, say, that stands behind the module
        --size_;
        return true;
      }
      return !blank && take_code(c);
    case State::line_comment:
      if (c == '\n') state_ = State::code;
      return false;
    case State::block_comment:
    case State::star:
      state_ = c == '/' && state_ == State::star ? State::code
               : c == '*'                        ? State::star
                                                 : State::block_comment;
      return false;
    case State::string:
      if (c == '"') state_ = State::code;
      return false;
  }
  return true;
}

// `.version` stands nowhere but at the beginning of a module.
bool PtxEnd::begins_next(unsigned char c) {
  constexpr std::string_view kVersion = ".version";
  const auto is_of_word = [](unsigned char each) {
    return (each >= '0' && each <= '9') || (each >= 'A' && each <= 'Z') || (each >= 'a' && each <= 'z') ||
           each == '_' || each == '$' || each == '%' || each == '.';
  };
  if (matched_ == kVersion.size() && !is_of_word(c)) {
    if (any_version_) {
      size_ = whole() ? statements_ : size_ - kVersion.size();
      return true;
    }
    any_version_ = true;
  }
  const bool first = c == '.' && !is_of_word(last_);
  matched_ = first                                                                    ? 1
             : matched_ != 0 && matched_ < kVersion.size() && c == kVersion[matched_] ? matched_ + 1
                                                                                      : 0;
  last_ = c;
  return false;
}

bool PtxEnd::take_code(unsigned char c) {
  if (c == '/') {
    state_ = State::slash;
    return false;
  }
  if (!in_statement_) {
    in_statement_ = c == '.' || c == '@';  // `@@DWARF`, of old compilers
    return !in_statement_ && c != ';';
  }
  if (c == '"') state_ = State::string;
  if (c == '{' || c == '(') ++depth_;
  if (c == '}' || c == ')') {
    if (depth_ == 0) return true;
    --depth_;
  }
  if ((c == ';' || c == '}') && depth_ == 0) {
    in_statement_ = false;
    any_statement_ = line_open_ = true;
    statements_ = size_ + 1;
  }
  return false;
}

}  // namespace archguard
