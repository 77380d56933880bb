#pragma once

#include <string_view>

namespace archguard {

// --color auto|always|never, which overrides the environment. Another word changes nothing.
void choose_colour(std::string_view choice);

// Shall text on standard output be coloured? On a terminal that can, unless NO_COLOR is set; CLICOLOR_FORCE
// overrides both (no-color.org, bixense.com/clicolors), and choose_colour() all.
bool colour_for_stdout();

}  // namespace archguard
