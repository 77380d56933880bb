#pragma once

#include <string>
#include <vector>

#include "support/builders/byte_writer.h"

namespace archguard::test {

struct CacheEntry {
  std::string name, path;
};

// /etc/ld.so.cache as glibc's ldconfig writes it; with `old` behind the table that older loaders read.
inline Bytes cache_of(const std::vector<CacheEntry>& entries, bool old = false) {
  ByteWriter table, texts;
  const std::size_t texts_at = 48 + entries.size() * 24;
  for (const CacheEntry& entry : entries) {
    const std::size_t name = texts_at + texts.size();
    texts.text(entry.name).u8(0);
    const std::size_t path = texts_at + texts.size();
    texts.text(entry.path).u8(0);
    table.u32(0x303).u32(name).u32(path).u32(0).u64(0);
  }
  ByteWriter out;
  if (old) out.text("ld.so-1.7.0").u8(0).u32(1).u32(1).u32(0).u32(0).align(8);
  out.text("glibc-ld.so.cache1.1").u32(entries.size()).u32(texts.size()).u8(2).zeros(19);
  return out.append(table.bytes()).append(texts.bytes()).bytes();
}

}  // namespace archguard::test
