#include "base/colour.h"

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace archguard {
namespace {

bool is_switched_on(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

enum class Chosen { automatic, always, never };
Chosen chosen_colour = Chosen::automatic;

}  // namespace

void choose_colour(std::string_view choice) {
  if (choice == "auto") chosen_colour = Chosen::automatic;
  if (choice == "always") chosen_colour = Chosen::always;
  if (choice == "never") chosen_colour = Chosen::never;
}

bool colour_for_stdout() {
  if (chosen_colour != Chosen::automatic) return chosen_colour == Chosen::always;
  if (is_switched_on("CLICOLOR_FORCE")) return true;
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  const char* no_colour = std::getenv("NO_COLOR");  // any text counts, "0" too
  return ::isatty(STDOUT_FILENO) == 1 && !dumb && (no_colour == nullptr || *no_colour == '\0');
}

}  // namespace archguard
