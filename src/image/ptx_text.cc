#include "image/ptx_text.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace archguard {
namespace {

constexpr std::string_view kVersion = ".version";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes the word at the start of `text`, up to a blank, a comma or a comment.
std::string_view take_word(std::string_view& text) {
  text = skip_ptx_blanks(text);
  const std::string_view word = word_in_ptx_head(text.substr(0, text.find_first_of(" \t\r\n\f,;/")));
  text.remove_prefix(word.size());
  return word;
}

void skip(std::string_view& text, std::string_view characters) {
  text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
}

bool skip_digits(std::string_view& text) {
  const bool any = !text.empty() && is_digit(text[0]);
  skip(text, "0123456789");
  return any;
}

// What stands above a module; false where it goes on behind the text, or may.
bool skip_above(std::string_view& text) {
  text = without_byte_order_mark(text);
  for (;;) {
    skip(text, " \t\r\n\f");
    if (text.empty() || text == "/") return false;
    std::size_t size = 0;
    if (starts_with(text, "//")) {
      size = text.find('\n');
    } else if (starts_with(text, "/*")) {
      size = text.find("*/", 2);
      if (size != std::string_view::npos) ++size;
    } else if (text[0] == '#') {
      size = size_of_line_marker(text);
      if (size == 0) return text.find('\n') != std::string_view::npos;
      --size;
    } else {
      return true;
    }
    if (size == std::string_view::npos) return false;
    text.remove_prefix(size + 1);
  }
}

}  // namespace

std::size_t size_of_line_marker(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\f", kLine = "line";
  std::string_view rest = text;
  if (rest.empty() || rest[0] != '#') return 0;
  rest.remove_prefix(1);
  skip(rest, kBlanks);
  if (starts_with(rest, kLine)) rest.remove_prefix(kLine.size());
  skip(rest, kBlanks);
  if (!skip_digits(rest)) return 0;
  skip(rest, kBlanks);
  if (rest.empty() || rest[0] != '"') return 0;
  const auto end = rest.find_first_of("\"\n", 1);
  if (end == std::string_view::npos || rest[end] == '\n') return 0;
  rest.remove_prefix(end + 1);
  do skip(rest, kBlanks);
  while (skip_digits(rest));
  if (rest.empty()) return text.size();
  return rest[0] == '\n' ? text.size() - rest.size() + 1 : 0;
}

bool has_line_marker(std::string_view above) {
  for (std::size_t at = 0; at < above.size();) {
    const std::string_view rest = above.substr(at);
    if (rest[0] == '#') return true;
    const bool line = starts_with(rest, "//"), block = starts_with(rest, "/*");
    const auto end = line ? rest.find('\n') : block ? rest.find("*/", 2) : 0;
    if (end == std::string_view::npos) return false;
    at += end + (block ? 2 : 1);
  }
  return false;
}

std::string_view skip_ptx_blanks(std::string_view text) {
  return skip_above(text) ? text : std::string_view();
}

PtxStart ptx_start(std::string_view text) {
  if (!skip_above(text)) return PtxStart::open;
  if (starts_with(text, kVersion)) return PtxStart::yes;
  return starts_with(kVersion, text) ? PtxStart::open : PtxStart::no;
}

std::string_view word_in_ptx_head(std::string_view word) {
  for (std::size_t at = 1; at + 1 < word.size(); ++at)
    if (word[at] == '.' && !is_digit(word[at + 1])) return word.substr(0, at);
  return word;
}

PtxHead read_ptx_head(std::string_view text) {
  PtxHead head;
  if (take_word(text) == kVersion) {
    skip(text, " \t\r\f");
    const bool number = !text.empty() && is_digit(text[0]);
    head.version =
        word_in_ptx_head(text.substr(0, text.find_first_of(number ? " \t\r\n\f,;/" : " \t\r\n\f,;")));
    text.remove_prefix(head.version.size());
  }
  while (take_word(text) == ".target") {
    for (bool more = true; more;) {
      const std::string_view word = take_word(text);
      if (head.target.empty() || parse_ptx_target(word)) head.target = word;
      text = skip_ptx_blanks(text);
      more = starts_with(text, ",");
      if (more) text.remove_prefix(1);
    }
  }
  return head;
}

std::optional<Arch> parse_ptx_target(std::string_view target) {
  for (const std::string_view kind : {"sm_", "compute_"})
    if (starts_with(target, kind)) return parse_arch(target.substr(kind.size()));
  return std::nullopt;
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
  if (state_ == State::marker && c != ' ' && c != '\t') {  // `# 1 "k.cu"`, `#line 1 "k.cu"`, or other text
    const bool marker = is_digit(static_cast<char>(c)) || c == 'l';
    state_ = marker ? State::line_comment : State::code;
    if (!marker) size_ = statements_;
    return !marker;
  }
  nul_ = c == 0;
  if (nul_ || (!comment && ((c < ' ' && !blank) || c == 0x7f))) {
    drop_beginning();
    return true;
  }
  if (state_ == State::code && begins_next(c)) return true;
  if (stray_.watches() && stray_.take(c)) return true;
  if (line_open_) {
    line_open_ = state_ == State::code && blank && c != '\n';
    if (state_ == State::code && blank) statements_ = size_ + 1;
  }
  switch (state_) {
    case State::code:
      return !blank && take_code(c);
    case State::slash:
      if (c == '/' || c == '*') {
        state_ = c == '/' ? State::line_comment : State::block_comment;
        return false;
      }
      if (drop_beginning()) return true;
      state_ = State::code;
      return !blank && take_code(c);
    case State::marker:
      return false;
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

// Behind a module may stand anything that is no part of it (a table of jumps, a path): is the byte before
// this one a sign that begins a comment or statement, and no more of it?
bool PtxEnd::drop_beginning() {
  const bool slash = state_ == State::slash && !in_statement_;
  if (!slash && !sign_) return false;
  size_ = slash ? size_ - 1 : begun_;
  state_ = State::code;
  in_statement_ = sign_ = false;
  stray_.end_statement();
  return true;
}

// `.version` stands nowhere but at the beginning of a module.
bool PtxEnd::begins_next(unsigned char c) {
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
    if (c == '#' && statements_ != 0) {
      state_ = State::marker;
      return false;
    }
    in_statement_ = c == '.' || c == '@';  // `@@DWARF`, of old compilers
    first_ = c;
    sign_ = c == '@' || (c == '.' && any_statement_);
    has_value_ = false;
    begun_ = size_;
    if (c == '.' && any_statement_) stray_.begin(size_, size_ != closed_);
    return !in_statement_ && c != ';';  // a `;` too many is what assemblers refuse
  }
  if (sign_ && first_ == '@' && c != '@') return drop_beginning();
  sign_ = false;
  if (size_ == begun_ + 1) own_pragma_ = c == 'p';
  const bool behind_string = std::exchange(behind_string_, c == '"');
  if (c == '"') state_ = State::string;
  if (c == '{' || c == '(') ++depth_;
  if (c == '}' || c == ')') {
    if (depth_ == 0) return true;
    --depth_;
  }
  if (c == '=' && depth_ == 0) has_value_ = true;
  const bool ends = (c == '}' && !has_value_) || (c == ';' && (!behind_string || own_pragma_));
  if (ends && depth_ == 0) {
    in_statement_ = false;
    any_statement_ = line_open_ = true;
    statements_ = closed_ = size_ + 1;
    stray_.end_statement();
  }
  return false;
}

}  // namespace archguard
