#include "terminal.h"

#include <cstdio>
#include <string>

namespace archguard {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

Status finish_printing() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return Error{"standard output", "cannot be written whole", {}};
  return Done{};
}

void print_error(const Error& error) {
  std::string text = "archguard: error: " + error.text() + "\n";
  if (!error.fix.empty()) text += "  fix: " + error.fix + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace archguard
