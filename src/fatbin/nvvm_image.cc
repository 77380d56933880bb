#include "fatbin/nvvm_image.h"

#include <cstring>
#include <utility>

#include "base/text.h"
#include "fatbin/format.h"
#include "host/host_file.h"

namespace archguard::fatbin {
namespace {

// Read from files that nvcc 11.8, 13.0 and 13.5 wrote: magic; versions of the fat binary, of NVVM IR, of its
// debug information and of LLVM, two bytes each; u16 size of these fields, 24; u16 level; u32 end of the
// options, u32 end of the head. Then options, u16 tag and u16 value each, up to tag 99.
constexpr std::uint64_t kFieldsSizeAt = 12, kLevelAt = 14, kOptionsEndAt = 16, kHeadEndAt = 20,
                        kFieldsSize = 24;
constexpr std::uint16_t kLevelLto = 1, kLevelOptix = 2;
constexpr std::uint16_t kTagArch = 1, kTagSpecific = 0x20, kTagEnd = 99;

// What stands behind the head is enciphered, and so is all of an obfuscated image: its bytes are as good as
// random, and so many equal ones in a row come by no chance. In the 18,600 images of LTO-IR in cuFFT 11.4 and
// 12.4, cuSPARSE 12.1 and 12.5, libmathdx and Warp no 8 are. Before CUDA 11.8 zeros shine through
// (cuSPARSE 11.7).
constexpr std::size_t kEqualMost = 31;
constexpr std::uint16_t kFirstEnciphered = 54;  // version of the container

struct Run {
  std::size_t size = 0;
  std::uint8_t byte = 0;
};

// The first run of more than kEqualMost equal bytes, if there is one: it holds a whole block of half that
// size.
Run run_of_equal_bytes(ByteView bytes) {
  constexpr std::size_t kBlock = (kEqualMost + 1) / 2;
  for (std::size_t at = 0; at + kBlock <= bytes.size; at += kBlock) {
    const std::uint8_t* const block = bytes.data + at;
    if (std::memcmp(block, block + 1, kBlock - 1) != 0) continue;
    std::size_t begin = at, end = at + kBlock;
    while (begin > 0 && bytes.data[begin - 1] == *block) --begin;
    while (end < bytes.size && bytes.data[end] == *block) ++end;
    if (end - begin > kEqualMost) return {end - begin, *block};
  }
  return {};
}

}  // namespace

std::optional<Fatbin> read_nvvm_head(ByteView bytes) {
  const Cursor in(bytes);
  const std::uint16_t level = in.u16(kLevelAt);
  const std::uint64_t options_end = in.u32(kOptionsEndAt), end = in.u32(kHeadEndAt);
  if (in.u32(0) != kNvvmMagic || in.u16(kFieldsSizeAt) != kFieldsSize ||
      (level != kLevelLto && level != kLevelOptix) || options_end < kFieldsSize || end < options_end ||
      end > bytes.size)
    return std::nullopt;
  FatbinEntry entry;
  bool ends = false;
  for (std::uint64_t at = kFieldsSize; at + 4 <= options_end && !ends; at += 4) {
    const std::uint16_t tag = in.u16(at), value = in.u16(at + 2);
    if (tag == kTagArch) entry.arch.number = value / 10;
    if (tag == kTagSpecific && value != 0) entry.arch.suffix = Suffix::a;
    ends = tag == kTagEnd;
  }
  if (!ends || entry.arch.number < 10) return std::nullopt;
  entry.kind = EntryKind::ltoir;
  entry.kind_code = kKindLtoir;
  entry.optix = level == kLevelOptix;
  if (!entry.optix) entry.unknown = kLinkedByProgram;
  entry.stored_size = entry.uncompressed_size = end;
  Fatbin fatbin;
  fatbin.size = end;
  fatbin.entries.push_back(std::move(entry));
  return fatbin;
}

Status check_ltoir(const FatbinEntry& entry, ByteView image) {
  std::uint64_t head = 0;
  if (!entry.obfuscated) {
    const Cursor in(image);
    if (in.u32(0) != kNvvmMagic) return Error{{}, "LTO-IR has no NVVM magic", {}};
    const std::uint64_t fields = in.u16(kFieldsSizeAt), options_end = in.u32(kOptionsEndAt);
    head = in.u32(kHeadEndAt);
    if (fields < kFieldsSize || options_end < fields || head < options_end || head >= image.size)
      return Error{{}, "LTO-IR has a head that is damaged", {}};
  }
  if (!entry.obfuscated && entry.ltoir_version < kFirstEnciphered) return Done{};
  const Run run = run_of_equal_bytes(Cursor(image).part(head, image.size - head));
  if (run.size == 0) return Done{};
  return Error{
      {},
      "LTO-IR is damaged: " + std::to_string(run.size) + " bytes of it in a row are " + hex(run.byte),
      {}};
}

}  // namespace archguard::fatbin
