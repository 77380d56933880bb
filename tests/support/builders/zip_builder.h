#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "byte_writer.h"

namespace archguard::test {

// A zip file, as Python's zipfile or Info-ZIP writes it. A word after a member changes that member.
//   ZipBuilder{}.deflated("lib/a.so", bytes).stored("RECORD", text).bytes()
class ZipBuilder {
 public:
  ZipBuilder& stored(std::string_view name, Bytes bytes);
  ZipBuilder& deflated(std::string_view name, const Bytes& bytes);
  ZipBuilder& link(std::string_view name, std::string_view target);  // a symbolic one
  ZipBuilder& method(unsigned method);                               // a lie
  ZipBuilder& checksum(std::uint32_t claimed);                       // a lie
  ZipBuilder& size(std::uint64_t claimed);                           // a lie
  ZipBuilder& flags(unsigned flags);
  ZipBuilder& comment(std::string_view text);  // of the whole file
  ZipBuilder& script(std::string_view text);   // stands before it; offsets count from there
  ZipBuilder& zip64();                         // sizes, offsets and counts in 64 bits
  Bytes bytes() const;

 private:
  struct Member {
    std::string name;
    Bytes content;
    unsigned method = 0;
    unsigned flags = 0;
    bool link = false;
    std::uint32_t checksum = 0;
    std::uint64_t size = 0;
  };
  std::vector<Member> members_;
  std::string comment_, script_;
  bool zip64_ = false;
};

}  // namespace archguard::test
