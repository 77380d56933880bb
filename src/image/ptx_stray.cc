#include "image/ptx_stray.h"

#include "image/ptx_directives.h"

namespace archguard {
namespace {

bool is_in_word(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '$' ||
         c == '%' || c == '.' || c >= 0x80;
}

bool is_between_words(unsigned char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// What stands behind each of these directives, a comment apart; 0 for the others, behind which a name may.
char follower_of(std::string_view directive) {
  for (const std::string_view each : {".visible", ".extern", ".weak", ".common", ".global", ".const",
                                      ".shared", ".local", ".reg", ".tex", ".section"})
    if (directive == each) return '.';
  if (directive == ".pragma") return '"';
  return directive == ".file" || directive == ".address_size" ? '0' : '\0';
}

}  // namespace

void PtxStray::begin(std::uint64_t at, bool apart) {
  *this = PtxStray();
  stage_ = Stage::first;
  at_ = at;
  apart_ = apart;
  add_to_word('.');
}

void PtxStray::add_to_word(unsigned char c) {
  if (size_ < word_.size()) word_[size_++] = static_cast<char>(c);
}

bool PtxStray::take(unsigned char c) {
  if (stage_ == Stage::first) {
    if (is_in_word(c)) {
      add_to_word(c);
      return false;
    }
    end_first();
  }
  if (stage_ == Stage::second) {
    if (is_between_words(c)) return false;
    const bool fits = behind_ == '0' ? c >= '0' && c <= '9' : c == static_cast<unsigned char>(behind_);
    stage_ = fits || c == '/' ? Stage::none : Stage::rest;
  }
  return stage_ == Stage::rest && take_rest(c);
}

void PtxStray::end_first() {
  const PtxWord kind = look_up_ptx_directive(word());
  behind_ = kind == PtxWord::directive ? follower_of(word()) : '\0';
  cut_ = kind == PtxWord::beginning;
  const bool is_statement = kind == PtxWord::damaged || (kind == PtxWord::directive && behind_ == 0);
  stage_ = is_statement ? Stage::none : behind_ != 0 ? Stage::second : Stage::rest;
  size_ = 0;
}

// `.version` is looked for wherever it stands: what is found behind this text begins there, so that no byte
// is read for more than two modules.
bool PtxStray::take_rest(unsigned char c) {
  constexpr std::string_view kNext = ".version";
  cut_ = cut_ && is_between_words(c);
  matched_ = c == '.'                                                            ? 1
             : matched_ != 0 && c == static_cast<unsigned char>(kNext[matched_]) ? matched_ + 1
                                                                                 : 0;
  if (matched_ == kNext.size()) {
    size_ = 0;
    return true;
  }
  if (is_in_word(c)) {
    if (size_ == 0 && c != '.') in_other_ = true;
    if (!in_other_) add_to_word(c);
    return false;
  }
  if (declares()) stage_ = Stage::none;
  in_other_ = false;
  size_ = 0;
  return false;
}

// Is the word a directive which code and variables are declared with? The space of a variable alone, such as
// `.global`, is none: its type stands beside it.
bool PtxStray::declares() const {
  if (size_ == 0 || look_up_ptx_directive(word()) != PtxWord::directive) return false;
  const char behind = follower_of(word());
  return behind == 0 || word() == ".visible" || word() == ".extern" || word() == ".weak" ||
         word() == ".common";
}

bool PtxStray::found() const {
  switch (stage_) {
    case Stage::none:
    case Stage::second:
      return false;
    case Stage::first: {
      const PtxWord kind = look_up_ptx_directive(word());
      return kind == PtxWord::other || (kind == PtxWord::directive && follower_of(word()) != 0 && !apart_);
    }
    case Stage::rest:
      return !cut_ && !declares();
  }
  return false;
}

}  // namespace archguard
