#pragma once

#include <algorithm>

#include "fatbin/fatbin.h"
#include "fatbin/nvvm_image.h"
#include "targets.h"

namespace archguard::fuzz {

// Reads the bytes as a file and inflates every image; what is found must lie inside.
inline DeviceCode read_all(ByteView bytes) {
  const MemorySource source(bytes);
  DeviceCode code = read_device_code(source, "f");
  Inflater inflater;
  std::uint64_t left = std::uint64_t{1} << 22;  // bounds the time of one run
  for (const DeviceObject& object : code.objects) {
    promise(inside(object.file_offset, object.file_size, bytes.size));
    const PartSource part = bytes_of(object, source);
    for (const Fatbin& fatbin : object.fatbins) {
      promise(inside(fatbin.offset, fatbin.size, object.file_size));
      for (const FatbinEntry& entry : fatbin.entries) {
        promise(inside(entry.payload_offset, entry.stored_size, object.file_size));
        if (entry.uncompressed_size > std::min(left, std::uint64_t{1} << 20))
          continue;  // a real allocation, as the format allows
        left -= entry.uncompressed_size;
        const auto image = inflater.inflate(entry, part);
        promise(!image || image->size == entry.uncompressed_size);
        if (entry.kind == EntryKind::ltoir && image) (void)fatbin::check_ltoir(entry, *image);
        if (!entry.obfuscated) continue;
        if (const auto stored = inflater.stored(entry, part)) (void)fatbin::check_ltoir(entry, *stored);
      }
    }
  }
  return code;
}

}  // namespace archguard::fuzz
