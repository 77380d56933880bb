#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "host/host_file.h"
#include "fatbin/fatbin.h"
#include "fatbin/packed_containers.h"

namespace archguard::fatbin {

// What is kept of the containers of one file, over all of its objects.
struct Kept {
  explicit Kept(Keep keep);

  std::size_t room;                          // for containers and entries that are not packed
  std::shared_ptr<PackedContainers> packed;  // the others, in their order; null where none is
};

// Puts the containers of one object into it, so many as there is room for as they are.
class ContainerList {
 public:
  // All of these outlive it.
  ContainerList(const HostObject& host, DeviceObject& out, Kept& kept)
      : host_(host), out_(out), kept_(kept) {}

  void add(Container container);
  std::size_t fat_binaries() const { return fat_binaries_; }
  // The first fat binary that is relocatable, without its entries where it was packed; null where none is.
  const Container* relocatable() const;

 private:
  void pack(Container container);

  const HostObject& host_;
  DeviceObject& out_;
  Kept& kept_;
  std::size_t fat_binaries_ = 0;
  bool told_ = false;                     // host code tells what it registers
  std::optional<Container> relocatable_;  // of those that are packed and not listed
};

}  // namespace archguard::fatbin
