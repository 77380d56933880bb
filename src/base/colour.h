#pragma once

namespace archguard {

// Shall text on standard output be coloured? On a terminal that can, unless NO_COLOR is set; CLICOLOR_FORCE
// overrides both (no-color.org, bixense.com/clicolors).
bool colour_for_stdout();

}  // namespace archguard
