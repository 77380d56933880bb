#include <algorithm>
#include <lz4.h>
#include <zstd.h>

#include "base/text.h"
#include "fatbin/fatbin.h"
#include "fatbin/scratch.h"

namespace archguard {
namespace {

// What a stored size can become, by format: an LZ4 block gives at most 255 bytes for one of its own (a run of
// literals' or match's length bytes); a zstd block of 4 bytes gives at most 128 KiB. The absolute limit
// bounds what a hostile file costs; the largest image in NVIDIA's libraries has 134 MB.
constexpr std::uint64_t kLz4RatioMost = 255, kZstdRatioMost = std::uint64_t{32} * 1024;
constexpr std::uint64_t kImageMost = std::uint64_t{1} << 30;

Error cannot_inflate(const FatbinEntry& entry, std::string why) {
  return Error{"entry at " + hex(entry.offset), std::move(why), {}};
}

Error inflated_size(const FatbinEntry& entry, const std::string& found) {
  return cannot_inflate(
      entry, "image must inflate to " + count_of(entry.uncompressed_size, "byte") + ", found " + found);
}

// Refuses by the header alone, before anything is allocated.
Status check_sizes(const FatbinEntry& entry) {
  const std::uint64_t size = entry.uncompressed_size, stored = entry.stored_size;
  if (size > kImageMost || stored > kImageMost)
    return cannot_inflate(entry, "image of " + count_of(std::max(size, stored), "byte") +
                                     " exceeds the limit of " + std::to_string(kImageMost));
  if (entry.compression == Compression::none) return Done{};
  const std::uint64_t ratio = entry.compression == Compression::lz4 ? kLz4RatioMost : kZstdRatioMost;
  if (size == 0 || size / ratio > stored)
    return cannot_inflate(entry,
                          count_of(stored, "stored byte") + " cannot inflate to " + std::to_string(size));
  return Done{};
}

}  // namespace

std::uint64_t inflating_needs(const FatbinEntry& entry) {
  if (!check_sizes(entry)) return 0;
  const bool inflates = entry.compression != Compression::none && !entry.obfuscated;
  return entry.stored_size + (inflates ? entry.uncompressed_size : 0);
}

struct Inflater::State {
  fatbin::Scratch stored;
  fatbin::Scratch image;
  ZSTD_DCtx* zstd = nullptr;  // made at first use

  ~State() { ZSTD_freeDCtx(zstd); }
};

Inflater::Inflater() : state_(std::make_unique<State>()) {}
Inflater::~Inflater() = default;

void Inflater::shrink(std::uint64_t most) {
  if (state_->stored.capacity() + state_->image.capacity() <= most) return;
  state_->stored.release();
  state_->image.release();
}

Result<ByteView> Inflater::stored(const FatbinEntry& entry, const ByteSource& source) {
  const std::uint64_t remain =
      entry.payload_offset <= source.size() ? source.size() - entry.payload_offset : 0;
  const auto stored_size = static_cast<std::size_t>(entry.stored_size);
  ARCHGUARD_CHECK(check_sizes(entry));
  if (stored_size > remain)
    return cannot_inflate(
        entry, "image needs " + count_of(stored_size, "byte") + ", " + std::to_string(remain) + " remain");
  std::uint8_t* const stored_bytes = state_->stored.hold(stored_size);
  if (stored_bytes == nullptr && stored_size != 0)
    return cannot_inflate(entry, "no memory for " + count_of(stored_size, "byte"));
  if (Status read = source.read(entry.payload_offset, stored_bytes, stored_size); !read)
    return cannot_inflate(entry, read.error().what);
  return ByteView{stored_bytes, stored_size};
}

Result<ByteView> Inflater::inflate(const FatbinEntry& entry, const ByteSource& source) {
  if (entry.obfuscated) return cannot_inflate(entry, "image is obfuscated, it cannot be inflated");
  const auto size = static_cast<std::size_t>(entry.uncompressed_size);
  ARCHGUARD_TRY(stored, this->stored(entry, source));
  if (entry.compression == Compression::none) return stored;

  const bool lz4 = entry.compression == Compression::lz4;
  if (!lz4) {
    const unsigned long long frame = ZSTD_getFrameContentSize(stored.data, stored.size);
    if (frame == ZSTD_CONTENTSIZE_ERROR) return cannot_inflate(entry, "image is no zstd frame");
    if (frame == ZSTD_CONTENTSIZE_UNKNOWN) return inflated_size(entry, "no size in its zstd frame");
    if (frame != size) return inflated_size(entry, std::to_string(frame) + " in its zstd frame");
  }
  std::uint8_t* const image = state_->image.hold(size);
  if (image == nullptr) return cannot_inflate(entry, "no memory for " + count_of(size, "byte"));
  if (lz4) {
    const int got =
        LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data), reinterpret_cast<char*>(image),
                            static_cast<int>(stored.size), static_cast<int>(size));
    if (got < 0)
      return cannot_inflate(entry, "image is damaged: LZ4 stops at byte " + std::to_string(-(got + 1)));
    if (static_cast<std::uint64_t>(got) != size) return inflated_size(entry, std::to_string(got));
    return ByteView{image, size};
  }
  if (state_->zstd == nullptr) state_->zstd = ZSTD_createDCtx();
  if (state_->zstd == nullptr) return cannot_inflate(entry, "no memory for zstd");
  // One call into a buffer of the whole image: no window is allocated, whatever size the frame asks for.
  const std::size_t got = ZSTD_decompressDCtx(state_->zstd, image, size, stored.data, stored.size);
  if (ZSTD_isError(got) != 0)
    return cannot_inflate(entry, std::string("image is damaged: zstd: ") + ZSTD_getErrorName(got));
  if (got != size) return inflated_size(entry, std::to_string(got));
  return ByteView{image, size};
}

Result<Bytes> inflate(const FatbinEntry& entry, const ByteSource& source) {
  Inflater inflater;
  ARCHGUARD_TRY(image, inflater.inflate(entry, source));
  return Bytes(image.data, image.data + image.size);
}

}  // namespace archguard
