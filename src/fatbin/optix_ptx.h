#pragma once

#include "base/bytes.h"

namespace archguard::fatbin {

// Is this PTX what OptiX compiles, and no driver loads? It calls a function of OptiX (`_optix_…`), or has a
// program of it for an entry: `__raygen__`, `__miss__` and the others of the OptiX Programming Guide,
// "Program input". False where the bytes cannot be read.
bool is_for_optix(const ByteSource& ptx);

}  // namespace archguard::fatbin
