#pragma once

#include <cstddef>

#include "base/bytes.h"

namespace archguard {

// Does this begin a stream in zlib's own format (RFC 1950)? Two bytes alone tell too little, so what is there
// is inflated; what is shorter than `whole_below` is all there is, and has to end. Nothing of an empty
// stream, and nothing of a loose object of Git, which keeps each file of its history so.
bool is_zlib_stream(ByteView start, std::size_t whole_below);

}  // namespace archguard
