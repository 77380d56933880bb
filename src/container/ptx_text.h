#pragma once

#include <cstdint>
#include <string_view>

namespace archguard {

// PTX is ASCII text (PTX ISA, "Syntax"): comments are C++'s, a directive begins with a dot, and the first
// directive of a module is `.version`, then `.target`.

// The text after a byte order mark, blanks and comments; empty where nothing follows or a comment is not
// closed.
std::string_view skip_ptx_blanks(std::string_view text);

// Is this the beginning of a PTX module?
bool is_ptx(std::string_view text);

// What follows `.version` and the name after `.target` in the head of a module, "9.0" and "sm_90a"; empty
// where absent.
struct PtxHead {
  std::string_view version;
  std::string_view target;
};
PtxHead read_ptx_head(std::string_view text);

// Finds where a module ends whose text stands among other bytes. The text is taken piece by piece.
class PtxEnd {
 public:
  // True once the end is known: at a byte that no text holds, a NUL first of all, or at text between two
  // statements that begins none, or at the `.version` of the next module.
  bool take(std::string_view text);

  // Of the module, from the first byte taken. The comments above the next module are that one's.
  std::uint64_t size() const { return size_; }
  // Does it hold a statement beyond the directives of its head, and end outside of braces? Else it was cut,
  // or is the beginning of a text that a program completes when it runs.
  bool whole() const {
    return any_statement_ && depth_ == 0 && (state_ == State::code || state_ == State::line_comment);
  }
  // Does a NUL end it, outside of comments? The text of a program, then, whether whole or not.
  bool terminated() const { return nul_ && (state_ == State::code || state_ == State::line_comment); }
  // Does it hold more than directives without an end, as those of a head are?
  bool begun() const {
    return any_statement_ || depth_ != 0 || (state_ != State::code && state_ != State::line_comment);
  }

 private:
  enum class State { code, slash, line_comment, block_comment, star, string };
  bool take(unsigned char c);
  bool take_code(unsigned char c);
  bool begins_next(unsigned char c);

  State state_ = State::code;
  bool in_statement_ = false, any_statement_ = false;
  std::uint64_t depth_ = 0;  // of braces and parentheses
  std::uint64_t size_ = 0;
  std::uint64_t statements_ = 0;  // what the statements so far take, with the end of the line
  bool line_open_ = false;        // nothing but blanks since
  std::size_t matched_ = 0;       // of `.version`
  unsigned char last_ = 0;
  bool any_version_ = false, nul_ = false;
};

}  // namespace archguard
