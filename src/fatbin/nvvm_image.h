#pragma once

#include <optional>

#include "fatbin/fatbin.h"

namespace archguard::fatbin {

// LTO-IR or OptiX-IR, as nvcc -ltoir and -optix-ir write it, whose head these bytes begin with (1 KiB, or
// all that remain); nothing where it is chance. The head tells the arch, and not where the rest ends, which
// is enciphered: the size is that of the head.
std::optional<Fatbin> read_nvvm_head(ByteView bytes);

}  // namespace archguard::fatbin
