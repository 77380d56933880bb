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

TEST_CASE("shfl and vote without .sync are gone from sm_70 and ISA 6.4 on") {
  const std::string shuffle = "@%p1 shfl.up.b32 %r2, %r3, 1, 0;";
  CHECK(in_kernel("70", shuffle, "6.4") ==
        "its PTX is for sm_70 and holds the instruction 'shfl' without '.sync', which PTX ISA 6.4 and "
        "newer have for older targets alone");
  CHECK(in_kernel("75", "vote.ballot.b32 %r1, %p1;") != "");
  CHECK(in_kernel("80", "shfl .up.b32 %r2, %r3, 1, 0;") != "");
  CHECK(in_kernel("70", shuffle, "6.3").empty());
  CHECK(in_kernel("61", shuffle, "7.8").empty());
  CHECK(in_kernel("75", "shfl.sync.up.b32 %r2, %r3, 1, 0, -1; vote.sync.all.pred %p1, %p2, -1;").empty());
  CHECK(in_kernel("75", "vote .sync .all.pred %p1, %p2, -1; shfl: bra shfl;").empty());
}

TEST_CASE("an instruction takes a target that has it") {
  CHECK(in_kernel("90", kFence) ==
        "its PTX is for sm_90 and holds the instruction 'wgmma', which takes sm_90a");
  CHECK(in_kernel("90a", kFence).empty());
  CHECK(in_kernel("100a", kFence) != "");
  CHECK(in_kernel("90a", "tcgen05.wait::ld.sync.aligned;") != "");
  CHECK(in_kernel("100", "tcgen05.wait::ld.sync.aligned;") != "");
  CHECK(in_kernel("100", "tcgen05.ld.red.sync.aligned.32x32b.x4.min.sp::2:4.f32 {a}, b, [c];") != "");
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

TEST_CASE("a form of an instruction takes a newer target than the instruction") {
  struct Case {
    int first;
    std::string statement, named;
  };
  for (const Case& each : std::vector<Case>{
           {90, "mbarrier.try_wait.shared.b64 %p1, [%r1], %d1;", "mbarrier.try_wait"},
           {90, "mbarrier.arrive.expect_tx.shared.b64 %d1, [%r1], %r2;",
            "mbarrier.arrive.expect_tx.shared.b64"},
           {90, "fence.proxy.async;", "fence.proxy.async"},
           {90, "fence.proxy.tensormap::generic.release.gpu;", "fence.proxy.tensormap"},
           {90, "fence.acq_rel.cluster;", "fence.acq_rel.cluster"},
           {90, "ld.shared::cluster.u32 %r1, [%r2];", "ld.shared::cluster.u32"},
           {90, "@%p1 st.shared::cluster.u32 [%r2], %r1;", "st.shared::cluster.u32"},
           {90, "red.global.add.v4.f32 [%d1], {%f1, %f2, %f3, %f4};", "red.global.add.v4.f32"},
           {90, "ex2.approx.ftz.bf16x2 %r1, %r2;", "ex2.approx.ftz.bf16x2"},
           {89, "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;", "cvt.rn.satfinite.e4m3x2.f32"},
           {89, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f0};",
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"},
           {80, "cvt.rn.bf16x2.f32 \t%r1, %f1, %f2;", "cvt.rn.bf16x2.f32"},
           {80, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0};",
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
           {80, "max.NaN.f32 %f1, %f2, %f3;", "max.NaN.f32"},
           {100, "ld.global.v8.f32 {%f0}, [%d1];", "ld.global.v8.f32"},
           {100, "ld.global.nc.v4.b64 {%d0}, [%d1];", "ld.global.nc.v4.b64"},
           {100, "st.global.v4.f64 [%d1], {%g0};", "st.global.v4.f64"},
           {100, "st.bulk.shared::cta [%r1], 64, 0;", "st.bulk"},
           {100, "fma.rn.f32x2 %d1, %d2, %d3, %d4;", "fma.rn.f32x2"},
           {100, "add.f32.bf16 %f1, %h1, %f3;", "add.f32.bf16"},
           {90, "ld.relaxed.cluster.global.u32 %r1, [%d1];", "ld.relaxed.cluster.global.u32"},
           {90, "st.release.cluster.u32 [%d1], %r1;", "st.release.cluster.u32"},
           {90, "atom.cluster.add.u32 %r1, [%d1], %r2;", "atom.cluster.add.u32"},
           {90, "add.bf16 %h1, %h2, %h3;", "add.bf16"},
           {90, "mul.rn.bf16x2 %r1, %r2, %r3;", "mul.rn.bf16x2"},
           {90, "add.s16x2 %r1, %r2, %r3;", "add.s16x2"},
           {90, "setp.lt.bf16 %p1, %h2, %h3;", "setp.lt.bf16"},
           {86, "min.xorsign.abs.f32 %f1, %f2, %f3;", "min.xorsign.abs.f32"},
           {80, "fma.rn.relu.f16 %h1, %h2, %h3, %h4;", "fma.rn.relu.f16"},
           {80, "fma.rn.bf16 %h1, %h2, %h3, %h4;", "fma.rn.bf16"},
           {80, "ld.global.L2::cache_hint.u32 %r1, [%d1], %d2;", "ld.global.L2::cache_hint.u32"}}) {
    const std::string below = each.first == 80    ? "75"
                              : each.first == 86  ? "80"
                              : each.first == 89  ? "86"
                              : each.first == 100 ? "90"
                                                  : "89";
    const std::string first = std::to_string(each.first);
    CHECK(in_kernel(below, each.statement) == "its PTX is for sm_" + below + " and holds the instruction '" +
                                                  each.named + "', which takes sm_" + first + " or newer");
    CHECK(in_kernel(first, each.statement).empty());
  }
  CHECK(in_kernel("90", "max.f32 %f1, %f2, %f3, %f4;") ==
        "its PTX is for sm_90 and holds the instruction 'max.f32' with three sources, which takes sm_100 or "
        "newer");
  CHECK(in_kernel("100", "max.f32 %f1, %f2, %f3, %f4;").empty());
  for (const char* older :
       {"ld.shared::cta.u32 %r1, [%r2];", "ld.global.L1::no_allocate.u32 %r1, [%d2];",
        "max.f32 %f1, %f2, %f3;", "max.f32 %f1, %f2, %f3 /* , */;", "cvt.rn.f16.f32 %h1, %f1;",
        "fence.proxy.alias;", "red.global.add.f32 [%d1], %f1;",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0};", "add.rn.f32 %f1, %f2, %f3;",
        "mul.wide.u16 %r1, %h2, %h3;", "fma.rn.f16 %h1, %h2, %h3, %h4;", "ld.shared.v4.u32 {%r1}, [%r2];",
        "ld.relaxed.gpu.global.u32 %r1, [%d1];", "setp.lt.f16 %p1, %h2, %h3;"})
    CHECK_MESSAGE(in_kernel("75", older).empty(), older);
}

TEST_CASE("a form of an instruction takes a newer ISA than the instruction") {
  const auto since = [](const std::string& target, const std::string& older, const std::string& isa,
                        const std::string& statement) {
    CHECK_MESSAGE(in_kernel(target, statement, older).find("which came with " + isa) != std::string::npos,
                  statement);
    CHECK_MESSAGE(in_kernel(target, statement, isa).empty(), statement);
  };
  since("100", "8.7", "8.8", "ld.global.v4.b64 {%d2,%d3,%d4,%d5}, [%d1];");
  since("100", "8.7", "8.8", "st.global.v8.f32 [%d1], {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};");
  since("100", "8.7", "8.8", "max.f32 %f1, %f2, %f3, %f4;");
  since("100a", "8.6", "8.7", "cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;");
  since("86", "7.1", "7.2", "min.xorsign.abs.f32 %f1, %f2, %f3;");
  since("90", "7.8", "8.0", "barrier.cluster.arrive.release;");
  since("90", "7.8", "8.0", "barrier.cluster.wait.acquire.aligned;");
  CHECK(in_kernel("90", "barrier.cluster.arrive.aligned; barrier.cluster.wait;", "7.8").empty());
  CHECK(in_kernel("100", "max.f32 %f1, %f2, %f3; ld.global.v2.b64 {%d2,%d3}, [%d1];", "8.7").empty());
}

TEST_CASE("what some compilers take is in doubt, and hides nothing that none takes") {
  const auto refused = [](const std::string& body, const std::string& isa) {
    const auto code = read_ptx(test::bytes_of_text(".version " + isa + "\n.target sm_90\n" + body));
    REQUIRE(code);
    return code->refused;
  };
  const std::string acquire = "fence.acquire.gpu;", sure = "setmaxnreg.inc.sync.aligned.u32 64;";
  const auto open = refused(".entry k() { " + acquire + " ret; }", "8.5");
  REQUIRE(open);
  CHECK(open->in_doubt);
  CHECK(open->reason ==
        "its PTX is of PTX ISA 8.5 and holds the instruction 'fence.acquire', which came with 8.6: compilers "
        "of "
        "CUDA 12.8 to 13.0 take it all the same, and others refuse it");
  CHECK(open->not_refused->has({13, 0}));
  CHECK_FALSE(open->not_refused->has({13, 1}));
  CHECK_FALSE(refused(".entry k() { " + acquire + " ret; }", "8.6"));
  CHECK(is_sure(refused(".entry k() { " + acquire + sure + " ret; }", "8.5")));
  CHECK(is_sure(refused(".entry k() { " + acquire + " ret; }\n.entry l() { " + sure + " ret; }", "8.5")));
  CHECK(is_sure(refused(".entry k() { fence.acquire.sync_restrict::shared::cluster.cluster; ret; }", "8.5")));
}

TEST_CASE("a pragma of a newer ISA is ignored by older compilers, and refused by newer ones") {
  const auto refused = [](const std::string& pragma, const std::string& isa,
                          const std::string& head = ".entry k()") {
    const auto code = read_ptx(test::bytes_of_text(".version " + isa + "\n.target sm_80\n" + head +
                                                   " { .pragma \"" + pragma + "\"; ret; }\n"));
    REQUIRE(code);
    return code->refused;
  };
  const auto open = refused("used_bytes_mask 4095", "8.2");
  REQUIRE(open);
  CHECK(open->in_doubt);
  CHECK(open->reason ==
        "its PTX is of PTX ISA 8.2 and has the pragma 'used_bytes_mask', which came with 8.3: compilers from "
        "CUDA 12.3 on refuse it, and older ones ignore it");
  CHECK(open->mend == "compile it with CUDA 12.3 or newer, or leave the pragma 'used_bytes_mask' out");
  CHECK(open->not_refused->has({12, 2}));
  CHECK_FALSE(open->not_refused->has({12, 3}));
  CHECK(refused("nounroll\", \"enable_smem_spilling", "8.6"));
  CHECK(refused("frequency 10", "8.8"));
  for (const std::string pragma :
       {"used_bytes_mask 4095", "enable_smem_spilling", "frequency 10", "nounroll"})
    CHECK_MESSAGE(!refused(pragma, "9.0"), pragma);
  for (const std::string pragma : {"nounroll", "other", "my frequency"})
    CHECK_MESSAGE(!refused(pragma, "7.0"), pragma);
  CHECK(is_sure(refused("abi_param_reg 8", "9.0")));
  CHECK_FALSE(refused("abi_param_reg 8", "9.0", ".func f()"));
}

TEST_CASE("the special registers of clusters take sm_90, unless the code has a register of that name") {
  CHECK(in_kernel("80", "mov.u32 \t%r1, %cluster_ctaid.x;") ==
        "its PTX is for sm_80 and reads the register '%cluster_ctaid', which takes sm_90 or newer");
  CHECK(in_kernel("80", "mov.u32 %r1, %nclusterid.y;") != "");
  CHECK(in_kernel("80", "mov.u32 %r1, %cluster_ctarank;") != "");
  CHECK(in_kernel("90", "mov.u32 %r1, %cluster_ctaid.x;").empty());
  CHECK(in_kernel("80", "mov.u32 %r1, %ctaid.x;").empty());
  CHECK(in_kernel("80", "mov.u32 %r1, %cluster_other;").empty());
  CHECK(in_kernel("80", ".reg .b32 %cluster_ctarank; mov.u32 %r1, %cluster_ctarank;").empty());
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

TEST_CASE(
    "shared memory of functions counts in the kernels that reach them, and that of the module where it is "
    "named") {
  const auto shared = [](const std::string& name, int bytes) {
    return ".shared .align 4 .b8 " + name + "[" + std::to_string(bytes) + "]; ";
  };
  const auto use = [](const std::string& name) { return "st.shared.u32 [" + name + "], 1; "; };
  const auto func = [](const std::string& name, const std::string& body) {
    return ".func " + name + "() { " + body + "ret; }\n";
  };
  const auto kernel = [](const std::string& body) { return ".entry k() { " + body + "ret; }\n"; };
  const auto too_much = [](int bytes) {
    return "the kernel 'k' of its PTX has " + std::to_string(bytes) +
           " bytes of static shared memory, and 49152 are the most";
  };
  const std::string f = func("f", shared("s", 30000) + use("s")), call_f = "call.uni f; ";
  CHECK(refusal("80", func("f", shared("s", 49152) + use("s")) + kernel(call_f)).empty());
  CHECK(refusal("80", func("f", shared("s", 49153)) + kernel("@p " + call_f)) == too_much(49153));
  CHECK(refusal("80", f + kernel(shared("t", 30000) + call_f)) == too_much(60000));
  CHECK(refusal("80", f + kernel(shared("t", 30000))).empty());
  CHECK(refusal("80", f + func("g", shared("s", 30000) + use("s") + call_f) + kernel("call g; ")) ==
        too_much(60000));
  CHECK(refusal("80", f + func("g", shared("s", 30000) + call_f) + kernel("call g; ")) == too_much(60000));
  CHECK(refusal("80", ".func g();\n" + func("f", shared("s", 25000) + use("s") + "call g; ") +
                          func("g", shared("s", 25000) + use("s") + "call f; ") + kernel("call g; ")) ==
        too_much(50000));
  CHECK(refusal("80", func("f", shared("s", 25000) + use("s") + "call f; ") +
                          kernel(shared("t", 24000) + "call f; "))
            .empty());
  CHECK(refusal("80", f + ".func h();\n.alias h, f;\n" + kernel(shared("t", 30000) + "call h; ")) ==
        too_much(60000));
  // Through pointers.
  const std::string pointer = ".reg .u64 p; P: .callprototype _ (); call p, (), P; ";
  CHECK(refusal("80", f + ".global .u64 t = f;\n" + kernel(shared("t", 30000) + pointer)) == too_much(60000));
  CHECK(refusal("80", f + func("g", "mov.u64 q, f; ") + kernel(shared("t", 30000) + pointer)) ==
        too_much(60000));
  CHECK(refusal("80", f + kernel(shared("t", 30000) + pointer)).empty());
  // At module scope.
  const std::string two = shared("a", 30000) + shared("b", 30000);
  CHECK(refusal("80", two + kernel(use("a")) + ".entry l() { " + use("b") + "ret; }").empty());
  CHECK(refusal("80", two + kernel(use("a") + use("b"))) == too_much(60000));
  CHECK(refusal("80", two + func("f", use("a")) + func("g", use("b")) + kernel("call f; call g; ")) ==
        too_much(60000));
  CHECK(refusal("80", two + func("f", use("a")) + kernel(use("a") + "call f; ")).empty());
  // Of functions one after the other nobody knows.
  const auto code =
      read_ptx(test::bytes_of_text(".version 9.0\n.target sm_80\n.address_size 64\n" + f +
                                   func("g", shared("s", 30000) + use("s")) + kernel("call f; call g; ")));
  REQUIRE(code);
  REQUIRE(code->refused);
  CHECK(code->refused->in_doubt);
  CHECK(code->refused->reason ==
        "whether compilers take the kernel 'k' of its PTX is not known: with the functions that it reaches "
        "it has 60000 "
        "bytes of "
        "static shared memory, 49152 are the most, and functions that are called one after the other may "
        "share theirs");
}

TEST_CASE("no call passes a predicate or a small number in a register") {
  const std::string why =
      "the kernel 'k' of its PTX reaches a call that passes a predicate, or a number of 8 or 16 bits, in a "
      "register";
  const auto called = [](const std::string& type) {
    return refusal("80", ".func f(.reg " + type + " p) { ret; }\n.entry k() { @q call f, (r); ret; }");
  };
  for (const char* small : {".pred", ".u8", ".s8", ".u16", ".s16"}) CHECK(called(small) == why);
  for (const char* taken : {".b8", ".b16", ".f16", ".u32", ".b64", ".v2 .u16", ".v4 .s8"})
    CHECK(called(taken).empty());
  CHECK(refusal("80", ".func (.reg .pred r) f() { ret; }\n.entry k() { call (q), f; ret; }") == why);
  // A function with several results in registers makes compilers do without an ABI.
  const std::string calls = ".func (.reg .pred r) f() { ret; }\n.entry k() { call (q), f; ret; }\n";
  CHECK(refusal("80", calls + ".func (.reg .b32 a, .reg .b32 b) g() { ret; }").empty());
  CHECK(refusal("80", ".extern .func (.reg .b32 a, .reg .b32 b) g();\n" + calls).empty());
  CHECK(refusal("80", calls + ".func (.param .b32 a, .param .b32 b) g() { ret; }") == why);
  CHECK(refusal("80", ".func f(.reg .pred p) { ret; }\n.func g() { call f, (q); ret; }\n.entry k() { ret; }")
            .empty());
  CHECK(refusal(
            "80",
            ".func f(.reg .pred p) { ret; }\n.func g() { call f, (q); ret; }\n.entry k() { call g; ret; }") ==
        why);
  CHECK(refusal("80", ".func f(.reg .pred p) { ret; }\n.global .u64 t = f;\n.entry k() { ret; }").empty());
  for (const std::string head : {".func f(.param .pred p)", ".entry f(.param .pred p)"}) {
    const auto code =
        read_ptx(test::bytes_of_text(".version 9.0\n.target sm_80\n.address_size 64\n" + head + " { ret; }"));
    REQUIRE_FALSE(code);
    CHECK(code.error().what == "PTX has the predicate 'p' in memory, as a parameter");
  }
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
  CHECK(refusal("80", ".const .b8 c[][40000] = { { 1, 2 } };\n" + kernel).empty());
  CHECK(refusal("80", ".const .b8 c[][40000] = { { 1, 2 }, { 3 } };\n" + kernel) == more("80000"));
  CHECK(refusal("80", ".const .b64 c[] = { (1), 2 }, d[8192] = { 1 };\n" + kernel) == more("65552"));
  CHECK(refusal("80", ".entry k() { .const .b8 c[65536]; ret; }").empty());
  CHECK(refusal("80", ".entry k() { .const .b8 c[65537]; ret; }") == more("65537"));
  CHECK(refusal("80", ".const .b8 c[40000];\n.entry k() { .const .b8 d[40000]; ret; }") == more("80000"));
  CHECK(refusal("80", ".global .b8 c[70000];\n.const .b8 d[] = {1};\n" + kernel).empty());
}

TEST_CASE("a driver compiles no unified symbols") {
  const std::string kernel = ".entry k() { ret; }",
                    why = "its PTX has the attribute `.unified`, which drivers do not compile";
  CHECK(refusal("90", ".func .attribute(.unified(1, 2)) f() { ret; }\n" + kernel) == why);
  CHECK(refusal("90", ".global .attribute(.unified(1, 2)) .u32 v;\n" + kernel) == why);
  CHECK(refusal("90", ".extern .func .attribute(.unified(1, 2)) f();\n" + kernel) == why);
}
