#pragma once

#include <cstddef>
#include <cstdint>

namespace archguard::fatbin {

// Memory that holds one thing after another. Growing neither copies nor zeroes, and the pages are large where
// the system has such: images are written once from begin to end.
class Scratch {
 public:
  Scratch() = default;
  ~Scratch() { release(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // At least `size` bytes; what was in it may be gone. Null where there is no memory.
  std::uint8_t* hold(std::size_t size);
  std::size_t capacity() const { return capacity_; }
  void release();

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace archguard::fatbin
