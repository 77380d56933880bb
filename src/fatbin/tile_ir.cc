#include "fatbin/tile_ir.h"

#include <algorithm>

#include "fatbin/format.h"

namespace archguard::fatbin {
namespace {

// Read from what nvcc 13.5 wrote: behind the magic u8 major and minor of the version and u16 tag; then
// sections, and a byte 0. A section is a byte of its kind, with 0x80 where an alignment follows; its size;
// its alignment, of what stands behind it from the beginning on; and bytes 0xcb up to there. Both are LEB128.
constexpr std::uint64_t kVersionSize = 4;
constexpr std::uint8_t kFirstMajor = 13, kAligned = 0x80;
constexpr std::size_t kSectionHeadMost = 24, kSectionsMost = 64;

// Moves `at` behind the number.
std::uint64_t leb128(const Cursor& in, std::uint64_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 63; shift += 7) {
    const std::uint8_t byte = in.u8(at++);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) break;
  }
  return value;
}

}  // namespace

std::optional<std::uint64_t> size_of_tile_ir(Window& in, std::uint64_t at, std::uint64_t end) {
  std::uint64_t size = kTileIrMagic.size() + kVersionSize;
  if (end - at < size) return std::nullopt;
  const auto head = in.at(at, static_cast<std::size_t>(size));
  if (!head) return std::nullopt;
  const std::uint8_t major = Cursor(*head).u8(kTileIrMagic.size());
  if (major < kFirstMajor || major >= ' ') return std::nullopt;  // letters of another text
  const std::uint64_t most = end - at;
  for (std::size_t sections = 0; sections < kSectionsMost && size < most; ++sections) {
    const auto bytes =
        in.at(at + size, static_cast<std::size_t>(std::min<std::uint64_t>(kSectionHeadMost, most - size)));
    if (!bytes) break;
    const Cursor section(*bytes);
    std::uint64_t behind = 1;
    if (section.u8(0) == 0) return size + 1;
    const std::uint64_t length = leb128(section, behind);
    const std::uint64_t alignment = (section.u8(0) & kAligned) != 0 ? leb128(section, behind) : 1;
    std::uint64_t begin = size + behind;
    if (alignment == 0 || alignment > most || begin > most) break;
    begin += (alignment - begin % alignment) % alignment;
    if (begin > most || length > most - begin) break;
    size = begin + length;
  }
  return size;
}

}  // namespace archguard::fatbin
