#pragma once

#include <cstddef>
#include <optional>

#include "fatbin/fatbin.h"
#include "fatbin/packed_containers.h"

namespace archguard {

// The containers of an object, one after the other, each with its entries.
class ContainerCursor {
 public:
  // `object` outlives it.
  explicit ContainerCursor(const DeviceObject& object);

  // One of the object's own, or `unpacked`, which then holds one that was packed; null behind the last, and
  // where the rest cannot be read back.
  const Container* next(Container& unpacked);

  const DeviceObject& object() const { return object_; }
  // Why containers are missing.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  const DeviceObject& object_;
  std::size_t listed_ = 0, unpacked_ = 0;  // so many of them came
  std::optional<fatbin::PackedContainers::Reader> packed_;
  std::optional<Error> failure_;
};

}  // namespace archguard
