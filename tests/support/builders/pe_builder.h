#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/builders/byte_writer.h"

namespace archguard::test {

// A PE image, as Microsoft's linker leaves it, or the object file that goes into it.
class PeBuilder {
 public:
  PeBuilder& object();      // .obj: long names of sections stand in a string table
  PeBuilder& big_object();  // /bigobj
  PeBuilder& section(std::string_view name, Bytes bytes, std::uint32_t flags = 0x40000040);
  PeBuilder& filled(std::uint32_t size);  // VirtualSize of the section before: what follows is padding
  struct Library {
    Library(const char* dll, std::vector<std::string> its_functions = {})
        : name(dll), functions(std::move(its_functions)) {}
    std::string name;
    std::vector<std::string> functions;  // "" is imported by number
  };
  // The tables of imports and of delayed imports, in a section of their own; of a 64-bit image. `bound`: the
  // addresses of the functions are known, and their names stand in a list beside.
  PeBuilder& imports(const std::vector<Library>& libraries, const std::vector<Library>& delayed = {},
                     bool bound = true);
  // The table of base relocations, in a section of its own; of a 64-bit image.
  PeBuilder& relocations(Bytes table);
  // A 64-bit image linked for this address, whose sections stand 4 KiB apart from there on.
  PeBuilder& based(std::uint64_t address);
  PeBuilder& no_bytes(std::string_view name, std::uint32_t size);
  Bytes bytes() const;

 private:
  enum class Form { image, object, big_object };
  struct Section {
    std::string name;
    Bytes content;
    std::uint32_t memory_size = 0;
    std::uint32_t flags = 0;
    std::uint32_t address = 0x1000;
  };
  Form form_ = Form::image;
  std::vector<Section> sections_;
  std::uint64_t base_ = 0;
  std::uint32_t imports_at_ = 0, delayed_at_ = 0, relocations_at_ = 0;  // addresses
  std::uint32_t relocations_size_ = 0;
};

}  // namespace archguard::test
