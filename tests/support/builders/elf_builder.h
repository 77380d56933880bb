#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "byte_writer.h"

namespace archguard::test {

// An ELF file, as a compiler or linker leaves it: header, the sections' bytes (8-aligned), section table.
//   ElfBuilder{}.shared().section(".nv_fatbin", bytes).bytes()
class ElfBuilder {
 public:
  ElfBuilder& relocatable() { return type(1); }
  ElfBuilder& executable() { return type(2); }
  ElfBuilder& shared() { return type(3); }  // the default
  ElfBuilder& type(unsigned type);
  ElfBuilder& machine(unsigned machine);  // 62, x86-64, by default
  ElfBuilder& bits32();
  ElfBuilder& identity(unsigned osabi, unsigned abi_version, unsigned version, std::uint32_t flags);

  ElfBuilder& section(std::string_view name, Bytes bytes, unsigned type = 1, std::uint64_t flags = 2);
  ElfBuilder& linked_section(std::string_view name, Bytes bytes, unsigned type, unsigned link);
  ElfBuilder& no_bits(std::string_view name, std::uint64_t size);      // SHT_NOBITS
  ElfBuilder& load_segment(std::uint64_t offset, std::uint64_t size);  // PT_LOAD
  ElfBuilder& without_section_table();

  // Of the section added last, within the file.
  std::size_t offset_of_last() const;

  Bytes bytes() const;

 private:
  struct Section {
    std::string name;
    Bytes content;
    unsigned type = 1;
    std::uint64_t flags = 0;
    std::uint64_t size = 0;
    unsigned link = 0;
  };
  struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  std::size_t first_byte() const;

  bool is64_ = true;
  unsigned type_ = 3;
  unsigned machine_ = 62;
  unsigned osabi_ = 0;
  unsigned abi_version_ = 0;
  unsigned version_ = 1;
  std::uint32_t flags_ = 0;
  bool section_table_ = true;
  std::vector<Section> sections_;
  std::vector<Segment> segments_;
};

}  // namespace archguard::test
