#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "fatbin/fatbin.h"
#include "fatbin/packed_fatbins.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// What is kept of the fat binaries of one file, over all of its objects.
struct Kept {
  explicit Kept(Keep keep);

  std::size_t room;                       // for fat binaries and entries that are not packed
  std::shared_ptr<PackedFatbins> packed;  // the others, in their order; null where none is
};

// Puts the fat binaries of one object into it, so many as there is room for as they are.
class FatbinList {
 public:
  // All of these outlive it.
  FatbinList(const HostObject& host, DeviceObject& out, Kept& kept) : host_(host), out_(out), kept_(kept) {}

  void add(Fatbin fatbin);
  std::size_t fat_binaries() const { return fat_binaries_; }
  // The first fat binary that is relocatable, without its entries where it was packed; null where none is.
  const Fatbin* relocatable() const;

 private:
  void pack(Fatbin fatbin);

  const HostObject& host_;
  DeviceObject& out_;
  Kept& kept_;
  std::size_t fat_binaries_ = 0;
  bool told_ = false;                  // host code tells what it registers
  std::optional<Fatbin> relocatable_;  // of those that are packed and not listed
};

}  // namespace archguard::fatbin
