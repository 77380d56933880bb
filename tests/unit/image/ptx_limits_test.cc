#include <doctest/doctest.h>

#include "image/image.h"
#include "support/builders/byte_writer.h"

using namespace archguard;

namespace {

// Why compilers refuse it; empty where nothing is known.
std::string refusal(const std::string& target, const std::string& text, const std::string& isa = "9.0") {
  const auto code = read_ptx(test::bytes_of_text(".version " + isa + "\n.target sm_" + target +
                                                 "\n.address_size 64\n" + text + "\n"));
  REQUIRE_MESSAGE(code, code.error().text());
  return code->refused ? code->refused->reason : "";
}

std::string in_kernel(const std::string& target, const std::string& body, const std::string& isa = "9.0") {
  return refusal(target, ".visible .entry k() {\n" + body + "\nret;\n}", isa);
}

const std::string kFence = "wgmma.fence.sync.aligned;";

}  // namespace

TEST_CASE("an instruction takes a target that has it") {
  CHECK(in_kernel("90", kFence) ==
        "its PTX is for sm_90 and holds the instruction 'wgmma', which takes sm_90a");
  CHECK(in_kernel("90a", kFence).empty());
  CHECK(in_kernel("100a", kFence) != "");
  CHECK(in_kernel("90a", "tcgen05.wait::ld.sync.aligned;") != "");
  CHECK(in_kernel("100", "tcgen05.wait::ld.sync.aligned;") != "");
  CHECK(in_kernel("100f", "tcgen05.wait::ld.sync.aligned;").empty());
  CHECK(in_kernel("110a", "tcgen05.wait::ld.sync.aligned;").empty());
  CHECK(in_kernel("120a", "tcgen05.wait::ld.sync.aligned;") != "");
  CHECK(in_kernel("120f", "setmaxnreg.inc.sync.aligned.u32 64;").empty());
  CHECK(in_kernel("120", "setmaxnreg.inc.sync.aligned.u32 64;") ==
        "its PTX is for sm_120 and holds the instruction 'setmaxnreg', which takes sm_90a or the like");
  CHECK(in_kernel("75", "cp.async.wait_all;") ==
        "its PTX is for sm_75 and holds the instruction 'cp.async', which takes sm_80 or newer");
  CHECK(in_kernel("80", "cp.async.wait_all;").empty());
  CHECK(in_kernel("80", "cp.async.bulk.commit_group;") != "");
  CHECK(
      in_kernel("50", "mad.lo.s32 %r1, %r2, %r3, %r4; setp.eq.s32 %p1, %r1, 0; @%p1 bra END; END:").empty());
  CHECK(in_kernel("90", kFence, "19.0").empty());  // which may have it there
}

TEST_CASE("what mends an absent instruction serves the device that lacks it, too") {
  const auto code = read_ptx(test::bytes_of_text(
      ".version 9.0\n.target sm_80\n.address_size 64\n.entry k() { setmaxnreg.inc.sync.aligned.u32 64; }\n"));
  REQUIRE(code);
  REQUIRE(code->refused);
  CHECK(code->refused->mend ==
        "leave 'setmaxnreg' out for sm_80 (#if on __CUDA_ARCH__) or, for devices that have it, compile this "
        "code for sm_90a or the like");
}

TEST_CASE("an instruction is found behind labels, predicates and blocks, and in functions") {
  for (const std::string before :
       {"L: ", "loop:", "p :\n", "$L__BB0_1:\n", "@%p1 ", "@p ", "@p\n", "@! p ", "@!%p1 ", "@ %p1 ", "{ ",
        "{ { .reg .b32 %r; } ", ".reg .b32 %r<4>; ", "mov.b64 {%r1, %r2}, %rd1; ", "// ;\n", "/* ; */ ",
        ".loc 1 2 3\n", ".pragma \"nounroll\"; ", ".shared .b8 s[4];"})
    CHECK_MESSAGE(in_kernel("90", before + kFence + (before[0] == '{' ? " }" : "")) != "", before);
  CHECK(refusal("90", ".func f() { " + kFence + " ret; }") != "");
}

TEST_CASE("what only looks like an instruction is none") {
  for (const std::string text :
       {"// wgmma.fence;", "/* ;\nwgmma.fence; */", "add.s32 %r1, /* ; wgmma.fence; */ %r2, %r3;",
        ".pragma \"; wgmma.fence;\";", "wgmma: bra wgmma;", "call wgmma, (wgmma);",
        ".loc 1 2 3, function_name wgmma", "{ .reg .b32 wgmma; }", "wgmmax.fence;"})
    CHECK_MESSAGE(in_kernel("90", text).empty(), text);
  CHECK(refusal("90", ".entry wgmma() { ret; }").empty());
}

TEST_CASE("a kernel has 48 KB of static shared memory") {
  CHECK(in_kernel("80", ".shared .align 4 .b8 s[49152];").empty());
  CHECK(in_kernel("80", ".shared .align 4 .b8 s[49153];") ==
        "the kernel 'k' of its PTX has 49153 bytes of static shared memory, and 49152 are the most");
  CHECK(in_kernel("120", "{ .shared .b8 s[30000]; } { .shared .b8 t[30000]; }") != "");
  CHECK(in_kernel("90", ".shared .v4 .b32 s[64][64], t;") != "");
  CHECK(in_kernel("90", ".shared .b64 s[18446744073709551615]; .shared .b8 t[9];") != "");
  CHECK(in_kernel("100f", ".shared .b8 s[65536];") != "");
  CHECK(
      in_kernel("90a", ".shared .b8 s[65536];") ==
      "the kernel 'k' of its PTX has 65536 bytes of static shared memory, and 49152 are the most for drivers "
      "before CUDA 13.0");
  CHECK(in_kernel("90a", ".shared .b8 s[65536]; tcgen05.x;").find("tcgen05") != std::string::npos);
  CHECK(refusal("90a", ".entry k() { .shared .b8 s[65536]; } .entry l() { tcgen05.x; }").find("tcgen05") !=
        std::string::npos);
  CHECK(in_kernel("90", "ld.shared.u32 %r1, [s];").empty());
  CHECK(refusal("90", ".extern .shared .b8 s[];\n.shared .b8 t[65536];\n.entry k() { ret; }").empty());
  CHECK(refusal("90", ".func f() { .shared .b8 s[65536]; ret; }").empty());  // ptxas takes it, uncalled
}

TEST_CASE("a module has 64 KB of constants, whether anything uses them") {
  const std::string kernel = ".entry k() { ret; }";
  const auto more = [](const std::string& bytes) {
    return "its PTX has " + bytes + " bytes of constants (__constant__), and 65536 are the most";
  };
  CHECK(refusal("80", ".const .b8 c[65536];\n" + kernel).empty());
  CHECK(refusal("80", ".const .b8 c[65537];\n" + kernel) == more("65537"));
  CHECK(refusal("120a", ".visible .const .align 4 .u32 c[10000], d[10000];\n" + kernel) == more("80000"));
  CHECK(refusal("80", ".const .b8 c[40000];\n" + kernel + "\n.weak .const .b8 d[40000];") == more("80000"));
  CHECK(refusal("80", ".const .u64 c[18446744073709551615];\n.const .b8 d[1];\n" + kernel) ==
        more("18446744073709551615"));
  CHECK(refusal("80", ".extern .const .b8 c[70000];\n" + kernel).empty());
  CHECK(refusal("80", ".global .b8 c[70000];\n.const .b8 d[] = {1};\n" + kernel).empty());
}
