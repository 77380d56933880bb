#pragma once

#include <cstddef>

#include "base/bytes.h"

namespace archguard::fatbin {

// Where the first container magic stands; bytes.size where there is none.
std::size_t find_magic(ByteView bytes);

}  // namespace archguard::fatbin
