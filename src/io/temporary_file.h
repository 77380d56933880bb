#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace archguard {

// Bytes that are too many for memory, in a file that has no name and goes with the object, in the folder
// TMPDIR, else /var/tmp, which is on a disk where /tmp may be memory.
class TemporaryFile final : public ByteSource {
 public:
  static Result<TemporaryFile> create();
  // How many bytes that folder has room for; 0 where nobody knows.
  static std::uint64_t room();

  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() override;

  // Adds bytes at the end. Zeros alone take no room on the disk.
  Status append(ByteView bytes);

  std::uint64_t size() const override { return size_; }
  Status read(std::uint64_t offset, void* out, std::size_t count) const override;

 private:
  TemporaryFile(int descriptor, std::string folder) : descriptor_(descriptor), folder_(std::move(folder)) {}
  Error failed(const char* what) const;

  int descriptor_;
  std::string folder_;
  std::uint64_t size_ = 0;
};

}  // namespace archguard
