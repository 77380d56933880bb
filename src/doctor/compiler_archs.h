#pragma once

#include <optional>
#include <string>

#include "base/version.h"
#include "compat/arch.h"

// Which architectures a compiler of device code knows, by its release.
namespace archguard::doctor {

enum class Knows { yes, too_old, too_new, untold };
Knows knows(Version toolkit, Arch arch);

// Of a compiler that is too old the first release that knows it, of one that is too new the last.
std::optional<Version> nearest_that_knows(Arch arch, Knows answer);
// "the first that does is 12.8"
std::string range_text(Arch arch, Knows answer);

}  // namespace archguard::doctor
