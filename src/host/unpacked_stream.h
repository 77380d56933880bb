#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/byte_stream.h"

namespace archguard {

// What a stream is packed by, from its first bytes: "gzip", "xz", "zstd", "bzip2", "lz4" or "lzip"; null
// where it is packed by none of these.
const char* packed_by(ByteView start);

// Told of bytes that came out, before anything is done with them; its error ends the reading.
using Spend = std::function<Status(std::uint64_t bytes)>;

// What comes out of `packed`, whose beginning packed_by() calls `by`. Its checksums are compared at its end:
// whoever needs them reads that far. `packed` outlives it.
Result<std::unique_ptr<ByteStream>> unpack(ByteStream& packed, const std::string& by, const Spend& spend);

}  // namespace archguard
