#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/builders/byte_writer.h"

namespace archguard::test {

// A PE image, as Microsoft's linker leaves it, or the object file that goes into it.
class PeBuilder {
 public:
  PeBuilder& object();      // .obj: long names of sections stand in a string table
  PeBuilder& big_object();  // /bigobj
  PeBuilder& section(std::string_view name, Bytes bytes, std::uint32_t flags = 0x40000040);
  PeBuilder& no_bytes(std::string_view name, std::uint32_t size);
  Bytes bytes() const;

 private:
  enum class Form { image, object, big_object };
  struct Section {
    std::string name;
    Bytes content;
    std::uint32_t memory_size = 0;
    std::uint32_t flags = 0;
  };
  Form form_ = Form::image;
  std::vector<Section> sections_;
};

}  // namespace archguard::test
