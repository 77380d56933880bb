#include "fatbin/scratch.h"

#include <sys/mman.h>

namespace archguard::fatbin {

std::uint8_t* Scratch::hold(std::size_t size) {
  if (size <= capacity_) return data_;
  constexpr std::size_t kLarge = std::size_t{2} << 20, kSmall = std::size_t{64} << 10;  // of pages, of growth
  const std::size_t round = size < kLarge / 2 ? kSmall : kLarge;
  const std::size_t capacity = (size + round - 1) / round * round;
  void* memory = MAP_FAILED;
#ifdef MREMAP_MAYMOVE  // keeps the pages that it has: a new one costs the system as much as inflating a page
  if (data_ != nullptr) memory = ::mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
#endif
  if (memory == MAP_FAILED) {
    release();
    memory = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (memory == MAP_FAILED) return nullptr;
#ifdef MADV_HUGEPAGE
  if (round == kLarge) ::madvise(memory, capacity, MADV_HUGEPAGE);  // a wish; the answer does not matter
#endif
  data_ = static_cast<std::uint8_t*>(memory);
  capacity_ = capacity;
  return data_;
}

void Scratch::release() {
  if (data_ != nullptr) ::munmap(data_, capacity_);
  data_ = nullptr;
  capacity_ = 0;
}

}  // namespace archguard::fatbin
