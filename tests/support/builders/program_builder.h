#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "byte_writer.h"

namespace archguard::test {

// A program or library that registers fat binaries, as nvcc leaves it, its objects in the order of the link:
//   ProgramBuilder{}.link({"_a", "_b"}, linked).object("_a", parts_of_a).object("_b", parts_of_b).bytes()
class ProgramBuilder {
 public:
  enum class Pointers { in_place, relocations, nowhere };

  ProgramBuilder& object(std::string_view id, Bytes fatbin);  // made with -rdc=true
  ProgramBuilder& whole(Bytes fatbin);                        // made without
  // What the device linker made of these objects. Of none: what nvcc adds to every program without -rdc.
  ProgramBuilder& link(const std::vector<std::string>& ids, Bytes fatbin);
  ProgramBuilder& pointers(Pointers where);
  ProgramBuilder& machine(unsigned machine);
  ProgramBuilder& without_ids();
  ProgramBuilder& without_section_table();
  // What host code names, of external linkage: kernels and variables.
  ProgramBuilder& host_names(const std::vector<std::string>& kernels,
                             const std::vector<std::string>& variables);
  ProgramBuilder& constants(Bytes bytes);  // of host code: its texts, each with a NUL behind
  // In .symtab, local; of type 1 (variable) or 2 (function).
  ProgramBuilder& symbol(std::string_view name, unsigned type, std::uint64_t value = 0,
                         std::uint64_t size = 0);
  // The symbol of the function that registers an object, as cudafe++ calls it.
  ProgramBuilder& register_all() { return symbol("_ZL24__sti____cudaRegisterAllv", 2); }
  ProgramBuilder& wants(std::string_view name);  // in .dynsym, to be found elsewhere
  ProgramBuilder& code(Bytes bytes);             // .text, at kCodeAt in memory
  static constexpr std::uint64_t kCodeAt = 0x60000000;
  ProgramBuilder& compiled_by(std::string compiler);  // what `.comment` says, beside symbols
  ProgramBuilder& program();                          // not a library
  ProgramBuilder& fixed();                            // linked for its place in memory
  ProgramBuilder& objects_in(std::string section);    // in place of __nv_relfatbin

  // Where the fat binary of the nth object, whole program or link is in the file.
  std::size_t offset_of(std::size_t nth) const;
  Bytes bytes() const;

 private:
  struct Part {
    bool relocatable = false;
    unsigned version = 1;
    Bytes fatbin;
  };
  class Layout;
  std::vector<Part> parts_;
  ByteWriter ids_;
  Pointers pointers_ = Pointers::in_place;
  unsigned machine_ = 62;
  bool has_ids_ = true, has_sections_ = true, names_ = false, program_ = false, fixed_ = false;
  ByteWriter named_kernels_, named_variables_;
  Bytes constants_, code_;
  ByteWriter symbols_, symbol_names_, wanted_, wanted_names_;
  std::string compiler_ = "GCC: (GNU) 12.2.0";
  std::string objects_in_ = "__nv_relfatbin";
};

}  // namespace archguard::test
