#include "host/byte_stream.h"

#include <algorithm>
#include <cstring>

namespace archguard {
namespace {

constexpr std::size_t kPeekedMost = 4096;

}  // namespace

Result<std::size_t> SourceStream::next(std::uint8_t* out, std::size_t count) {
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(count, source_.size() - at_));
  if (most == 0) return most;
  ARCHGUARD_CHECK(source_.read(at_, out, most));
  at_ += most;
  return most;
}

std::uint64_t SourceStream::skip(std::uint64_t count) {
  const std::uint64_t most = std::min(count, source_.size() - at_);
  at_ += most;
  return most;
}

Result<ByteView> PeekedStream::start() {
  if (peeked_) return ByteView(start_);
  start_.resize(kPeekedMost);
  std::size_t size = 0;
  while (size < start_.size()) {
    ARCHGUARD_TRY(count, stream_.next(start_.data() + size, start_.size() - size));
    if (count == 0) break;
    size += count;
  }
  start_.resize(size);
  peeked_ = true;
  return ByteView(start_);
}

Result<std::size_t> PeekedStream::next(std::uint8_t* out, std::size_t count) {
  if (at_ == start_.size()) return stream_.next(out, count);
  const std::size_t most = std::min(count, start_.size() - at_);
  std::memcpy(out, start_.data() + at_, most);
  at_ += most;
  return most;
}

std::uint64_t PeekedStream::skip(std::uint64_t count) {
  if (at_ == start_.size()) return stream_.skip(count);
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(count, start_.size() - at_));
  at_ += most;
  return most;
}

}  // namespace archguard
