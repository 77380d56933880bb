#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/bytes.h"
#include "io/temporary_file.h"

namespace archguard {

// Where the bytes of a packed file go: its start is kept until `wanted` has seen it (4 KiB, or all of a
// smaller one), and what is wanted is kept whole, in memory up to 4 MiB and in a temporary file beyond.
class KeptBytes {
 public:
  static constexpr std::uint64_t kInMemoryMost = std::uint64_t{4} << 20;

  explicit KeptBytes(const std::function<bool(ByteView)>& wanted) : wanted_(wanted) {}

  Status take(ByteView bytes);
  // Once all were taken. Nothing where they are not wanted.
  std::unique_ptr<ByteSource> finish();

 private:
  void decide();

  const std::function<bool(ByteView)>& wanted_;
  bool decided_ = false, keep_ = false;
  Bytes memory_;
  std::unique_ptr<TemporaryFile> file_;
};

}  // namespace archguard
