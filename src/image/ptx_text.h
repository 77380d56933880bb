#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "compat/arch.h"
#include "image/ptx_stray.h"

namespace archguard {

// PTX is ASCII text (PTX ISA, "Syntax"): comments are C++'s, a directive begins with a dot, and the first
// directive of a module is `.version`, then `.target`.

// The size of a preprocessor's line marker at the beginning of `text`, `# 1 "k.cu" 2` with its newline, which
// compilers of PTX pass over wherever a line begins or ends; 0 where there is none.
std::size_t size_of_line_marker(std::string_view text);

// Does one stand outside of the comments above a module, `above` it? nvJitLink of CUDA 12.3 and newer then
// takes the text for no PTX; older ones and ptxas take it.
bool has_line_marker(std::string_view above);

// The text after a byte order mark, blanks, comments and line markers; empty where nothing follows or a
// comment is not closed.
std::string_view skip_ptx_blanks(std::string_view text);

// Is this the beginning of a PTX module? `open`: as far as it goes, all of it may stand above one.
enum class PtxStart { yes, no, open };
PtxStart ptx_start(std::string_view text);

// In which the `.version` of a file must stand, and with it its `.target`: comments above them may hold a
// licence.
constexpr std::size_t kPtxHeadMost = std::size_t{1} << 20;

// Of a word behind `.version` or `.target` what stands before a directive: "7.8" of `7.8.target`, "sm_90" of
// `sm_90.entry`. ptxas and nvJitLink need no blank there (real.ptx).
std::string_view word_in_ptx_head(std::string_view word);

// What follows `.version` in its line, which must be nothing but blanks and a number, and the name after
// `.target` in the head of a module, "9.0" and "sm_90a"; empty where absent. Of several the last target,
// which counts (image/ptx_target.h).
struct PtxHead {
  std::string_view version;
  std::string_view target;
};
PtxHead read_ptx_head(std::string_view text);

// `sm_90a` and `compute_90a`: 90a. Nothing where it is no target that is known.
std::optional<Arch> parse_ptx_target(std::string_view target);

// Finds where a module ends whose text stands among other bytes. The text is taken piece by piece.
class PtxEnd {
 public:
  // True once the end is known: at a byte that no text holds, a NUL first of all, or at text between two
  // statements that begins none, or at the `.version` of the next module. Text that begins like a statement,
  // and is none, ends the module, too; but only the end of that text tells. A `;` behind the string of
  // `.pragma` ends no statement where that stands in the head of a kernel.
  bool take(std::string_view text);

  // Of the module, from the first byte taken. The comments above the next module are that one's.
  std::uint64_t size() const { return stray_.found() ? stray_.at() : size_; }
  // Does it hold a statement beyond the directives of its head, and end outside of braces? Else it was cut,
  // or is the beginning of a text that a program completes when it runs.
  bool whole() const {
    const bool between = depth_ == 0 && (state_ == State::code || state_ == State::line_comment);
    return stray_.found() || (any_statement_ && between);
  }
  // Does a NUL end it, outside of comments? The text of a program, then, whether whole or not.
  bool terminated() const { return nul_ && (state_ == State::code || state_ == State::line_comment); }
  // Does it hold more than directives without an end, as those of a head are?
  bool begun() const {
    return any_statement_ || depth_ != 0 || (state_ != State::code && state_ != State::line_comment);
  }

 private:
  enum class State { code, slash, marker, line_comment, block_comment, star, string };
  bool take(unsigned char c);
  bool take_code(unsigned char c);
  bool drop_beginning();
  bool begins_next(unsigned char c);

  State state_ = State::code;
  bool in_statement_ = false, any_statement_ = false;
  std::uint64_t begun_ = 0;                          // where the statement does
  bool own_pragma_ = false, behind_string_ = false;  // it is `.pragma`; nothing but blanks since a string
  unsigned char first_ = 0;                          // of the statement, a `.` or `@`,
  bool sign_ = false, has_value_ = false;  // of which there is no more yet, but blanks; it has had a `=`
  std::uint64_t depth_ = 0;                // of braces and parentheses
  std::uint64_t size_ = 0;
  std::uint64_t statements_ = 0;  // what the statements so far take, with the end of the line
  bool line_open_ = false;        // nothing but blanks since
  std::size_t matched_ = 0;       // of `.version`
  unsigned char last_ = 0;
  bool any_version_ = false, nul_ = false;
  std::uint64_t closed_ = 0;  // where the last statement ends
  PtxStray stray_;
};

}  // namespace archguard
