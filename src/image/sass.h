#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "image/image.h"

namespace archguard {

// What the machine code of one kernel does, as far as its instructions tell without following calls. `sm`
// says how they are encoded: 16 bytes each from sm_70 on; for others, and for generations after the known
// ones, the answer is unknown.
//
// `printing_calls` is there for a kernel that wants no function but printf's and assert's: the offsets of
// these calls in `code`, sorted.
KernelState state_of_sass(ByteView code, int sm, const std::vector<std::uint32_t>* printing_calls = nullptr);

// Where the first instruction stands that is nothing but zeros, which no compiler writes: code was lost
// there. Nothing where there is none. Instructions have 16 bytes from sm_70 on, before it 8.
std::optional<std::uint64_t> find_zero_instruction(ByteView code, int sm);

}  // namespace archguard
