#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "elf/elf.h"

namespace archguard {

// What no ELF file of a host machine has in its section table: it was overwritten.
class SectionTableCheck {
 public:
  // All but the first one, in their order.
  void add(const ElfSection& section);
  std::optional<Error> error(bool linked);

 private:
  struct Table {
    std::uint64_t index;
    std::uint32_t names;  // the section of its names
  };
  std::uint64_t count_ = 0;
  std::uint64_t bits_ = 0;               // that are set in any header
  std::vector<std::uint64_t> offsets_;   // of those with bytes
  std::vector<bool> strings_ = {false};  // is it a table of names?
  std::vector<Table> symbols_;
};

}  // namespace archguard
