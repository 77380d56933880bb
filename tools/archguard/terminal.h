#pragma once

#include <string_view>

#include "base/result.h"

namespace archguard {

void print(std::string_view text);

// Were all prints written? Fails on a full disk or a closed descriptor.
Status finish_printing();

// "archguard: error: where: what" and the fix, to standard error.
void print_error(const Error& error);

}  // namespace archguard
