#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.h"

namespace archguard {

// Small reads from a source through one buffer: headers that stand close together cost one read. Its memory
// is bounded by its capacity, whatever the file claims.
class Window {
 public:
  // A read that the buffer does not hold takes at least `ahead` bytes, where the source has them.
  Window(const ByteSource& source, std::size_t capacity, std::size_t ahead);

  const ByteSource& source() const { return source_; }

  // `count` bytes at `offset`, good until the next call. Fails where they lie outside the source, and where
  // `count` exceeds the capacity.
  Result<ByteView> at(std::uint64_t offset, std::size_t count);

  // The NUL-terminated text at `offset`, cut after `most` bytes; empty where it is not terminated inside.
  Result<std::string> text_at(std::uint64_t offset, std::size_t most);

 private:
  const ByteSource& source_;
  std::size_t capacity_;
  std::size_t ahead_;
  std::unique_ptr<std::uint8_t[]>
      buffer_;  // grows to what is asked for; not cleared, since each read fills it
  std::size_t held_ = 0;
  std::uint64_t start_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace archguard
