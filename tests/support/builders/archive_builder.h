#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "byte_writer.h"

namespace archguard::test {

// A static library, with a symbol table first, as `ar` writes it.
class ArchiveBuilder {
 public:
  enum class Names { gnu, bsd, microsoft };
  ArchiveBuilder& names(Names names);
  ArchiveBuilder& thin();     // headers only; the content gives the size
  ArchiveBuilder& symbols();  // one for each member, in GNU's table
  ArchiveBuilder& member(std::string_view name, Bytes bytes);
  Bytes bytes() const;

 private:
  struct Member {
    std::string name;
    Bytes content;
  };
  Bytes symbol_table(std::size_t long_names) const;
  Names names_ = Names::gnu;
  bool thin_ = false;
  bool symbols_ = false;
  std::vector<Member> members_;
};

}  // namespace archguard::test
