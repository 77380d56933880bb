#pragma once

#include <atomic>
#include <utility>

#include "base/bytes.h"

namespace archguard {

// A file that remembers whether a read failed that should not: of a disk with errors, or of a file that
// shrank.
class WatchedSource final : public ByteSource {
 public:
  explicit WatchedSource(FileSource file) : file_(std::move(file)) {}
  std::uint64_t size() const override { return file_.size(); }
  Extent data_from(std::uint64_t offset) const override { return file_.data_from(offset); }
  Status read(std::uint64_t offset, void* out, std::size_t count) const override {
    auto status = file_.read(offset, out, count);
    if (!status && offset <= file_.size() && count <= file_.size() - offset) failed_ = true;
    return status;
  }
  bool failed() const override { return failed_; }

 private:
  FileSource file_;
  mutable std::atomic<bool> failed_{false};
};

}  // namespace archguard
