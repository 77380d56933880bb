#pragma once

#include "fatbin/fatbin.h"
#include "targets.h"

namespace archguard::fuzz {

// Three bytes say how large the image claims to be; what follows is what the file holds of it.
inline void inflate_one(ByteView bytes, Compression compression) {
  if (bytes.size < 3) return;
  const Cursor in(bytes);
  FatbinEntry entry;
  entry.compression = compression;
  entry.payload_offset = 3;
  entry.stored_size = bytes.size - 3;
  entry.uncompressed_size = in.u16(0) | std::uint64_t{in.u8(2)} << 16;
  const MemorySource source(bytes);
  const auto image = inflate(entry, source);
  promise(!image || image->size() == entry.uncompressed_size);
}

}  // namespace archguard::fuzz
