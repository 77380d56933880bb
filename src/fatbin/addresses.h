#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/host_file.h"

namespace archguard::fatbin {

// Where pointers that stand in a host object's data lead to, as offsets within the object. The linker of a
// shared library or PIE leaves a relocation in `.rela.dyn`, "the base plus this addend", and may write that
// address in place as well (GNU ld and gold do, lld leaves zeros); without PIE, under
// -z pack-relative-relocs and in PE images it stands in place alone. In an object it is a relocation against
// a symbol, in `.rela` of the data's own section.
class Addresses {
 public:
  // `host` outlives it.
  Addresses(const ByteSource& source, const HostObject& host);

  // The target of a pointer that holds this. Nothing in objects, and where no section with bytes is there.
  std::optional<std::uint64_t> in_place(std::uint64_t value) const;
  // The target of the pointer at `offset` within `section` by its relocation. Costs a search of the table of
  // relocations once for each section.
  std::optional<std::uint64_t> relocated(const Section& section, std::uint64_t offset);

 private:
  struct Relocation {
    std::uint64_t at = 0;      // address; in objects the offset within the section
    std::uint64_t target = 0;  // address; in objects the offset within the object
  };
  void read_relocations(const Section& section);
  void read_dynamic(const Section& table, const Section& section);
  void read_of_object(const Section& table);
  std::optional<std::uint64_t> symbol_target(const Section& symbols, std::uint64_t symbol,
                                             std::uint64_t addend);
  const Section* section_named(const std::string& name) const;

  const ByteSource& source_;
  const HostObject& host_;
  std::uint16_t machine_ = 0;           // of a 64-bit ELF file; 0 for others
  std::vector<const Section*> loaded_;  // with bytes, by address
  const Section* read_for_ = nullptr;
  std::size_t tables_read_ = 0;
  std::vector<Relocation> relocations_;  // of that section, sorted
};

}  // namespace archguard::fatbin
