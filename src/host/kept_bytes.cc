#include "host/kept_bytes.h"

#include <algorithm>
#include <utility>

namespace archguard {
namespace {

constexpr std::size_t kKeptStart = 4096;

class OwnedBytes final : public ByteSource {
 public:
  explicit OwnedBytes(Bytes bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Status read(std::uint64_t offset, void* out, std::size_t count) const override {
    return MemorySource(bytes_).read(offset, out, count);
  }

 private:
  Bytes bytes_;
};

}  // namespace

Status KeptBytes::take(ByteView bytes) {
  if (decided_ && !keep_) return Done{};
  if (file_ != nullptr) return file_->append(bytes);
  memory_.insert(memory_.end(), bytes.data, bytes.data + bytes.size);
  if (!decided_ && memory_.size() >= kKeptStart) decide();
  if (memory_.size() <= kInMemoryMost) return Done{};
  ARCHGUARD_TRY(file, TemporaryFile::create());
  file_ = std::make_unique<TemporaryFile>(std::move(file));
  ARCHGUARD_CHECK(file_->append(memory_));
  memory_ = {};
  return Done{};
}

std::unique_ptr<ByteSource> KeptBytes::finish() {
  if (!decided_) decide();
  if (!keep_) return nullptr;
  if (file_ != nullptr) return std::move(file_);
  return std::make_unique<OwnedBytes>(std::move(memory_));
}

void KeptBytes::decide() {
  decided_ = true;
  keep_ = wanted_({memory_.data(), std::min(memory_.size(), kKeptStart)});
  if (!keep_) memory_ = {};
}

}  // namespace archguard
