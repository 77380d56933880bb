#pragma once

#include <cstdint>

#include "image/ptx_lexer.h"

namespace archguard {

// The bytes of a kernel's parameters, each at its alignment, from behind its name on:
//   (.param .u64 .ptr .global .align 8 a, .param .align 4 .b8 b[16])
// A parameter whose size is no plain number counts none. (PTX ISA, "Kernel Function Parameters".)
std::uint64_t bytes_of_ptx_parameters(PtxLexer lexer);

}  // namespace archguard
