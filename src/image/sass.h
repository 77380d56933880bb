#pragma once

#include "base/bytes.h"
#include "image/image.h"

namespace archguard {

// What the machine code of one kernel does, as far as its instructions tell without following calls. `sm`
// says how they are encoded: 16 bytes each from sm_70 on; for others, and for generations after the known
// ones, the answer is unknown.
KernelState state_of_sass(ByteView code, int sm);

}  // namespace archguard
