#pragma once

#include <cstddef>
#include <optional>

#include "fatbin/fatbin.h"
#include "fatbin/packed_fatbins.h"

namespace archguard {

// The fat binaries of an object, one after the other, each with its entries.
class FatbinCursor {
 public:
  // `object` outlives it.
  explicit FatbinCursor(const DeviceObject& object);

  // One of the object's own, or `unpacked`, which then holds one that was packed; null behind the last, and
  // where the rest cannot be read back.
  const Fatbin* next(Fatbin& unpacked);

  const DeviceObject& object() const { return object_; }
  // Why fat binaries are missing.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  const DeviceObject& object_;
  std::size_t listed_ = 0, unpacked_ = 0;  // so many of them came
  std::optional<fatbin::PackedFatbins::Reader> packed_;
  std::optional<Error> failure_;
};

}  // namespace archguard
