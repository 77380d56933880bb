#include "doctor/capability_gate.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.h"

namespace archguard::doctor {
namespace {

bool is_white(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Reads the literals of one statement, which begins at `at`: the pieces of text that stand in it as they are.
class StatementReader {
 public:
  StatementReader(std::string_view source, std::size_t at) : source_(source), at_(at) {}

  std::vector<std::string> read(bool behind_comma) {
    for (; at_ < source_.size(); ++at_) {
      const char c = source_[at_];
      if (c == '\n' && depth_ <= 0) break;
      if (c == '\'' || c == '"') {
        literal(c);
        continue;
      }
      if (c == '#') {
        skip_comment();
      } else if (c == '\\') {
        ++at_;  // the line goes on
      } else if (c == '(' || c == '[' || c == '{') {
        ++depth_;
      } else if (c == ')' || c == ']' || c == '}') {
        --depth_;
      } else if (c == ',' && depth_ == 0 && behind_comma) {
        pieces_.clear();
        behind_comma = false;
      } else if (!is_white(c) && c != '+' && !is_of_literal(at_)) {
        cut();
      }
    }
    cut();
    return std::move(pieces_);
  }

 private:
  // The letters before a literal: f"…", rb"…".
  bool is_of_literal(std::size_t at) const {
    std::size_t end = at;
    while (end < source_.size() && end < at + 2 && std::isalpha(static_cast<unsigned char>(source_[end])) != 0) ++end;
    return end > at && end < source_.size() && (source_[end] == '"' || source_[end] == '\'');
  }

  void skip_comment() {
    while (at_ + 1 < source_.size() && source_[at_ + 1] != '\n') ++at_;
  }

  bool has_letter(char letter) const {
    for (std::size_t back = at_; back > 0 && back + 2 > at_; --back)
      if (std::tolower(static_cast<unsigned char>(source_[back - 1])) == letter) return true;
    return false;
  }

  void cut() {
    std::string piece = with_single_blanks(piece_);
    if (!piece.empty()) pieces_.push_back(std::move(piece));
    piece_.clear();
  }

  // A field of an f-string or of str.format, which ends at its own brace.
  void field() {
    cut();
    int depth = 0;
    for (; at_ < source_.size() && source_[at_] != '\n'; ++at_) {
      if (source_[at_] == '{') ++depth;
      if (source_[at_] == '}' && --depth == 0) return;
    }
    --at_;
  }

  void literal(char quote) {
    const bool raw = has_letter('r');
    const std::string_view thrice = source_.substr(at_, 3);
    const bool is_long = thrice == "\"\"\"" || thrice == "'''";
    at_ += is_long ? 3 : 1;
    for (; at_ < source_.size(); ++at_) {
      const char c = source_[at_];
      if (is_long ? source_.substr(at_, 3) == thrice : c == quote) break;
      const char next = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
      if (c == '\n' && !is_long) return;  // no literal after all
      if (c == '\\' && !raw) {
        piece_ += next == '"' || next == '\'' || next == '\\' ? next : ' ';
        ++at_;
      } else if ((c == '{' || c == '}') && next == c) {
        piece_ += c;
        ++at_;
      } else if (c == '{') {
        field();
      } else if (c == '%' && std::isalpha(static_cast<unsigned char>(next)) != 0) {
        cut();
        ++at_;
      } else {
        piece_ += c;
      }
    }
    if (is_long) at_ += 2;
  }

  std::string_view source_;
  std::size_t at_;
  int depth_ = 0;
  std::string piece_;
  std::vector<std::string> pieces_;
};

// Characters of the pieces, if the text has all of them in their order and they are more than a few words.
std::size_t characters_in(const std::vector<std::string>& pieces, std::string_view text) {
  constexpr std::size_t kTextLeast = 20, kPieceLeast = 12;
  std::size_t told = 0, longest = 0, from = 0;
  for (const std::string& piece : pieces) {
    const auto at = text.find(piece, from);
    if (at == std::string_view::npos) return 0;
    from = at + piece.size();
    told += piece.size();
    longest = std::max(longest, piece.size());
  }
  return told >= kTextLeast && longest >= kPieceLeast ? told : 0;
}

// Does the code ask for the GPU's compute capability?
bool reads_capability(std::string_view code) {
  const std::string text = to_lower(code);
  for (const char* const word : {"capability", "compute_cap", "computecap", "get_device_properties", "cc_major", "is_ampere",
                                 "is_hopper", "is_blackwell", "sm_version", "gpu_arch", "device_arch"})
    if (text.find(word) != std::string::npos) return true;
  for (auto at = text.find("sm"); at != std::string::npos; at = text.find("sm", at + 1)) {  // is_sm90, sm_100, SM80OrLater
    if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) continue;
    std::size_t digit = at + 2;
    while (digit < text.size() && text[digit] == '_') ++digit;
    if (digit < text.size() && std::isdigit(static_cast<unsigned char>(text[digit])) != 0) return true;
  }
  return false;
}

std::vector<std::string_view> names_in(std::string_view code) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < code.size();) {
    std::size_t end = at;
    while (end < code.size() && is_of_name(code[end])) ++end;
    if (end > at && std::isdigit(static_cast<unsigned char>(code[at])) == 0) names.push_back(code.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return names;
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

// Finds what leads to a statement in the lines above it.
class ConditionFinder {
 public:
  ConditionFinder(const std::vector<std::string_view>& lines, std::size_t statement)
      : lines_(lines), statement_(statement), begin_(statement > kLinesMost ? statement - kLinesMost : 0) {}

  // The nearest that asks for the capability; empty where none does.
  std::string find() const {
    if (const std::string own = condition_at(statement_); starts_with(own, "assert ") && is_gate(own)) return own;
    std::size_t indent = indent_of(lines_[statement_]);
    for (std::size_t i = statement_; i > begin_; --i) {
      const std::string_view line = lines_[i - 1], code = trim(line);
      if (code.empty() || code.front() == '#') continue;
      const bool leads = starts_with(code, "if ") || starts_with(code, "if(") || starts_with(code, "elif ");
      // The other branches of an `else:` stand at its own depth.
      if (indent_of(line) > indent || (indent_of(line) == indent && !(leads && behind_else_))) continue;
      indent = indent_of(line);
      behind_else_ = starts_with(code, "else") || starts_with(code, "elif ") || code.front() == ')';
      if (starts_with(code, "def ") || starts_with(code, "class ")) break;
      if (!leads) continue;
      std::string condition = condition_at(i - 1);
      if (is_gate(condition)) return condition;
    }
    return {};
  }

 private:
  // Its lines up to the one that ends it.
  std::string condition_at(std::size_t at) const {
    constexpr std::size_t kMost = 8;
    std::string condition;
    for (std::size_t i = at; i < lines_.size() && i < at + kMost; ++i) {
      const std::string_view code = trim(lines_[i]);
      condition += (condition.empty() ? "" : " ") + std::string(code);
      if (ends_with(code, ":") || starts_with(condition, "assert ")) break;
    }
    return condition;
  }

  // Of itself, or by a name that was given what asks for it.
  bool is_gate(const std::string& condition) const {
    if (reads_capability(condition)) return true;
    const auto names = names_in(condition);
    for (std::size_t i = begin_; i < statement_; ++i) {
      const std::string_view line = lines_[i];
      const auto equals = line.find('=');
      if (equals == std::string_view::npos || !reads_capability(line.substr(equals))) continue;
      for (const std::string_view name : names_in(line.substr(0, equals)))
        if (name != "_" && name != "if" && std::find(names.begin(), names.end(), name) != names.end()) return true;
    }
    return false;
  }

  static constexpr std::size_t kLinesMost = 40;
  const std::vector<std::string_view>& lines_;
  std::size_t statement_, begin_;
  mutable bool behind_else_ = false;
};

}  // namespace

std::string with_single_blanks(std::string_view text) {
  std::string single;
  for (const char c : text)
    if (!is_white(c))
      single += c;
    else if (!single.empty() && single.back() != ' ')
      single += ' ';
  while (!single.empty() && single.back() == ' ') single.pop_back();
  return single;
}

std::optional<RaisedText> find_capability_gate(std::string_view source, std::string_view error) {
  constexpr std::size_t kStatementMost = 4096;
  const std::string text = with_single_blanks(error);
  std::optional<RaisedText> best;
  std::vector<std::string_view> lines;
  for (const std::string_view word : {"raise ", "assert "})
    for (auto at = source.find(word); at != std::string_view::npos; at = source.find(word, at + 1)) {
      const auto line_begin = source.rfind('\n', at) == std::string_view::npos ? 0 : source.rfind('\n', at) + 1;
      if (!trim(source.substr(line_begin, at - line_begin)).empty()) continue;
      const std::size_t told =
          characters_in(StatementReader(source.substr(0, at + kStatementMost), at).read(word == "assert "), text);
      if (told == 0 || (best && told <= best->told)) continue;
      if (lines.empty()) lines = split(source, '\n');
      const auto line = static_cast<std::size_t>(std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
      std::string condition = ConditionFinder(lines, line).find();
      if (!condition.empty()) best = RaisedText{line + 1, std::move(condition), told};
    }
  return best;
}

}  // namespace archguard::doctor
