#pragma once

#include <cstddef>
#include <optional>

#include "fatbin/fatbin.h"

namespace archguard::fatbin {

inline constexpr std::size_t kNvvmHead = 1024;  // far larger than any head seen: 60 bytes

// LTO-IR or OptiX-IR, as nvcc -ltoir and -optix-ir write it, whose head these bytes begin with (kNvvmHead, or
// all that remain); nothing where it is chance. The head tells the arch, and not where the rest ends, which
// is enciphered: the size is that of the head.
// Its entry is `unknown` where it is LTO-IR, for this reason.
inline constexpr const char* kLinkedByProgram = "LTO-IR, which the program links when it runs";
std::optional<Fatbin> read_nvvm_head(ByteView bytes);

// Is it LTO-IR, and not visibly damaged? `image` is an image of a fat binary: inflated, or as the file holds
// it where it is obfuscated.
Status check_ltoir(const FatbinEntry& entry, ByteView image);

}  // namespace archguard::fatbin
