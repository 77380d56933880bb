#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace archguard::fatbin {

// How device code begins, wherever it stands: a fat binary's magic; an ELF file, as a cubin is one; the
// fat binary of LTO-IR and OptiX-IR; the bytecode of CUDA Tile; the directive `.version`, with which the text
// of PTX begins but for comments.
enum class SignatureKind { fatbin, elf, nvvm, tile_ir, ptx };

constexpr std::size_t kSignatureSize = 8;  // of the longest

struct Signature {
  std::size_t at = 0;
  SignatureKind kind = SignatureKind::fatbin;
};

// The first one that has kSignatureSize bytes from its beginning; `at` is bytes.size where there is none.
Signature find_signature(ByteView bytes);

}  // namespace archguard::fatbin
