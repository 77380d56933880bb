#pragma once

#include <string_view>

#include "base/result.h"

namespace archguard {

// An error where no compiler takes this for the name of a kernel, function or variable: what is no identifier
// (PTX ISA, "Identifiers"), and names that PTX has itself, as `WARP_SZ` and `%tid`.
Status check_ptx_name(std::string_view name);

// Likewise of a parameter, which may be called as a special register is; one of a kernel `_` as well.
Status check_ptx_parameter_name(std::string_view name, bool of_kernel);

}  // namespace archguard
