#pragma once

#include <string>
#include <string_view>
#include <utility>
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
  ElfBuilder& linked_section(std::string_view name, Bytes bytes, unsigned type, unsigned link,
                             unsigned info = 0);
  ElfBuilder& at(std::uint64_t address);  // of the section added last, in memory; 0 by default
  ElfBuilder& no_bits(std::string_view name, std::uint64_t size);  // SHT_NOBITS
  ElfBuilder& load_segment(std::uint64_t offset, std::uint64_t size, std::uint64_t address = 0);  // PT_LOAD
  ElfBuilder& without_section_table();

  // What the loader reads: entries of PT_DYNAMIC, and PT_INTERP. Their bytes stand behind the sections.
  ElfBuilder& needed(std::string_view name) { return dynamic_text(1, name); }
  ElfBuilder& soname(std::string_view name) { return dynamic_text(14, name); }
  ElfBuilder& rpath(std::string_view folders) { return dynamic_text(15, folders); }
  ElfBuilder& runpath(std::string_view folders) { return dynamic_text(29, folders); }
  ElfBuilder& no_default_folders() { return dynamic_value(0x6ffffffb, 0x800); }  // DF_1_NODEFLIB
  ElfBuilder& dynamic_text(std::uint64_t tag, std::string_view text);
  ElfBuilder& dynamic_value(std::uint64_t tag, std::uint64_t value);
  ElfBuilder& interpreter(std::string_view path);

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
    unsigned info = 0;
    std::uint64_t address = 0;
  };
  struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    unsigned type = 1;
    std::uint64_t address = 0;
  };
  std::size_t first_byte() const;
  std::vector<Segment> append_loader_parts(ByteWriter& content) const;

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
  Bytes texts_{0};  // that entries of PT_DYNAMIC point to
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dynamic_;
  std::string interpreter_;
};

}  // namespace archguard::test
