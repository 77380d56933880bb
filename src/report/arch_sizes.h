#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "fatbin/fatbin.h"

namespace archguard {

// How many images of each kind and arch, and what they weigh.
struct ArchSize {
  std::uint64_t images = 0;
  std::uint64_t stored = 0;        // bytes in the file
  std::uint64_t uncompressed = 0;  // bytes once inflated

  void add(const FatbinEntry& entry) {
    ++images;
    stored += entry.stored_size;
    uncompressed += entry.uncompressed_size;
  }
};
using ArchSizes = std::map<std::pair<EntryKind, Arch>, ArchSize>;

}  // namespace archguard
