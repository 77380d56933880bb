#include "fatbin/nvvm_image.h"

#include <utility>

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

}  // namespace archguard::fatbin
