#include <doctest/doctest.h>
#include <string>

#include "image/symbol_name.h"
#include "reading.h"
#include "support/builders/byte_writer.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

// "dv device 16, mv managed 4", or the error.
std::string variables_of(const Result<ImageKernels>& code) {
  static const char* const spaces[] = {"device", "constant", "managed", "reference"};
  if (!code) return code.error().text();
  std::string text;
  for (const DeviceVariable& variable : code->variables)
    text += (text.empty() ? "" : ", ") + variable.name + " " + spaces[static_cast<int>(variable.space)] +
            " " + std::to_string(variable.size);
  return text;
}

std::string variables_of_ptx(const std::string& text) {
  return variables_of(read_ptx(bytes_of_text(".version 9.0\n.target sm_80\n" + text)));
}

}  // namespace

TEST_CASE("variables of a cubin: objects in the sections for globals and constants, in both generations") {
  for (const bool old : {false, true}) {
    CubinBuilder cubin;
    if (old) cubin.generation7(118);
    CHECK(variables_of(read_cubin(cubin.variable("mv", ".nv.global.init", 4, 4)
                                      .variable("dv", ".nv.global", 16)
                                      .variable("cv", ".nv.constant3", 12)
                                      .kernel("k", sass::exit())
                                      .bytes())) == "cv constant 12, dv device 16, mv managed 4");
  }
}

TEST_CASE("a kernel's own memory is no variable, nor what is only declared") {
  CHECK(variables_of(read_cubin(CubinBuilder{}
                                    .variable("shared", ".nv.shared.k", 4)
                                    .variable("table", ".nv.constant2.k", 4)
                                    .variable("parameters", ".nv.constant0.k", 4)
                                    .kernel("k", sass::exit())
                                    .bytes())) == "");
  const auto of_type = [](unsigned info, unsigned section) {
    const Bytes strings = ByteWriter{}.u8(0).text("v").u8(0).bytes();
    const Bytes symbol = ByteWriter{}.zeros(24).u32(1).u8(info).u8(0).u16(section).u64(0).u64(8).bytes();
    ElfBuilder elf;
    elf.relocatable().machine(190).identity(0x41, 8, 1, 80U << 8);
    elf.section(".strtab", strings, 3, 0).linked_section(".symtab", symbol, 2, 1);
    return variables_of(read_cubin(elf.no_bits(".nv.global", 8).bytes()));
  };
  CHECK(of_type(0x01, 3) == "v device 8");
  CHECK(of_type(0x1d, 3) == "v device 8");       // as relocatable cubins have it
  CHECK(of_type(0x1d, 0) == "");                 // extern
  CHECK(of_type(0x11, 0xfff2) == "v device 8");  // common
  CHECK(of_type(0x03, 3) == "");                 // the section itself
}

TEST_CASE("variables that no symbol names are an error in a cubin that is loaded as it is") {
  const auto unnamed = [](bool loaded, const char* section) {
    ElfBuilder elf;
    elf.type(loaded ? 2 : 1).machine(190).identity(0x41, 8, 1, 80U << 8);
    elf.section(".strtab", Bytes(1), 3, 0).linked_section(".symtab", Bytes(24), 2, 1);
    return variables_of(read_cubin(elf.no_bits(section, 8).bytes()));
  };
  for (const char* section : {".nv.global", ".nv.global.init", ".nv.constant3"}) {
    CHECK(unnamed(true, section) ==
          "section '" + std::string(section) + "' of the cubin holds variables that no symbol names");
    CHECK(unnamed(false, section) == "");
  }
  CHECK(unnamed(true, ".nv.shared.k") == "");
  CHECK(variables_of(read_cubin(CubinBuilder{}.variable("$str", ".nv.global.init", 4).bytes())) == "");
}

TEST_CASE("a variable in a section that is none of variables is an error") {
  const auto in = [](const char* section) {
    return variables_of(read_cubin(CubinBuilder{}.variable("v", section, 4).bytes()));
  };
  for (const char* section : {".nv.constant2.k", ".nv.constant4", ".nv.shared.k", ".nv_debug.shared"})
    CHECK(in(section) == "");
  for (const char* section : {".ov.global.init", ".nv.globbl", ".text"})
    CHECK(in(section) ==
          "symbol 1 of the cubin is a variable in section '" + std::string(section) + "', which holds none");
}

TEST_CASE("names of variables that are missing or overlap are errors") {
  CHECK(variables_of(read_cubin(CubinBuilder{}.variable("", ".nv.global", 4).bytes())) ==
        "variable symbol 1 of the cubin has no name");
  const Bytes strings = ByteWriter{}.u8(0).text(std::string(200, 'v')).u8(0).bytes();
  ByteWriter symbols;
  symbols.zeros(24);
  for (int i = 0; i < 30; ++i) symbols.u32(1).u8(0x01).u8(0).u16(3).u64(0).u64(4);
  ElfBuilder elf;
  elf.type(2).machine(190).identity(0x41, 8, 1, 80U << 8);
  elf.section(".strtab", strings, 3, 0).linked_section(".symtab", symbols.bytes(), 2, 1);
  CHECK(variables_of(read_cubin(elf.no_bits(".nv.global", 4).bytes())) ==
        "variable names of the cubin overlap");
}

TEST_CASE("variables of PTX, with their sizes") {
  CHECK(variables_of_ptx(".global .align 4 .b8 dv[16];\n"
                         ".const .align 4 .b8 cv[12] = {0, 0, 128, 63};\n"
                         ".visible .global .attribute(.managed) .align 4 .u32 mv = 5;\n"
                         ".weak .global .align 8 .v2 .f64 pair[3][2];\n"
                         ".global .f16x2 half;\n") ==
        "cv constant 12, dv device 16, half device 4, mv managed 4, pair device 96");
  CHECK(variables_of_ptx(".global .u64 a, p = generic(a)+16, q[2] = {generic(a), 1}, r;") ==
        "a device 8, p device 8, q device 16, r device 8");
  CHECK(variables_of_ptx(".global .b8 hex[0x10], suffix[16U], octal[020], both[0x1fU], binary[0b101];") ==
        "binary device 5, both device 31, hex device 16, octal device 16, suffix device 16");
  CHECK(variables_of_ptx(".global .b8 open[] = {1, 2}, rows[][3] = {{1}, {2, 3}}, none = 1;") ==
        "none device 1, open device 2, rows device 6");
  CHECK(variables_of_ptx(".global .b8 bad[0x];") ==
        "PTX has 'bad' with a size at '0x' that is no single number");
}

TEST_CASE("textures and surfaces of the old kind are references without bytes") {
  CHECK(variables_of_ptx(".global .texref t;\n.visible .global .surfref s;\n.extern .global .texref e;") ==
        "s reference 0, t reference 0");
  CHECK(variables_of(read_cubin(CubinBuilder{}.reference("t", 10).reference("s", 12).bytes())) ==
        "s reference 0, t reference 0");
}

TEST_CASE("what only looks like a variable of PTX is none") {
  CHECK(
      variables_of_ptx(".target sm_80, texmode_independent\n.global .samplerref r;\n"
                       ".extern .global .u32 elsewhere; .extern .shared .b8 dynamic[];\n"
                       ".visible .entry k(.param .u64 .ptr .const .align 4 p) { .global .u32 inner; ret; }\n"
                       ".func (.param .b32 r) g(.param .u64 p) { ret; }\n"
                       "// .global .u32 comment;\n"
                       ".global .u32 v;") == "v device 4");
}

TEST_CASE("a variable that PTX defines behind its .extern declaration is no matter of linking") {
  const auto code = read_ptx(bytes_of_text(
      ".version 9.0\n.target sm_80\n.extern .global .u32 v;\n.visible .global .u32 v;\n.entry k() { ret; }"));
  REQUIRE(code);
  CHECK_FALSE(code->relocatable);
  CHECK(variables_of(code) == "v device 4");
}

TEST_CASE("PTX that ends inside a variable is an error") {
  for (const char* text :
       {".global", ".global .u32", ".global .u32 v", ".global .u32 v[", ".global .u32 v = {1",
        ".global .u32 v = generic(a", ".global .u32 v, ", ".global .u32 v }"})
    CHECK_MESSAGE(variables_of_ptx(text) == "PTX ends inside a variable", text);
}

TEST_CASE("what a compiler makes for itself is nothing that host code can name") {
  for (const char* own :
       {"$str", "$str$1", "__unnamed_1", "__cudart_i2opi_f", "__T21", "_ZZ1fvE7counter",
        "_ZZZ1kPfiPdENKUliE_clEiE2ls", "_ZTV1B", "_ZTI1B", "_ZTS1B", "_ZGVZ1fvE1x", "_ZGR3ref_", "_$_str",
        "__func___$__Z1kPfi", "__const_$__Z1kPfi_$_loc", "_Z12kgetRowStatsI6__halfLi1024ELi0EEvPT_Pffii$296",
        "__nv_static_19__e5804319_4_v_cu_cv__ZZ1fvE7counter"})
    CHECK_MESSAGE(!host_can_name(own), own);
  for (const char* users :
       {"dv", "_Z2tvIiE", "_ZN4user3oneE", "_ZL3sdv", "__nv_static_19__e5804319_4_v_cu_cv_sdv", "str", "_Zoo",
        "x$y", "__T", "__Tx1", "x$", "296", "__unnamed_gain", "_ZTVtable", "_ZTV", "_ZZoom", "__cudart_flag",
        "_ZN28_INTERNAL_e5804319_4_v_cu_cv30_GLOBAL__N__e5804319_4_v_cu_cv7anon_dvE", "unnamed_1"})
    CHECK_MESSAGE(host_can_name(users), users);
}

TEST_CASE("the mark of a file goes by its length") {
  CHECK(without_file_mark("__nv_static_19__e5804319_4_v_cu_cv_sdv") == "sdv");
  CHECK(without_file_mark("__nv_static_24__0fc308f0_5_r1_cu__Z1kPi_sunused") == "sunused");
  for (const char* other : {"sdv", "__nv_static_", "__nv_static_19_", "__nv_static_99__a_b",
                            "__nv_static_1__abc", "__nv_static_99999999999999999999999__a", "__nv_static_x"})
    CHECK_MESSAGE(without_file_mark(other) == other, other);
}
