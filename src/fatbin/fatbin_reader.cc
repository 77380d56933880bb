#include "fatbin/fatbin_reader.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "compat/toolkit.h"
#include "fatbin/format.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kIdentifierMost = 512;  // shown in messages; longer ones are cut

// What cannot be read from the disk, or is too much.
Error at(std::uint64_t offset, std::string what) {
  return Error{hex(offset), std::move(what), {}};
}

Error damaged_at(std::uint64_t offset, std::string what) {
  return Error{hex(offset), std::move(what), "build it again, or copy it whole"};
}

std::string needs(const std::string& subject, std::uint64_t count, std::uint64_t remain) {
  return subject + " needs " + count_of(count, "byte") + ", " + std::to_string(remain) + " remain";
}

EntryKind kind_of(std::uint16_t code) {
  switch (code) {
    case kKindPtx:
      return EntryKind::ptx;
    case kKindElf:
      return EntryKind::sass;
    case kKindLtoir:
      return EntryKind::ltoir;
    case kKindRelocatablePtx:
      return EntryKind::reloc_ptx;
    default:
      return EntryKind::other;
  }
}

void note(FatbinEntry& entry, const std::string& what) {
  entry.unknown += (entry.unknown.empty() ? "" : ", ") + what;
}

// The fields that say what the image is for. Everything this reader does not know is noted, so that nobody
// takes the image for coverage.
void read_meaning(const Cursor& fields, FatbinEntry& entry) {
  entry.kind_code = fields.u16(kKindAt);
  entry.kind = kind_of(entry.kind_code);
  entry.flags = fields.u64(kFlagsAt);
  entry.obfuscated = (entry.flags & kFlagObfuscated) != 0;
  const std::uint16_t version = fields.u16(kEntryVersionAt);
  const std::uint16_t major = fields.u16(kCodeMajorAt), minor = fields.u16(kCodeMinorAt);
  const std::uint32_t arch = fields.u32(kArchAt);

  const bool concatenated = entry.kind_code == kKindConcatenated;
  if (concatenated)
    note(entry, "several images compressed as one (nvcc --concat), which are not read");
  else if (entry.kind_code == kKindTileIr)
    note(entry, kTileIrUnknown);
  else if (entry.kind == EntryKind::other)
    note(entry, "kind " + hex(entry.kind_code));
  if (version != kEntryVersion) note(entry, "entry version " + hex(version));
  for (std::uint64_t rest = entry.flags & ~kFlagsKnown; rest != 0; rest &= rest - 1)
    note(entry, "flag " + hex(rest & (~rest + 1)));
  // Each of 140,000 entries in libraries of CUDA 8.0 to 13.5 has it; nvJitLink 12.0 to 13.5 take none
  // without.
  if (entry.kind != EntryKind::other && (entry.flags & kFlag64) == 0)
    note(entry, "flag 0x1 (64-bit) is missing");
  if (entry.kind == EntryKind::sass && (major != 1 || (minor != 7 && minor != 8)))
    note(entry, "cubin version " + std::to_string(major) + "." + std::to_string(minor));
  if (entry.kind == EntryKind::ptx || entry.kind == EntryKind::reloc_ptx)
    entry.ptx_isa = Version{major, minor};
  if (entry.kind == EntryKind::ltoir && major == 1) entry.ltoir_version = minor;

  if (arch >= 10 && arch <= 999 && !is_no_arch(static_cast<int>(arch)))
    entry.arch.number = static_cast<int>(arch);
  else if (!concatenated)  // these have one each
    note(entry, "arch " + std::to_string(arch));
  const bool a = (entry.flags & kFlagA) != 0, f = (entry.flags & kFlagF) != 0;
  if (a && f) note(entry, "both suffixes a and f");
  entry.arch.suffix = a ? Suffix::a : f ? Suffix::f : Suffix::none;
}

}  // namespace

bool FatbinReader::is_fatbin(std::uint64_t offset, std::uint64_t end) {
  if (end - offset < kHeaderSize + kEntryFieldsSize) return false;
  const auto bytes = in_.at(offset, kHeaderSize + kEntryFieldsSize);
  if (!bytes) return false;
  const Cursor header(*bytes);
  const Cursor entry(header.part(kHeaderSize, kEntryFieldsSize));
  const std::uint64_t size = header.u64(kSizeAt);
  const std::uint64_t entry_header = entry.u32(kEntryHeaderSizeAt), payload = entry.u64(kPayloadSizeAt);
  return header.u32(0) == kMagic && header.u16(kVersionAt) == 1 && header.u16(kHeaderSizeAt) == kHeaderSize &&
         size % 8 == 0 && entry_header >= kEntryFieldsSize && entry_header <= kEntryHeaderMost &&
         entry_header % 8 == 0 && payload % 8 == 0 && entry_header <= size && payload <= size - entry_header;
}

bool FatbinReader::is_damaged(std::uint64_t offset, std::uint64_t end) {
  if (end - offset < kHeaderSize + kEntryFieldsSize) return false;
  const auto bytes = in_.at(offset, kHeaderSize + kEntryFieldsSize);
  if (!bytes) return false;
  const Cursor header(*bytes);
  const Cursor entry(header.part(kHeaderSize, kEntryFieldsSize));
  const std::uint64_t size = header.u64(kSizeAt), entry_header = entry.u32(kEntryHeaderSizeAt);
  const bool versions = header.u16(kVersionAt) == 1 && header.u16(kHeaderSizeAt) == kHeaderSize;
  const bool fits = size != 0 && size % 8 == 0 && size <= end - offset - kHeaderSize;
  const bool first = entry.u16(kEntryVersionAt) == kEntryVersion && entry_header >= kEntryFieldsSize &&
                     entry_header <= kEntryHeaderMost && entry_header % 8 == 0;
  return header.u32(0) == kMagic && versions + fits + first >= 2;
}

Result<Fatbin> FatbinReader::read(std::uint64_t offset, std::uint64_t end) {
  const std::uint64_t remain = end - offset;
  if (remain < kHeaderSize) return damaged_at(offset, needs("fat binary's header", kHeaderSize, remain));
  auto bytes = in_.at(offset, kHeaderSize);
  if (!bytes) return at(offset, bytes.error().what);
  const Cursor header(*bytes);
  if (header.u16(kVersionAt) != 1)
    return damaged_at(offset,
                      "fat binary's version must be 1, found " + std::to_string(header.u16(kVersionAt)));
  if (header.u16(kHeaderSizeAt) != kHeaderSize)
    return damaged_at(
        offset, "fat binary's header size must be 16, found " + std::to_string(header.u16(kHeaderSizeAt)));
  const std::uint64_t size = header.u64(kSizeAt);
  if (size % 8 != 0)
    return damaged_at(offset, "fat binary's size must be a multiple of 8, found " + std::to_string(size));

  Fatbin fatbin;
  fatbin.offset = offset;
  const bool fits = size <= remain - kHeaderSize;
  const std::uint64_t stop = fits ? offset + kHeaderSize + size : end;
  std::uint64_t position = offset + kHeaderSize;
  fatbin.entries.reserve(entries_before_);
  while (position < stop) {
    if (fatbin.entries.size() == kEntriesMost)
      return at(position, "fat binary has more than " + std::to_string(kEntriesMost) + " entries");
    const std::size_t index = fatbin.entries.size();
    ARCHGUARD_CHECK(read_entry(index, position, stop, fatbin.entries.emplace_back(), position));
  }
  constexpr std::size_t kUsual = 64;
  entries_before_ = std::min(fatbin.entries.size(), kUsual);
  if (!fits) return damaged_at(offset, needs("fat binary", size, remain - kHeaderSize));
  fatbin.size = kHeaderSize + size;
  return fatbin;
}

Status FatbinReader::read_entry(std::size_t index, std::uint64_t offset, std::uint64_t end,
                                FatbinEntry& entry, std::uint64_t& next) {
  const auto name = [&] { return "entry " + std::to_string(index); };
  const std::uint64_t remain = end - offset;
  if (remain < kEntryFieldsSize)
    return damaged_at(offset, needs(name() + " header", kEntryFieldsSize, remain));
  auto bytes = in_.at(offset, kEntryFieldsSize);
  if (!bytes) return at(offset, bytes.error().what);
  const Cursor fields(*bytes);
  const std::uint64_t header_size = fields.u32(kEntryHeaderSizeAt), payload = fields.u64(kPayloadSizeAt);
  if (header_size < kEntryFieldsSize || header_size > kEntryHeaderMost || header_size % 8 != 0)
    return damaged_at(offset, name() + " header size must be a multiple of 8 from 64 to 1048576, found " +
                                  std::to_string(header_size));
  if (header_size > remain) return damaged_at(offset, needs(name() + " header", header_size, remain));
  if (payload % 8 != 0)
    return damaged_at(offset,
                      name() + " payload size must be a multiple of 8, found " + std::to_string(payload));
  if (payload > remain - header_size)
    return damaged_at(offset, needs(name() + " payload", payload, remain - header_size));

  entry.offset = offset;
  entry.payload_offset = offset + header_size;
  read_meaning(fields, entry);

  const std::uint64_t compressed = fields.u32(kCompressedSizeAt);
  const bool lz4 = (entry.flags & kFlagLz4) != 0, zstd = (entry.flags & kFlagZstd) != 0;
  if (lz4 && zstd) return damaged_at(offset, name() + " claims two compressions, LZ4 and zstd");
  entry.compression = lz4 ? Compression::lz4 : zstd ? Compression::zstd : Compression::none;
  if (entry.compression == Compression::none) {
    entry.stored_size = entry.uncompressed_size = payload;
  } else {
    if (compressed == 0 || compressed > payload)
      return damaged_at(offset, name() + " compressed size must be 1 to " + std::to_string(payload) +
                                    ", found " + std::to_string(compressed));
    entry.stored_size = compressed;
    entry.uncompressed_size = fields.u64(kUncompressedSizeAt);
  }

  const std::uint64_t options = fields.u32(kOptionsAt);
  if (options != 0 && options > header_size - kOptionsLeast)
    return damaged_at(offset, name() + " options lie outside the entry's header");

  const std::uint64_t identifier = fields.u32(kIdentifierAt), length = fields.u32(kIdentifierSizeAt);
  if (identifier != 0 && length != 0) {
    if (identifier > header_size || length > header_size - identifier)
      return damaged_at(offset, name() + " identifier lies outside the entry's header");
    auto text = in_.text_at(offset + identifier,
                            static_cast<std::size_t>(std::min<std::uint64_t>(length, kIdentifierMost)));
    if (!text) return at(offset, text.error().what);
    entry.identifier = std::move(*text);
  }
  next = offset + header_size + payload;
  return Done{};
}

std::optional<std::uint64_t> FatbinReader::end_of_damaged(std::uint64_t offset, std::uint64_t end) {
  const std::uint64_t remain = end - offset;
  if (remain < kHeaderSize) return std::nullopt;
  const auto bytes = in_.at(offset, kHeaderSize);
  if (!bytes) return std::nullopt;
  const Cursor header(*bytes);
  const std::uint64_t size = header.u64(kSizeAt);
  if (header.u16(kVersionAt) != 1 || header.u16(kHeaderSizeAt) != kHeaderSize || size % 8 != 0)
    return std::nullopt;
  if (size > remain - kHeaderSize) return std::nullopt;
  return offset + kHeaderSize + size;
}

}  // namespace archguard::fatbin
