#include "doctor/capability_gate.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace archguard::doctor {
namespace {

bool is_white(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

bool is_of_dotted_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

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

// One statement: the pieces of text that stand in its literals as they are, and what stands outside of them.
struct Statement {
  std::vector<std::string> pieces;
  std::string code;     // without literals and comments, up to a comma outside of all brackets
  bool comma = false;   // there is one; `pieces` are those behind it
  std::size_t end = 0;  // where the statement, or its part up to that comma, ends
};

class StatementReader {
 public:
  StatementReader(std::string_view source, std::size_t at) : source_(source), at_(at) {}

  Statement read() {
    for (; at_ < source_.size(); ++at_) {
      const char c = source_[at_];
      if (c == '\n' && depth_ <= 0) break;
      if (c == '\'' || c == '"') {
        literal(c);
        continue;
      }
      if (!out_.comma) out_.code += c == '#' ? ' ' : c;
      if (c == '#') {
        skip_comment();
      } else if (c == '\\') {
        ++at_;  // the line goes on
      } else if (c == '(' || c == '[' || c == '{') {
        ++depth_;
      } else if (c == ')' || c == ']' || c == '}') {
        --depth_;
      } else if (c == ',' && depth_ == 0 && !out_.comma) {
        cut();
        out_.pieces.clear();
        out_.comma = true;
        out_.end = at_;
        out_.code.pop_back();
      } else if (!is_white(c) && c != '+' && !is_prefix(at_)) {
        cut();
      }
    }
    cut();
    if (!out_.comma) out_.end = std::min(at_, source_.size());
    return std::move(out_);
  }

 private:
  // A letter before a literal: f"…", rb"…".
  bool is_prefix(std::size_t at) const {
    std::size_t end = at;
    while (end < source_.size() && end < at + 2 && is_letter(source_[end])) ++end;
    return end > at && end < source_.size() && (source_[end] == '"' || source_[end] == '\'');
  }

  bool is_raw() const {
    for (std::size_t back = at_; back > 0 && back + 2 > at_ && is_letter(source_[back - 1]); --back)
      if (source_[back - 1] == 'r' || source_[back - 1] == 'R') return true;
    return false;
  }

  void skip_comment() {
    while (at_ + 1 < source_.size() && source_[at_ + 1] != '\n') ++at_;
  }

  void cut() {
    std::string piece = with_single_blanks(piece_);
    if (!piece.empty()) out_.pieces.push_back(std::move(piece));
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

  // "%s", "%(name)s", "%5.1f": how many characters behind the sign.
  std::size_t percent_field() const {
    std::size_t at = at_ + 1;
    if (at < source_.size() && source_[at] == '(')
      at = std::min(source_.find(')', at), source_.size() - 1) + 1;
    while (at < source_.size() &&
           std::string_view("#0123456789-+.*").find(source_[at]) != std::string_view::npos)
      ++at;
    return at < source_.size() && is_letter(source_[at]) ? at - at_ : 0;
  }

  void literal(char quote) {
    const bool raw = is_raw();
    const std::string_view thrice = source_.substr(at_, 3);
    const bool is_long = thrice == "\"\"\"" || thrice == "'''";
    at_ += is_long ? 3 : 1;
    for (; at_ < source_.size(); ++at_) {
      const char c = source_[at_];
      if (is_long ? source_.substr(at_, 3) == thrice : c == quote) break;
      const char next = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
      if (c == '\n' && !is_long) return;  // no literal after all
      if (c == '\\' && !raw) {
        if (next == '"' || next == '\'' || next == '\\') piece_ += next;
        if (next == 'n' || next == 't') piece_ += ' ';
        ++at_;  // a line end within the literal is none of the text
      } else if ((c == '{' || c == '}' || c == '%') && next == c) {
        piece_ += c;
        ++at_;
      } else if (c == '{') {
        field();
      } else if (const std::size_t length = c == '%' ? percent_field() : 0; length != 0) {
        cut();
        at_ += length;
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
  Statement out_;
};

// Characters of the pieces, if a message has all of them in their order and they are more than a few words.
std::size_t characters_in(const std::vector<std::string>& pieces, const std::vector<std::string>& messages) {
  constexpr std::size_t kTextLeast = 20, kPieceLeast = 12;
  std::size_t told = 0, longest = 0;
  for (const std::string& piece : pieces) {
    told += piece.size();
    longest = std::max(longest, piece.size());
  }
  if (told < kTextLeast || longest < kPieceLeast) return 0;
  for (const std::string& message : messages) {
    std::size_t from = 0;
    const bool all = std::all_of(pieces.begin(), pieces.end(), [&](const std::string& piece) {
      const auto at = message.find(piece, from);
      from = at == std::string::npos ? 0 : at + piece.size();
      return at != std::string::npos;
    });
    if (all) return told;
  }
  return 0;
}

// Code without the names of keyword arguments: "load(path, capability=cap)" asks for none.
std::string without_keywords(std::string_view code) {
  std::string rest;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const bool is_keyword =
        code[at] == '=' && code.substr(at, 2) != "==" && !rest.empty() && is_of_dotted_name(rest.back());
    while (is_keyword && !rest.empty() && is_of_dotted_name(rest.back())) rest.pop_back();
    rest += code[at];
  }
  return rest;
}

// Does the code ask for the GPU's compute capability, and not for another of its properties?
bool reads_capability(std::string_view code) {
  const std::string text = to_lower(without_keywords(code));
  for (const char* const word : {"total_memory", "multi_processor_count"})
    if (text.find(word) != std::string::npos) return false;
  for (const char* const word :
       {"capability", "compute_cap", "computecap", "get_device_properties", "cc_major", "is_ampere",
        "is_hopper", "is_blackwell", "sm_version", "gpu_arch", "device_arch"})
    if (text.find(word) != std::string::npos) return true;
  for (auto at = text.find("sm"); at != std::string::npos;
       at = text.find("sm", at + 1)) {  // is_sm90, sm_100, SM80OrLater
    if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) continue;
    std::size_t digit = at + 2;
    while (digit < text.size() && text[digit] == '_') ++digit;
    const auto is_digit = [&](std::size_t i) {
      return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    };
    if (is_digit(digit) && is_digit(digit + 1)) return true;  // not the cipher sm4
  }
  return false;
}

std::vector<std::string_view> dotted_names_in(std::string_view code) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < code.size();) {
    std::size_t end = at;
    while (end < code.size() && is_of_dotted_name(code[end])) ++end;
    if (end > at && std::isdigit(static_cast<unsigned char>(code[at])) == 0)
      names.push_back(code.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return names;
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

bool begins_with_word(std::string_view code, std::string_view word) {
  return starts_with(code, word) && (code.size() == word.size() || !is_of_dotted_name(code[word.size()]));
}

// "major, minor = …": the names that are given a value; empty for another line.
std::vector<std::string_view> assigned_names_in(std::string_view code) {
  const auto equals = code.find('=');
  if (equals == std::string_view::npos || equals == 0 || code.substr(equals, 2) == "==" ||
      std::string_view("<>!+-*/%|&^:").find(code[equals - 1]) != std::string_view::npos)
    return {};
  const std::string_view left = code.substr(0, code.substr(0, equals).find(':'));
  const std::string_view names = left.substr(0, equals);
  if (names.find_first_of("([{") != std::string_view::npos && names.front() != '(') return {};
  auto targets = dotted_names_in(names);
  const auto is_keyword = [](std::string_view name) {
    return name == "if" || name == "elif" || name == "def" || name == "while" || name == "return" ||
           name == "assert" || name == "for" || name == "with" || name == "in";
  };
  if (std::any_of(targets.begin(), targets.end(), is_keyword)) return {};
  targets.erase(std::remove(targets.begin(), targets.end(), "_"), targets.end());
  return targets;
}

// What leads to a statement, in the lines above it.
class ConditionFinder {
 public:
  ConditionFinder(std::string_view source, const std::vector<std::string_view>& lines, std::size_t statement)
      : source_(source), lines_(lines), statement_(statement) {}

  // The nearest condition, if it asks for the capability; else empty. Beyond it a statement stands where the
  // GPU has passed.
  std::string find() const {
    std::size_t indent = indent_of(lines_[statement_]);
    bool in_else = false;  // the branches before it stand at its own depth
    for (std::size_t i = statement_; i > first(); --i) {
      const std::string_view code = trim(lines_[i - 1]);
      if (code.empty() || code.front() == '#') continue;
      const std::size_t here = indent_of(lines_[i - 1]);
      if (here > indent || (here == indent && !in_else)) continue;
      const bool leads = begins_with_word(code, "if") || begins_with_word(code, "elif");
      if (leads) {
        const std::size_t at = place_of(i - 1);
        const Statement condition = StatementReader(source_.substr(0, at + kConditionMost), at).read();
        if (is_gate(condition.code)) return with_single_blanks(source_.substr(at, condition.end - at));
        if (!in_else || begins_with_word(code, "if")) return {};
        continue;
      }
      indent = here;
      in_else = begins_with_word(code, "else") || closes(code);
      const bool passes = in_else || begins_with_word(code, "for") || begins_with_word(code, "while") ||
                          begins_with_word(code, "with") || begins_with_word(code, "try");
      if (!passes) return {};  // a function, an `except`
    }
    return {};
  }

  // Of itself, or by a name that was given what asks for it in the same function.
  bool is_gate(const std::string& condition) const {
    if (reads_capability(condition)) return true;
    const auto names = dotted_names_in(condition);
    for (std::size_t i = begin_of_function(); i < statement_; ++i) {
      const std::string_view code = trim(lines_[i]);
      const auto equals = code.find('=');
      if (equals == std::string_view::npos || !reads_capability(code.substr(equals))) continue;
      for (const std::string_view target : assigned_names_in(code))
        for (const std::string_view name : names)
          if (name == target || (starts_with(name, target) && name[target.size()] == '.' &&
                                 name.find("total_memory") == std::string_view::npos))
            return true;
    }
    return false;
  }

 private:
  static bool closes(std::string_view code) {
    return code.front() == ')';
  }  // "):" of a condition on several lines

  std::size_t first() const { return statement_ > kLinesMost ? statement_ - kLinesMost : 0; }

  std::size_t begin_of_function() const {
    const std::size_t indent = indent_of(lines_[statement_]);
    for (std::size_t i = statement_; i > first(); --i)
      if (begins_with_word(trim(lines_[i - 1]), "def") && indent_of(lines_[i - 1]) < indent) return i;
    return first();
  }

  std::size_t place_of(std::size_t line) const {
    return static_cast<std::size_t>(lines_[line].data() - source_.data()) + indent_of(lines_[line]);
  }

  static constexpr std::size_t kLinesMost = 60, kConditionMost = 1024;
  std::string_view source_;
  const std::vector<std::string_view>& lines_;
  std::size_t statement_;
};

}  // namespace

std::vector<std::string> raised_messages(std::string_view error) {
  constexpr std::size_t kTextMost = 64 << 10, kMessageMost = 2048;
  if (error.size() > kTextMost) error.remove_prefix(error.size() - kTextMost);
  std::vector<std::string> messages;
  constexpr std::string_view kSigns[] = {"Error: ", "Exception: ", "AssertionError"};
  const auto next_sign = [&](std::size_t from) {
    std::size_t next = std::string_view::npos;
    for (const std::string_view sign : kSigns) next = std::min(next, error.find(sign, from));
    return next;
  };
  for (auto at = next_sign(0); at != std::string_view::npos;) {
    const auto next = next_sign(at + 1);
    const std::string_view text = error.substr(at, next == std::string_view::npos ? next : next - at);
    const auto frames = text.find("\nTraceback ");
    messages.push_back(with_single_blanks(text.substr(0, std::min({frames, text.size(), kMessageMost}))));
    at = next;
  }
  if (messages.empty()) messages.push_back(with_single_blanks(error.substr(0, kMessageMost)));
  return messages;
}

std::optional<RaisedText> find_capability_gate(std::string_view source,
                                               const std::vector<std::string>& messages) {
  constexpr std::size_t kStatementMost = 4096;
  std::optional<RaisedText> best;
  const std::vector<std::string_view> lines = split(source, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view code = trim(lines[i]);
    const bool asserts = begins_with_word(code, "assert");
    const bool in_line =
        begins_with_word(code, "if") || begins_with_word(code, "elif");  // if cc < 8: raise …
    const auto raise = in_line ? code.find(": raise ") : std::string_view::npos;
    if (!asserts && !begins_with_word(code, "raise") && raise == std::string_view::npos) continue;
    const std::size_t behind = raise == std::string_view::npos ? 0 : raise + 2;
    const auto at = static_cast<std::size_t>(code.data() - source.data()) + behind;
    Statement statement = StatementReader(source.substr(0, at + kStatementMost), at).read();
    if (asserts && !statement.comma) continue;
    const std::size_t told = characters_in(statement.pieces, messages);
    if (told == 0 || (best && told <= best->told)) continue;
    const ConditionFinder finder(source, lines, i);
    std::string condition;
    if (asserts && finder.is_gate(statement.code))
      condition = with_single_blanks(source.substr(at, statement.end - at));
    else if (behind != 0 && finder.is_gate(StatementReader(code.substr(0, raise), 0).read().code))
      condition = std::string(code.substr(0, raise + 1));
    else if (!asserts && behind == 0)
      condition = finder.find();
    if (!condition.empty()) best = RaisedText{i + 1, std::move(condition), told};
  }
  return best;
}

}  // namespace archguard::doctor
