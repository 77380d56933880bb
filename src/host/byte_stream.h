#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace archguard {

// The fix of an archive or a package that is cut or damaged.
inline constexpr const char* kGetWhole = "get it again: copy or download it whole";

// Bytes that come one after the other, once: what is packed is not read at an offset.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // The next bytes, `count` at most; 0 at the end alone.
  virtual Result<std::size_t> next(std::uint8_t* out, std::size_t count) = 0;
  // Passes over up to `count` bytes without reading them, and says over how many.
  virtual std::uint64_t skip(std::uint64_t count) {
    static_cast<void>(count);
    return 0;
  }
};

class SourceStream final : public ByteStream {
 public:
  explicit SourceStream(const ByteSource& source) : source_(source) {}
  Result<std::size_t> next(std::uint8_t* out, std::size_t count) override;
  std::uint64_t skip(std::uint64_t count) override;

 private:
  const ByteSource& source_;
  std::uint64_t at_ = 0;
};

// A stream whose first bytes can be looked at before they are read.
class PeekedStream final : public ByteStream {
 public:
  explicit PeekedStream(ByteStream& stream) : stream_(stream) {}
  // 4 KiB, or all of a shorter one.
  Result<ByteView> start();
  Result<std::size_t> next(std::uint8_t* out, std::size_t count) override;
  std::uint64_t skip(std::uint64_t count) override;

 private:
  ByteStream& stream_;
  Bytes start_;
  std::size_t at_ = 0;  // what was read of the start
  bool peeked_ = false;
};

}  // namespace archguard
