#include "terminal.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace archguard {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

}  // namespace

Style style_of_stdout() {
  if (is_set("CLICOLOR_FORCE")) return {true};
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return {::isatty(STDOUT_FILENO) == 1 && !dumb && !is_set("NO_COLOR")};
}

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
