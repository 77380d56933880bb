#pragma once

#include "base/result.h"
#include "image/ptx_directives.h"
#include "image/ptx_lexer.h"

namespace archguard {

// Moves from behind `.pragma` to before the `;` of `.pragma "nounroll", "other";`, or to the end of a text
// that ends first. An error where no compiler takes it: at module scope none takes a pragma that it does not
// know, and in the head of a kernel none takes what belongs into a body.
Status read_ptx_pragma(PtxLexer& lexer, PtxPlace place);

}  // namespace archguard
