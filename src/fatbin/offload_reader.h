#pragma once

#include <cstdint>
#include <vector>

#include "container/window.h"
#include "fatbin/fatbin.h"

namespace archguard::fatbin {

constexpr const char* kOffloadSection = ".llvm.offloading";

// One of the pieces of an offload section: an image for one architecture.
struct OffloadPiece {
  std::uint64_t end = 0;       // of the piece, within the object
  bool cuda = true;            // else an image for another vendor's devices, which is passed over
  std::optional<Entry> entry;  // nothing where the image is a fat binary of its own
  std::uint64_t image = 0, image_end = 0;
};

// The piece at `offset`, all of which must stand before `end`. Error::where is the offset within the object,
// in hex.
Result<OffloadPiece> read_offload_piece(Window& in, std::uint64_t offset, std::uint64_t end);

// The pieces of one source file make one container: an image of the same kind and arch begins the next.
bool holds_like(const Container& container, const Entry& entry);

}  // namespace archguard::fatbin
