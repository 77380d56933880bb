#include "fatbin/signature.h"

#include <algorithm>
#include <cstring>

#include "fatbin/format.h"

// glibc knows the processor already. Asking the processor itself stops a virtual machine, for as long as
// searching 200 KB takes each time. A compiler for older glibc may have the header without the function
// behind it.
#if defined(__x86_64__) && defined(__GNUC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33) && __has_include(<sys/platform/x86.h>)
#if defined(__clang__) && defined(__STRICT_ANSI__)  // of -std=c++17, without the word that the header needs
#define _Bool bool
#include <sys/platform/x86.h>
#undef _Bool
#else
#include <sys/platform/x86.h>
#endif
#endif
#endif
#ifdef CPU_FEATURE_ACTIVE
#define ARCHGUARD_WIDE __attribute__((target("avx2")))
#define ARCHGUARD_WIDEST __attribute__((target("avx512bw")))
#define ARCHGUARD_INLINE __attribute__((always_inline)) inline
#else
#define ARCHGUARD_INLINE inline
#endif

namespace archguard::fatbin {
namespace {

constexpr std::uint8_t kFatbin[] = {kMagic & 0xff, kMagic >> 8 & 0xff, kMagic >> 16 & 0xff, kMagic >> 24};
constexpr std::uint8_t kElf[] = {0x7f, 'E', 'L', 'F'};
constexpr std::uint8_t kNvvm[] = {0xed, 'C', 'N', 0x7f};
constexpr std::uint8_t kTile[] = {0x7f, 'T', 'i', 'l', 'e', 'I', 'R', 0};
constexpr std::uint8_t kOfElfAndTile = 0xff ^ 'E' ^ 'T';  // the bits that these share
constexpr std::uint8_t kSignaturePtx[] = {'.', 'v', 'e', 'r', 's', 'i', 'o', 'n'};
constexpr std::size_t kSignatureBlock = 512,
                      kSignaturePart = 32;  // a block that may hold one is looked at in parts

// Does a signature begin with its first two bytes anywhere in so many? A loop without a way out, of bytes
// alone: compilers make vector instructions of it. Everything that no section of device code holds goes
// through it.
template <std::size_t kSize>
ARCHGUARD_INLINE bool may_hold(const std::uint8_t* bytes) {
  std::uint8_t least = 0xff;  // 0 where both bytes are those of a signature
  for (std::size_t i = 0; i < kSize; ++i) {
    const std::uint8_t first = bytes[i], second = bytes[i + 1];
    const std::uint8_t fatbin = (first ^ kFatbin[0]) | (second ^ kFatbin[1]);
    const std::uint8_t elf = (first ^ kElf[0]) | ((second ^ kElf[1]) & kOfElfAndTile);  // or Tile IR
    const std::uint8_t ptx = (first ^ kSignaturePtx[0]) | (second ^ kSignaturePtx[1]);
    const std::uint8_t nvvm = (first ^ kNvvm[0]) | (second ^ kNvvm[1]);
    least = std::min(std::min(least, nvvm), std::min(std::min(fatbin, elf), ptx));
  }
  return least == 0;
}

template <std::size_t kSize>
bool begins_with(const std::uint8_t* bytes, const std::uint8_t (&signature)[kSize]) {
  return bytes[0] == signature[0] && std::memcmp(bytes, signature, kSize) == 0;
}

ARCHGUARD_INLINE Signature find_first(ByteView bytes) {
  std::size_t at = 0;
  while (bytes.size - at >= kSignatureSize) {
    const std::size_t remain = bytes.size - at;
    if (remain >= kSignatureBlock + kSignatureSize && at % kSignatureBlock == 0 &&
        !may_hold<kSignatureBlock>(bytes.data + at)) {
      at += kSignatureBlock;
      continue;
    }
    const bool whole = remain >= kSignaturePart + kSignatureSize;
    const std::size_t end = whole ? at + kSignaturePart : bytes.size - (kSignatureSize - 1);
    if (whole && !may_hold<kSignaturePart>(bytes.data + at)) {
      at = end;
      continue;
    }
    for (; at < end; ++at) {
      const std::uint8_t* here = bytes.data + at;
      if (begins_with(here, kFatbin)) return {at, SignatureKind::fatbin};
      if (begins_with(here, kElf)) return {at, SignatureKind::elf};
      if (begins_with(here, kTile)) return {at, SignatureKind::tile_ir};
      if (begins_with(here, kNvvm)) return {at, SignatureKind::nvvm};
      if (begins_with(here, kSignaturePtx)) return {at, SignatureKind::ptx};
    }
  }
  return {bytes.size, SignatureKind::fatbin};
}

Signature find_narrow(ByteView bytes) {
  return find_first(bytes);
}

// Vectors of 64 or 32 bytes where the processor has them; every x86-64 has those of 16.
#ifdef ARCHGUARD_WIDE
ARCHGUARD_WIDEST Signature find_widest(ByteView bytes) {
  return find_first(bytes);
}

ARCHGUARD_WIDE Signature find_wide(ByteView bytes) {
  return find_first(bytes);
}
#endif

}  // namespace

Signature find_signature(ByteView bytes) {
#ifdef ARCHGUARD_WIDE
  if (CPU_FEATURE_ACTIVE(AVX512BW)) return find_widest(bytes);
  if (CPU_FEATURE_ACTIVE(AVX2)) return find_wide(bytes);
#endif
  return find_narrow(bytes);
}

}  // namespace archguard::fatbin
