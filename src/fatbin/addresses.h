#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/host_file.h"

namespace archguard::fatbin {

// Where a pointer of the data leads.
struct Pointer {
  // nowhere: to an address where the file has no bytes. lost: the loader does not make an address of what
  // stands there, since its relocation is gone. untold: the file does not tell where to.
  enum class To { place, nowhere, lost, untold } to = To::untold;
  std::uint64_t offset = 0;   // of the place, within the object
  std::uint64_t address = 0;  // in a linked file
};

// Where pointers that stand in a host object's data lead to, as offsets within the object. The linker of a
// shared library or PIE leaves a relocation in `.rela.dyn`, "the base plus this addend", and may write that
// address in place as well (GNU ld and gold do, lld leaves zeros); without PIE, under
// -z pack-relative-relocs and in PE images it stands in place alone. In an object it is a relocation against
// a symbol, in `.rela` of the data's own section.
class Addresses {
 public:
  // `host` outlives it.
  Addresses(const ByteSource& source, const HostObject& host);

  // Where the pointer at `offset` within `section` leads to, which holds `value`: the loader goes by the
  // relocation, where there is one, and not by what stands in place. Costs a search of the table of
  // relocations once for each section.
  Pointer pointer_at(const Section& section, std::uint64_t offset, std::uint64_t value);

 private:
  struct Relocation {
    std::uint64_t at = 0;      // address; in objects the offset within the section
    std::uint64_t target = 0;  // address; in objects the offset within the object
    bool told = true;          // false: by a symbol of a linked file, or in a way that is not known
  };
  Pointer pointer_to(std::uint64_t address) const;
  const Relocation* relocation_at(const Section& section, std::uint64_t offset);
  bool are_all_told(const Section& section);
  void read_relocations(const Section& section, bool all);
  void read_dynamic(const Section& table, const Section& section, bool all);
  void read_of_object(const Section& table);
  std::optional<std::uint64_t> symbol_target(const Section& symbols, std::uint64_t symbol,
                                             std::uint64_t addend);
  const Section* section_named(const std::string& name) const;

  const ByteSource& source_;
  const HostObject& host_;
  std::uint16_t machine_ = 0;  // of a 64-bit ELF file whose relocations are known; 0 for others
  bool fixed_ = false;         // pointers are as they stand: a program at a fixed address, a PE image
  std::vector<const Section*> loaded_;  // with bytes, by address
  const Section* read_for_ = nullptr;
  bool all_read_ = false;         // every relocation of that section
  std::optional<bool> all_told_;  // are_all_told() of it
  std::size_t tables_read_ = 0;
  std::vector<Relocation> relocations_;  // of that section, sorted
};

}  // namespace archguard::fatbin
