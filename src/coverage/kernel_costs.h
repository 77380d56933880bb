#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "coverage/arch_sizes.h"
#include "coverage/fatbin_code.h"

namespace archguard {

// What device code costs, by kernel. Every byte of every image counts once: for the kernel that it is there
// for alone (Kernel::own_size), else for what the image's kernels share, or as one of an image of which no
// kernels are known. An image is compressed as a whole: of what the file holds of it, each gets as much as it
// has of the inflated image.
class KernelCosts {
 public:
  void add(const FatbinCode& code);

  struct Cost {
    std::string name;        // mangled
    ArchSize total;          // `images`: those that hold it
    ArchSizes by_arch = {};  // likewise
  };
  struct Ranking {
    std::vector<Cost> largest;  // by what the file holds of them; then by their inflated bytes, and name
    std::uint64_t kernels = 0;  // in all
    ArchSize others = {};       // the kernels that are not among the largest
    ArchSize shared = {};       // device functions, variables, symbols, debug information, headers of images
    ArchSize unnamed = {};      // images without kernels, and those that are not read: LTO-IR, OptiX-IR
    ArchSize total = {};        // of all images: the sum of the bytes of the others
    ArchSizes by_arch = {};     // likewise
    std::uint64_t envelopes = 0;  // bytes of the fat binaries beside their images
  };
  // The `most` largest; all of them without.
  Ranking ranking(std::optional<std::size_t> most) const;
  // What a result keeps of them.
  CodeSizes sizes() const;

 private:
  std::unordered_map<std::string, ArchSizes> kernels_;
  ArchSize shared_, unnamed_, total_;
  ArchSizes by_arch_;
  std::uint64_t envelopes_ = 0;
};

}  // namespace archguard
