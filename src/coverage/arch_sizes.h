#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fatbin/fatbin.h"

namespace archguard {

// How many images, and what they weigh.
struct ArchSize {
  std::uint64_t images = 0;
  std::uint64_t stored = 0;        // bytes in the file
  std::uint64_t uncompressed = 0;  // bytes once inflated

  void add(const FatbinEntry& entry) {
    ++images;
    stored += entry.stored_size;
    uncompressed += entry.uncompressed_size;
  }
  void add(const ArchSize& other) {
    images += other.images;
    stored += other.stored;
    uncompressed += other.uncompressed;
  }
};
using ArchSizes = std::map<std::pair<EntryKind, Arch>, ArchSize>;

// What a result keeps of a file's device code: the images of each kind and arch, and the largest kernels.
struct CodeSizes {
  struct OfArch {
    EntryKind kind = EntryKind::other;
    Arch arch;
    ArchSize size;
  };
  struct OfKernel {
    std::string name;  // mangled
    ArchSize size;     // see KernelCosts; `images`: those that hold it
  };
  std::vector<OfArch> archs;      // sorted
  std::vector<OfKernel> largest;  // kLargestKept at most, by what the file holds of them
  std::uint64_t kernels = 0;      // in all
};
inline constexpr std::size_t kLargestKept = 12;

// By stored bytes; then by inflated ones, and name.
bool is_larger(const CodeSizes::OfKernel& a, const CodeSizes::OfKernel& b);

}  // namespace archguard
