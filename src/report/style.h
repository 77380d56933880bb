#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"

namespace archguard {

// A part of a line as it is shown: text, escaped, or what Style made of text. The names of files and kernels
// may hold sequences of a terminal: none but Style's own reach it.
class Shown {
 public:
  Shown(const std::string& text) : text_(printable(text)) {}
  Shown(const char* text) : text_(printable(text)) {}
  const std::string& text() const { return text_; }

 private:
  friend struct Style;
  Shown() = default;
  std::string text_;
};

inline std::string line_of(const std::vector<Shown>& parts) {
  std::string line;
  for (const Shown& part : parts) line += part.text();
  return line + "\n";
}

// Colour of a text report, or none. The program decides which, from the terminal and the environment.
struct Style {
  bool colour = false;

  Shown error(const std::string& text) const { return paint("1;31", text); }
  Shown warning(const std::string& text) const { return paint("1;33", text); }
  Shown good(const std::string& text) const { return paint("32", text); }
  Shown strong(const std::string& text) const { return paint("1", text); }

 private:
  Shown paint(std::string_view code, const std::string& text) const {
    Shown shown = text;
    if (colour) shown.text_ = "\x1b[" + std::string(code) + "m" + shown.text_ + "\x1b[0m";
    return shown;
  }
};

}  // namespace archguard
