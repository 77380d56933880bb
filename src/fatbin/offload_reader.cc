#include "fatbin/offload_reader.h"

#include <algorithm>

#include "base/text.h"
#include "fatbin/format.h"
#include "host/host_file.h"
#include "image/cubin.h"
#include "image/ptx_text.h"

namespace archguard::fatbin {
namespace {

// What clang's new offload driver (--offload-new-driver) leaves in the section .llvm.offloading of an object,
// for clang-linker-wrapper to link (LLVM, "OffloadBinary"; verified on the output of clang 19). Pieces back
// to back, at multiples of 8, one for each arch:
//   header: 4 bytes 10 ff 10 ad, u32 version 1, 8 u64 size of the piece, 16 u64 offset of the entry, 24 u64
//           its size
//   entry:  u16 kind of the image, 2 u16 producer, 4 u32 flags, 8 u64 offset of the strings, 16 u64 their
//           number, 24 u64 offset of the image, 32 u64 its size
//   string: u64 offset of the key, 8 u64 offset of the value; both end with NUL: arch=sm_80,
//   triple=nvptx64-nvidia-cuda
// Offsets count from the piece. The producer is whose code it is: 1 OpenMP's, 2 CUDA's, 8 SYCL's.
constexpr std::uint32_t kOffloadVersion = 1;
constexpr std::size_t kHeadSize = 32, kOffloadEntrySize = 40, kStringSize = 16;
constexpr std::uint64_t kStringsMost = 64;  // two or three are written
constexpr std::size_t kOffloadTextMost = 64, kHeadOfPtx = 1024;
constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__";
enum : std::uint16_t { kOffloadObject = 1, kBitcode = 2, kCubin = 3, kFatbinary = 4, kOffloadPtx = 5 };
constexpr std::uint16_t kProducerCuda = 2;

Error offload_error(std::uint64_t offset, std::string what) {
  return Error{hex(offset), std::move(what), {}};
}

class PieceReader {
 public:
  PieceReader(Window& in, std::uint64_t offset, std::uint64_t end) : in_(in), offset_(offset), end_(end) {}

  Result<OffloadPiece> read() {
    ARCHGUARD_TRY(head_bytes, part(0, kHeadSize, "offload header"));
    const Cursor head(head_bytes);
    if (head.u32(0) != kOffloadMagic)
      return offload_error(offset_,
                           "expected an offload binary's magic 0xad10ff10, found " + hex(head.u32(0)));
    if (head.u32(4) != kOffloadVersion)
      return offload_error(offset_, "offload version must be 1, found " + std::to_string(head.u32(4)));
    const std::uint64_t size = head.u64(8), entry_at = head.u64(16);
    if (size < kHeadSize || size > end_ - offset_)
      return offload_error(offset_, "offload binary needs " + count_of(size, "byte") + ", " +
                                        std::to_string(end_ - offset_) + " remain");
    end_ = offset_ + size;
    OffloadPiece piece;
    piece.end = end_;
    ARCHGUARD_TRY(entry_bytes, part(entry_at, kOffloadEntrySize, "offload entry"));
    const Cursor fields(entry_bytes);
    const std::uint16_t kind = fields.u16(0), producer = fields.u16(2);
    const std::uint64_t strings = fields.u64(8), count = fields.u64(16), image = fields.u64(24);
    const std::uint64_t image_size = fields.u64(32);
    if (!holds(image, image_size))
      return offload_error(offset_, "offload image of " + count_of(image_size, "byte") + " at " + hex(image) +
                                        " lies outside of its binary of " + count_of(size, "byte"));
    if (count > kStringsMost)
      return offload_error(offset_,
                           "offload binary has " + std::to_string(count) + " strings, at most 64 are read");
    std::string arch, triple;
    for (std::uint64_t i = 0; i < count; ++i) {
      ARCHGUARD_TRY(string, part(strings + i * kStringSize, kStringSize, "offload string"));
      const std::uint64_t key_at = Cursor(string).u64(0), value_at = Cursor(string).u64(8);
      ARCHGUARD_TRY(key, text(key_at));
      ARCHGUARD_TRY(value, text(value_at));
      if (key == "arch") arch = value;
      if (key == "triple") triple = value;
    }
    piece.cuda = starts_with(triple, "nvptx");
    piece.for_runtime = producer == kProducerCuda;
    piece.image = offset_ + image;
    piece.image_end = piece.image + image_size;
    if (!piece.cuda || kind == kFatbinary) return piece;
    FatbinEntry entry;
    entry.offset = offset_;
    entry.payload_offset = piece.image;
    entry.stored_size = entry.uncompressed_size = image_size;
    const auto parsed = starts_with(arch, "sm_") ? parse_arch(arch.substr(3)) : std::nullopt;
    if (parsed)
      entry.arch = *parsed;
    else
      entry.unknown = "arch '" + arch + "'";
    piece.whole = add_kind(kind, entry);
    piece.entry = std::move(entry);
    return piece;
  }

 private:
  bool holds(std::uint64_t from, std::uint64_t count) const {
    const std::uint64_t size = end_ - offset_;
    return from <= size && count <= size - from;
  }

  Result<ByteView> part(std::uint64_t from, std::size_t count, const char* what) {
    if (!holds(from, count))
      return offload_error(offset_, std::string(what) + " of " + count_of(count, "byte") + " at " +
                                        hex(from) + " lies outside of its binary of " +
                                        count_of(end_ - offset_, "byte"));
    auto bytes = in_.at(offset_ + from, count);
    if (!bytes) return offload_error(offset_ + from, bytes.error().what);
    return *bytes;
  }

  Result<std::string> text(std::uint64_t from) {
    if (!holds(from, 1))
      return offload_error(offset_, "offload string at " + hex(from) + " lies outside of its binary");
    auto text = in_.text_at(offset_ + from, static_cast<std::size_t>(std::min<std::uint64_t>(
                                                kOffloadTextMost, end_ - offset_ - from)));
    if (!text) return offload_error(offset_ + from, text.error().what);
    return text;
  }

  // Says whether it is a cubin that is linked.
  bool add_kind(std::uint16_t kind, FatbinEntry& entry) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kHeadOfPtx, entry.stored_size));
    const auto start = in_.at(entry.payload_offset, count);
    const ByteView bytes = start ? *start : ByteView{};
    switch (kind) {
      case kOffloadObject:
      case kCubin: {
        entry.kind = EntryKind::sass;
        entry.kind_code = kKindElf;
        const auto header = parse_elf_header(bytes);
        if (!has_elf_magic(bytes) || !header || header->machine != kElfMachineCuda)
          entry.unknown = "the image is no cubin";
        else if (identify_cubin(*header).abi == 0)
          entry.unknown = "cubin ABI " + hex(header->osabi) + "/" + std::to_string(header->abi_version);
        return entry.unknown.empty() && !is_relocatable_cubin(header->type);
      }
      case kBitcode:  // of LLVM, for the link step to compile
        entry.kind = EntryKind::ltoir;
        entry.kind_code = kKindLtoir;
        entry.own_arch = true;
        break;
      case kOffloadPtx:
        entry.kind = EntryKind::ptx;
        entry.kind_code = kKindPtx;
        entry.own_arch = true;
        entry.ptx_isa = parse_version(read_ptx_head(bytes.text()).version);
        if (!entry.ptx_isa) entry.unknown = "PTX begins without `.version X.Y`";
        break;
      default:
        entry.unknown = "offload image of kind " + std::to_string(kind);
    }
    return false;
  }

  Window& in_;
  std::uint64_t offset_;
  std::uint64_t end_;
};

}  // namespace

Result<OffloadPiece> read_offload_piece(Window& in, std::uint64_t offset, std::uint64_t end) {
  return PieceReader(in, offset, end).read();
}

bool is_cuda_bundle(std::string_view section) {
  return starts_with(section, kBundle) && section.find("-nvptx") != std::string_view::npos;
}

bool is_bundle_for_runtime(std::string_view section) {
  return starts_with(section, std::string(kBundle) + "cuda-");
}

std::optional<Fatbin> read_bitcode_bundle(Window& in, std::uint64_t offset, std::uint64_t end,
                                          std::string_view section) {
  const auto start = in.at(offset, static_cast<std::size_t>(std::min<std::uint64_t>(4, end - offset)));
  if (!start || !is_bitcode(*start)) return std::nullopt;
  FatbinEntry entry;
  entry.kind = EntryKind::ltoir;
  entry.kind_code = kKindLtoir;
  entry.own_arch = true;
  entry.offset = entry.payload_offset = offset;
  entry.stored_size = entry.uncompressed_size = end - offset;
  const auto at = section.rfind("-sm_");
  const auto arch = at == std::string_view::npos ? std::nullopt : parse_arch(section.substr(at + 4));
  if (arch)
    entry.arch = *arch;
  else
    entry.unknown = "bitcode for no architecture";
  Fatbin fatbin;
  fatbin.offset = offset;
  fatbin.size = end - offset;
  fatbin.entries.push_back(std::move(entry));
  return fatbin;
}

bool holds_like(const Fatbin& fatbin, const FatbinEntry& entry) {
  return std::any_of(fatbin.entries.begin(), fatbin.entries.end(), [&](const FatbinEntry& each) {
    return each.kind == entry.kind && each.arch == entry.arch;
  });
}

}  // namespace archguard::fatbin
