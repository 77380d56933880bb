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

}  // namespace archguard
