// What ptxas and nvJitLink refuse in a module outside of bodies, and what all of them take (real.ptx).
#include <doctest/doctest.h>

#include "reading.h"
#include "support/builders/byte_writer.h"

using namespace archguard;

namespace {

std::string read(const std::string& text, const std::string& target = "sm_80",
                 const std::string& isa = "8.0") {
  return test::kernels_of(read_ptx(
      test::bytes_of_text(".version " + isa + "\n.target " + target + "\n.entry k() { ret; }\n" + text)));
}

const std::string kTaken = "k empty";

}  // namespace

TEST_CASE("a name is an identifier that PTX has not itself") {
  for (const std::string name : {"9k",
                                 "%",
                                 "%%",
                                 "_",
                                 "$",
                                 "WARP_SZ",
                                 "a.b",
                                 "k.",
                                 "1",
                                 "0x1",
                                 "%tid",
                                 "%tid.x",
                                 "%laneid",
                                 "%clock64",
                                 "%envreg31",
                                 "%pm7",
                                 "%pm0_64",
                                 "%lanemask_eq",
                                 "%reserved_smem_offset_1",
                                 "%current_graph_exec"}) {
    const std::string error = "PTX has the name '" + name + "', which no compiler takes";
    CHECK_MESSAGE(read(".entry " + name + "() { ret; }") == error, name);
    CHECK_MESSAGE(read(".func " + name + "() { ret; }") == error, name);
    CHECK_MESSAGE(read(".func (.param .b32 r) " + name + "();") == error, name);
    CHECK_MESSAGE(read(".extern .func " + name + "();") == error, name);
    CHECK_MESSAGE(read(".global .b32 a, " + name + ";") == error, name);
    CHECK_MESSAGE(read(".extern .shared .b32 " + name + "[];") == error, name);
    CHECK_MESSAGE(read(".global .texref " + name + ";") == error, name);
    CHECK_MESSAGE(read(".alias " + name + ", k;") == error, name);
  }
  for (const std::string name : {"%k", "%9", "__", "_9", "$9", "$k", "add", "entry", "a$b", "sm_80",
                                 "%envreg32", "%envreg01", "%pm8", "%tidx", "WARP_SZ1"}) {
    CHECK_MESSAGE(read(".func " + name + "() { ret; }") == kTaken, name);
    CHECK_MESSAGE(read(".global .b32 " + name + ";") == kTaken, name);
  }
  CHECK(read(".global .b32 %" + std::string(60, '%') + ";") ==
        "PTX has the name '" + std::string(40, '%') + "', which no compiler takes");
}

TEST_CASE("a kernel or function that has a body names each parameter once") {
  const std::string twice = "PTX has the parameter 'a' twice";
  CHECK(read(".entry l(.param .u64 a, .param .u64 a) { ret; }") == twice);
  CHECK(read(".func f(.reg .u64 a, .reg .u64 b, .reg .u64 a) { ret; }") == twice);
  CHECK(read(".func (.param .u64 a) f(.param .u64 a) { ret; }") == twice);
  CHECK(read(".extern .func f(.param .u64 a, .param .u64 a);") == kTaken);
  CHECK(read(".entry l(.param .u64 l, .param .u64 k) { ret; }\n.entry m(.param .u64 l) { ret; }") ==
        "k empty, l empty, m empty");
  CHECK(read(".entry l(.param .u64 %tid, .param .u64 _) { ret; }") == "k empty, l empty");
  CHECK(read(".func f(.param .u64 _) { ret; }") == "PTX has the name '_', which no compiler takes");
  CHECK(read(".extern .func f(.param .b32 9a);") == "PTX has the name '9a', which no compiler takes");
  CHECK(read(".entry l(.param .u64 WARP_SZ) { ret; }") ==
        "PTX has the name 'WARP_SZ', which no compiler takes");
  CHECK(read(".func f(.param .u64) { ret; }") == "PTX has the name ')', which no compiler takes");
  CHECK(read(".entry l(.param .u64 a b) { ret; }") == "PTX must hold parameters alone there, found 'b'");
  CHECK(read(".entry l(.param .b8 a[]) { ret; }") == "PTX has the parameter 'a' of a kernel without a size");
  CHECK(read(".entry l(.param .b8 a[0]) { ret; }") == "PTX has the parameter 'a' of a kernel without a size");
  CHECK(read(".func f(.param.u32 %value_out, .param .b8 a[]) { ret; }") == kTaken);
  std::string many = ".entry l(.param .b8 a";
  for (int i = 0; i < 70000; ++i) many += ",.param .b8 a";
  CHECK(read(many + ") { ret; }") == "PTX has more than 65536 parameters");
}

TEST_CASE("an array at module scope has a size, a value or is of another file") {
  const std::string error = "PTX has 's' without a size, a value or `.extern`";
  for (const std::string array : {"s[]", "s[0]", "s[0x0]", "s[0b0]", "s[0U]", "s[][2]", "s[2][0]", "a, s[]",
                                  "s[], a", "s[] = {}", "s[0] = { }"})
    CHECK_MESSAGE(read(".global .b8 " + array + ";") == error, array);
  CHECK(read(".shared .b8 s[];") == error);
  CHECK(read(".visible .const .b8 s[];") == error);
  CHECK(read(".common .global .b8 s[];") == error);
  CHECK(read(".global .texref s[];") == error);
  for (const std::string array :
       {"s[8U]", "s[010]", "s[0b1]", "s[] = {1, 2}", "s[][2] = {{1, 2}}", "s[2] = {}", "s[0] = {1}"})
    CHECK_MESSAGE(read(".global .b8 " + array + ";") == kTaken, array);
  CHECK(read(".extern .shared .b8 s[], t[0];") == kTaken);
  CHECK(read(".extern .align 16 .shared .b8 s[];") == kTaken);
}

TEST_CASE("constants have banks in old PTX alone, where they are declared") {
  const std::string gone = "PTX ISA 8.0 has no banks of constants, which ISA 2.1 had last";
  CHECK(read(".const[2] .b8 c[4];") == gone);
  CHECK(read(".const[0] .b8 c[4];") == gone);
  CHECK(read(".extern .const[1] .b8 c[];") == gone);
  CHECK(read(".extern .const[1] .b8 c[4];", "sm_20", "2.1") == kTaken);
  CHECK(read(".const[0] .b8 c[4];", "sm_20", "2.1") == kTaken);
  CHECK(read(".const[2] .b8 c[4];", "sm_20", "2.1") ==
        "PTX defines a constant in a bank, where no compiler takes more than declarations");
  CHECK(read(".global[1] .b8 c;") == "PTX has a bank of `.global`, which no compiler takes");
}

TEST_CASE("samplers take a mode of their own, which a module says once") {
  const std::string error = "PTX has a `.samplerref` without `.target texmode_independent`";
  for (const std::string text :
       {".global .samplerref s;", ".global .samplerref s = { addr_mode_0 = wrap };",
        ".extern .global .samplerref s;", ".entry l(.param .samplerref s) { ret; }"}) {
    CHECK_MESSAGE(read(text) == error, text);
    CHECK_MESSAGE(read(text, "sm_80, texmode_unified") == error, text);
    CHECK_MESSAGE(read(text, "sm_80, texmode_independent").substr(0, 7) == kTaken, text);
  }
  const std::string both = "PTX has a `.target` of both texmode_unified and texmode_independent";
  CHECK(read("", "sm_80, texmode_independent, texmode_unified") == both);
  CHECK(read("", "sm_80, texmode_unified\n.target sm_80, texmode_independent") == both);
  CHECK(read("", "sm_80, texmode_unified, texmode_unified") == kTaken);
}

TEST_CASE("a pragma is one that compilers know there") {
  const auto module = [](const std::string& text) {
    return "PTX has `.pragma \"" + text + "\"`, which no compiler takes at module scope";
  };
  CHECK(read(".pragma \"nounroll\";") == kTaken);
  CHECK(read(".pragma /*c*/ \"nounroll\" /*d*/, // x\n\"abi_param_reg 4\", \"abi_param_reg all\";") ==
        kTaken);
  for (const std::string text :
       {"blah", "", "nounroll ", "NOUNROLL", "abi_param_reg x", "abi_param_reg", "used_bytes_mask 0xf"})
    CHECK_MESSAGE(read(".pragma \"" + text + "\";") == module(text), text);
  CHECK(read(".pragma \"nounroll\", \"blah\";") == module("blah"));
  CHECK(read(".pragma;") == "PTX must have a string behind `.pragma`, found ';'");
  CHECK(read(".pragma nounroll;") == "PTX must have a string behind `.pragma`, found 'nounroll'");
  CHECK(read(".pragma \"nounroll\" \"nounroll\";") ==
        "PTX has strings behind `.pragma` without a comma between them");
  CHECK(read(".pragma \"nounroll\" {") == "PTX must have a `;` behind `.pragma`, found '{'");
  CHECK(read(".pragma \"nounroll\"") == "PTX ends inside a statement");
  CHECK(read(".pragma \"nou") == "PTX ends inside a comment or string");

  CHECK(read(".entry l() .pragma \"blah\", \"\"; .pragma \"b\"; .maxntid 32 { ret; }") == "k empty, l empty");
  CHECK(read(".entry l() .pragma \"frequency 2\"; { ret; }") ==
        "PTX has `.pragma \"frequency 2\"`, which no compiler takes outside of a body");
  CHECK(read(".entry l() .pragma \"nounroll\" { ret; }") ==
        "PTX must have a `;` behind `.pragma`, found '{'");
  CHECK(read(".func f() .pragma \"nounroll\"; { ret; }").find("statements alone, found '{'") !=
        std::string::npos);
  CHECK(read(".entry l() { .pragma \"blah\"; ret; }") == "k empty, l empty");
}

TEST_CASE("a file has a number of its own") {
  CHECK(read(".file 1 \"a\"\n.file 2 \"a\", 1, 2\n.file 0 \"b\"") == kTaken);
  CHECK(read(".file 1 \"a\"\n.file 1 \"b\"") == "PTX has `.file 1` twice");
  CHECK(read(".file 1 \"a\", 1, 2\n.file 01 \"a\"") == "PTX has `.file 1` twice");
  CHECK(read(".file 99999999999 \"a\"").find("found '99999999999'") != std::string::npos);
}

TEST_CASE("each variable of a declaration is of another file") {
  const auto code = read_ptx(test::bytes_of_text(
      ".version 8.0\n.target sm_80\n.extern .global .u32 a, b;\n.visible .global .u32 a;\n"
      ".extern .align 8 .global .u32 c;\n"));
  REQUIRE(code);
  CHECK(code->unresolved == "b");
  CHECK(code->names.wanted == std::vector<std::string>{"b", "c"});
  CHECK(code->variables.size() == 1);
}
