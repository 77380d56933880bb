#pragma once

#include "layout.h"

namespace archguard::fuzz {

// Changes `size` bytes in place, of which there may be `most`; the size afterwards. libFuzzer's
// LLVMFuzzerMutate.
using Plain = std::size_t (*)(std::uint8_t* data, std::size_t size, std::size_t most);

// What LLVMFuzzerCustomMutator promises: `data` has room for `most` bytes, the same seed gives the same. In
// half of the calls, and where the input has no known field, it is `plain`; else a field gets another value,
// a unit is copied, moved, exchanged or removed, or the bytes that a size counts change together with it.
std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed, Start start,
                   Plain plain);

// What LLVMFuzzerCustomCrossOver promises: `out` has room for `most` bytes. Puts a unit of `other` beside or
// in place of one of the same kind. 0, in some calls on purpose, where none was made.
std::size_t cross_over(ByteView one, ByteView other, std::uint8_t* out, std::size_t most, unsigned seed,
                       Start start);

}  // namespace archguard::fuzz
