#pragma once

#include <string_view>

#include "base/bytes.h"

namespace archguard {

// Does this 64-bit little-endian ELF file name a section so? No for anything else. NVIDIA's
// forward-compatibility libcuda carries the note section ".note.cuda.fwd_compatibility", which the kernel
// driver's own does not.
bool names_elf_section(const ByteSource& file, std::string_view name);

}  // namespace archguard
