#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "byte_writer.h"

namespace archguard::test {

class ElfBuilder;

// Machine instructions of sm_70 and newer, 16 bytes each, as nvdisasm 13.5 shows them on sm_80.
namespace sass {
Bytes prologue();       // MOV R1, c[0x0][0x28]
Bytes exit();           // EXIT
Bytes exit_if();        // @P0 EXIT
Bytes trap();           // BPT.TRAP 0x1
Bytes trap_if();        // @P0 BPT.TRAP 0x1
Bytes store();          // STG.E [R2.64], R5
Bytes store_generic();  // ST.E [R2.64], R0
Bytes store_local();    // STL [R1], R2
Bytes store_shared();   // STS [R9.X4], R2
Bytes load();           // LDG.E R2, [R2.64]
Bytes call();           // CALL.ABS.NOINC R8
Bytes branch();         // BRA to itself
Bytes nop();            // NOP
Bytes never_shuffle();  // @!PT SHFL.IDX PT, RZ, RZ, RZ, RZ: Volta's prologue
Bytes join(const std::vector<Bytes>& instructions);
}  // namespace sass

// A cubin with kernels:
//   CubinBuilder{}.sm(80).kernel("gemm", sass::join({sass::store(), sass::exit()})).bytes()
class CubinBuilder {
 public:
  CubinBuilder& sm(int number);            // 80 by default
  CubinBuilder& generation7(int toolkit);  // toolkits ≤ 12.9, sm ≤ 90: 124 is CUDA 12.4; else generation 8
  CubinBuilder& marked_a();                // as this generation does it
  CubinBuilder& identity(unsigned osabi, unsigned abi);  // of no known generation
  CubinBuilder& relocatable();
  CubinBuilder& elf_type(unsigned type);                            // of no cubin seen, other than 1 and 2
  CubinBuilder& flags(std::uint32_t more);                          // of e_flags, beside its own
  CubinBuilder& compat(Bytes records, unsigned type = 0x70000086);  // .nv.compat
  CubinBuilder& toolkit_info(std::string_view release, std::string_view command);  // .note.nv.tkinfo
  CubinBuilder& kernel(std::string_view name, Bytes code);
  CubinBuilder& local_kernel(std::string_view name, Bytes code);
  CubinBuilder& function(std::string_view name, Bytes code);      // a __device__ function: no kernel
  CubinBuilder& reference(std::string_view name, unsigned type);  // texture: 10, surface: 12; in no section
  CubinBuilder& called(std::string_view name);                    // a function that it calls and lacks
  CubinBuilder& undefined_kernel(std::string_view name);          // shndx 0
  // In a section such as ".nv.global"; `other` is 4 where it is __managed__.
  CubinBuilder& variable(std::string_view name, std::string_view section, std::size_t size,
                         unsigned other = 0);
  // Sections of the last kernel.
  CubinBuilder& parameters(unsigned bytes);  // in .nv.info.<kernel>, which has 12 bytes
  // In .nv.info.<kernel>: symbols (the first is 1) that it calls and the driver brings, and where in its
  // code.
  CubinBuilder& driver_calls(std::vector<unsigned> symbols, std::vector<unsigned> offsets);
  CubinBuilder& constants(std::size_t size);    // .nv.constant0.<kernel>
  CubinBuilder& relocations(std::size_t size);  // .rela.text.<kernel>
  CubinBuilder& second_code(std::size_t size);  // .nv.capmerc.text.<kernel>, as of sm_100 and newer
  Bytes bytes() const;

 private:
  struct Symbol {
    std::string name;
    Bytes code;
    unsigned info = 0;
    unsigned other = 0;
    bool defined = true;
    std::string section = {};  // of a variable; else the code's own
    unsigned parameters = 0;
    std::vector<unsigned> called_symbols = {}, call_offsets = {};
    std::size_t constants = 0, relocations = 0, second_code = 0;
  };
  unsigned code_of_parameters(const std::string& section) const;
  static void add_sections_of(const Symbol& symbol, unsigned index, ElfBuilder& elf);

  int sm_ = 80;
  int toolkit7_ = 0;
  bool a_ = false;
  unsigned osabi_ = 0x41;
  unsigned abi_ = 8;
  unsigned type_ = 2;
  std::uint32_t flags_ = 0;
  Bytes compat_;
  unsigned compat_type_ = 0x70000086;
  std::string release_;
  std::string command_;
  std::vector<Symbol> symbols_;
};

}  // namespace archguard::test
