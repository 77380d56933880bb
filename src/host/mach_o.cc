#include "host/mach_o.h"

namespace archguard {
namespace {

// "OS X ABI Mach-O File Format Reference". A file begins with its magic, in its machine's byte order, and has
// the kind of file at 12: 1 for an object. A universal one is big-endian, and has the number of its files at
// 4: where a class file of Java has its version, which is 45 at least.
constexpr std::uint32_t kMach32 = 0xfeedface, kMach64 = 0xfeedfacf;
constexpr std::uint32_t kMach32Swapped = 0xcefaedfe, kMach64Swapped = 0xcffaedfe;
constexpr std::uint32_t kUniversal = 0xbebafeca, kUniversal64 = 0xbfbafeca;  // read as little-endian
constexpr std::uint64_t kMachHeaderSize = 28, kMachKindAt = 12;
constexpr std::uint8_t kMachObject = 1, kFirstJava = 45;

bool is_little(std::uint32_t magic) {
  return magic == kMach32 || magic == kMach64;
}

bool is_big(std::uint32_t magic) {
  return magic == kMach32Swapped || magic == kMach64Swapped;
}

}  // namespace

bool is_mach_o(ByteView start) {
  const Cursor in(start);
  const std::uint32_t magic = in.u32(0);
  if (!in.holds(0, kMachHeaderSize)) return false;
  if (is_little(magic) || is_big(magic)) return true;
  const bool few = in.u16(4) == 0 && in.u8(6) == 0 && in.u8(7) != 0 && in.u8(7) < kFirstJava;
  return (magic == kUniversal || magic == kUniversal64) && few;
}

bool is_mach_o_object(ByteView start) {
  const Cursor in(start);
  const std::uint32_t magic = in.u32(0);
  return (is_little(magic) && in.u32(kMachKindAt) == kMachObject) ||
         (is_big(magic) && in.u32(kMachKindAt) == std::uint32_t{kMachObject} << 24);
}

}  // namespace archguard
