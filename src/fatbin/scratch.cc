#include "fatbin/scratch.h"

#include <sys/mman.h>

namespace archguard::fatbin {

std::uint8_t* Scratch::hold(std::size_t size) {
  if (size <= capacity_) return data_;
  release();
  constexpr std::size_t kRound = std::size_t{2} << 20;  // a large page
  const std::size_t capacity = (size + kRound - 1) / kRound * kRound;
  void* memory = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
#ifdef MADV_HUGEPAGE
  ::madvise(memory, capacity, MADV_HUGEPAGE);  // a wish; the answer does not matter
#endif
  data_ = static_cast<std::uint8_t*>(memory);
  capacity_ = capacity;
  return data_;
}

void Scratch::shrink(std::size_t most) {
  if (capacity_ > most) release();
}

void Scratch::release() {
  if (data_ != nullptr) ::munmap(data_, capacity_);
  data_ = nullptr;
  capacity_ = 0;
}

}  // namespace archguard::fatbin
