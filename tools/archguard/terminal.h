#pragma once

#include <string_view>

#include "base/result.h"
#include "report/style.h"

namespace archguard {

// Colour for standard output: a terminal that can, unless NO_COLOR; CLICOLOR_FORCE overrides both
// (no-color.org, bixense.com/clicolors).
Style style_of_stdout();

void print(std::string_view text);

// Were all prints written? Fails on a full disk or a closed descriptor.
Status finish_printing();

// "archguard: error: where: what" and the fix, to standard error.
void print_error(const Error& error);

}  // namespace archguard
