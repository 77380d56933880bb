#pragma once

#include <string>
#include <string_view>

namespace archguard {

// Colour of a text report, or none. The program decides which, from the terminal and the environment.
struct Style {
  bool colour = false;

  std::string error(std::string_view text) const { return paint("1;31", text); }
  std::string warning(std::string_view text) const { return paint("1;33", text); }
  std::string good(std::string_view text) const { return paint("32", text); }
  std::string strong(std::string_view text) const { return paint("1", text); }

 private:
  std::string paint(std::string_view code, std::string_view text) const {
    if (!colour) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }
};

}  // namespace archguard
