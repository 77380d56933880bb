#pragma once

#include <cstdint>
#include <optional>

#include "io/window.h"

namespace archguard::fatbin {

// How long the bytecode of CUDA Tile is whose magic stands at `at`. Where its sections cannot be followed, as
// far as they can. Nothing where no version stands behind the magic: so programs name it that look for it.
std::optional<std::uint64_t> size_of_tile_ir(Window& in, std::uint64_t at, std::uint64_t end);

}  // namespace archguard::fatbin
