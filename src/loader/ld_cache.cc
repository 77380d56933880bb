#include "loader/ld_cache.h"

#include <algorithm>

#include "base/text.h"

namespace archguard {
namespace {

// glibc's sysdeps/generic/dl-cache.h: 48 bytes of header, of which count (20) and the bytes of texts (24)
// matter here; then entries of 24 bytes: flags, the offsets of name and path from the header's start,
// version, hardware capabilities. Files that very old loaders read too begin with another table, of 12-byte
// entries.
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1", kOldMagic = "ld.so-1.7.0";
constexpr std::size_t kCacheHeaderSize = 48, kCacheEntrySize = 24, kOldHeaderSize = 16, kOldEntrySize = 12;
constexpr std::uint64_t kCacheNameMost = 256, kCachePathMost = 4096;  // no file has longer ones

std::string_view text_at(const Cursor& in, std::uint64_t offset, std::uint64_t most) {
  const std::uint64_t remain = in.holds(offset, 0) ? in.size() - offset : 0;
  return Cursor(in.part(offset, std::min(remain, most))).c_string(0);
}

}  // namespace

Result<LoaderCache> parse_loader_cache(ByteView bytes) {
  if (starts_with(bytes.text(), kOldMagic)) {
    const Cursor old(bytes);
    std::uint64_t size = kOldHeaderSize + std::uint64_t{old.u32(12)} * kOldEntrySize;
    size = (size + 7) / 8 * 8;
    bytes = old.part(size, old.holds(size, 0) ? old.size() - size : 0);
  }
  if (!starts_with(bytes.text(), kMagic)) return Error{{}, "is no cache of glibc's loader", {}};
  const Cursor in(bytes);
  const std::uint64_t count = in.u32(20);
  if (!in.holds(kCacheHeaderSize, count * kCacheEntrySize))
    return Error{{},
                 "cache of glibc's loader needs " +
                     count_of(count * kCacheEntrySize + kCacheHeaderSize, "byte") + ", has " +
                     std::to_string(in.size()),
                 {}};
  LoaderCache cache;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t entry = kCacheHeaderSize + i * kCacheEntrySize;
    const std::string_view name = text_at(in, in.u32(entry + 4), kCacheNameMost);
    const std::string_view path = text_at(in, in.u32(entry + 8), kCachePathMost);
    if (!name.empty() && !path.empty()) cache[name].push_back(path);
  }
  return cache;
}

}  // namespace archguard
