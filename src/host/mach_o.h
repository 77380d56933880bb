#pragma once

#include "base/bytes.h"

namespace archguard {

// A program, library or object of macOS, by the first bytes of the file: Mach-O of 32 or 64 bits in either
// byte order, or a universal file of several. CUDA had a toolkit for macOS up to 10.2; its libraries hold fat
// binaries as those of other systems do, and are searched for them as a whole.
bool is_mach_o(ByteView start);

// Of one that is_mach_o(): is it still to be linked? Of a universal file nobody asks.
bool is_mach_o_object(ByteView start);

}  // namespace archguard
