#pragma once

#include <string_view>

#include "base/result.h"
#include "base/version.h"

namespace archguard {

// Where a directive stands, outside of bodies and parameters.
enum class PtxPlace {
  statement = 1,  // begins one
  linked = 2,     // behind `.visible`, `.weak`, `.common` or `.extern`
  function = 4,   // between `.entry` or `.func` and the body
  variable = 8,   // in a declaration, before the name
};

// An error where no compiler of this PTX ISA takes the directive there, or this table does not have it: one
// of an ISA to come is then not understood, and never passed over.
Status check_ptx_directive(std::string_view directive, PtxPlace place, Version isa);

}  // namespace archguard
