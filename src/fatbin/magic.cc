#include "fatbin/magic.h"

#include "fatbin/format.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kMagicSize = 4;
constexpr std::uint8_t kFirst = kMagic & 0xff, kSecond = kMagic >> 8 & 0xff;
constexpr std::size_t kBlock = 512;

// Do the first two bytes of the magic begin anywhere in a block? A loop without a way out, of bytes alone:
// compilers make vector instructions of it. Everything that no section of device code holds goes through it.
bool may_hold_magic(const std::uint8_t* block) {
  std::uint8_t any = 0;
  for (std::size_t i = 0; i < kBlock; ++i)
    any = static_cast<std::uint8_t>(any | ((block[i] == kFirst) & (block[i + 1] == kSecond)));
  return any != 0;
}

}  // namespace

std::size_t find_magic(ByteView bytes) {
  const Cursor in(bytes);
  std::size_t at = 0;
  while (bytes.size - at >= kMagicSize) {
    const bool whole = bytes.size - at >= kBlock + kMagicSize;
    const std::size_t end = whole ? at + kBlock : bytes.size - (kMagicSize - 1);
    if (whole && !may_hold_magic(bytes.data + at)) {
      at = end;
      continue;
    }
    for (; at < end; ++at)
      if (bytes.data[at] == kFirst && in.u32(at) == kMagic) return at;
  }
  return bytes.size;
}

}  // namespace archguard::fatbin
