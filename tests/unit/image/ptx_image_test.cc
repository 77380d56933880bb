#include <doctest/doctest.h>

#include "reading.h"
#include "support/builders/byte_writer.h"

using namespace archguard;

namespace {

std::string kernels_of_ptx(const std::string& text) {
  return test::kernels_of(read_ptx(test::bytes_of_text(text)));
}

std::string state_of(const std::string& body) {
  return kernels_of_ptx(".version 9.0\n.target sm_80\n.visible .entry k(.param .u64 p)\n.maxntid 64\n{" +
                        body + "}");
}

}  // namespace

TEST_CASE("kernels are .entry with a body, after .visible, .weak or nothing") {
  CHECK(kernels_of_ptx(".version 9.0\n.target sm_80\n.address_size 64\n"
                       ".global .align 1 .b8 $str[2] = {120, 0};\n"
                       ".extern .func (.param .b32 r) vprintf (.param .b64 a);\n"
                       ".func helper() { .entry: st.global.u32 [%rd1], 1; ret; }\n"
                       "// .visible .entry comment()\n"
                       ".visible .entry declared(.param .u64 p);\n"
                       ".visible .entry b(.param .align 8 .b8 p[16]) { ret; }\n"
                       ".weak .entry a() { trap; }\n"
                       ".entry c\n{ st.global.u32 [%rd1], 1; ret; }\n") == "a trap, b empty, c real");
}

TEST_CASE("the bytes of a kernel's parameters, each at its alignment") {
  const auto bytes = [](const std::string& parameters) {
    const auto code =
        read_ptx(test::bytes_of_text(".version 9.0\n.target sm_80\n.visible .entry k" + parameters +
                                     "\n.maxntid 64\n{ ret; }\n.entry last(.param .u8 a) { ret; }\n"));
    REQUIRE(code);
    return code->parameters;
  };
  CHECK(bytes("") == 1);
  CHECK(bytes("()") == 1);
  CHECK(bytes("(.param .u64 a)") == 8);
  CHECK(bytes("(.param .u8 a, .param .u64 b, .param .f16 c)") == 18);
  CHECK(bytes("(\n\t.param .align 4 .b8 _Z2kb1BPi_param_0[8000],\n\t.param .u64 _Z2kb1BPi_param_1\n)\n") ==
        8008);
  CHECK(bytes("(.param .u32 n, .param .u64 .ptr .global .align 256 a)") == 16);
  CHECK(bytes("(.param .u8 a, .param .align 16 .b8 b[6])") == 22);
  CHECK(bytes("(.param .b128 a)") == 16);
  CHECK(bytes("(.param .b64 a[18446744073709551615], .param .b64 b[18446744073709551615])") > 4352);
}

TEST_CASE("PTX for linking declares what another file defines") {
  const auto unresolved = [](const std::string& text) {
    const auto code = read_ptx(test::bytes_of_text(".version 9.0\n.target sm_90\n.address_size 64\n" + text +
                                                   ".entry k() { call stop; call f; call _Z3foof; ret; }\n"));
    REQUIRE(code);
    return code->relocatable ? "for linking: " + code->unresolved : "whole";
  };
  CHECK(unresolved("") == "whole");
  CHECK(unresolved(
            ".extern .func  (.param .b32 func_retval0) _Z3foof\n(\n\t.param .b32 _Z3foof_param_0\n)\n;\n") ==
        "for linking: _Z3foof");
  CHECK(unresolved(".extern .func stop\n(\n)\n.noreturn;\n") == "for linking: stop");
  CHECK(unresolved(".extern .func .attribute(.unified(1,2)) f();\n") == "for linking: f");
  CHECK(unresolved(".extern .global .align 4 .b8 table[];\n") == "for linking: table");
  CHECK(unresolved(".extern .const .align 4 .u32 limit;\n") == "for linking: limit");
  CHECK(unresolved(".extern .global .attribute(.managed) .align 4 .u32 x;\n") == "for linking: x");

  CHECK(
      unresolved(".extern .global .align 4 .b8 t[];\n.visible .global .align 4 .b8 t[4] = {1, 2, 3, 4};\n") ==
      "whole");
  CHECK(unresolved(".extern .global .u32 t;\n.visible .global .u32 u = 1;\n") == "for linking: t");
  CHECK(unresolved(".extern .shared .align 16 .b8 buffer[];\n") == "whole");
  for (const std::string own : {"vprintf", "malloc", "free", "__assertfail", "__cuda_syscall_aligned_malloc"})
    CHECK(unresolved(".extern .func (.param .b32 func_retval0) " + own + "\n(\n.param .b64 a\n)\n;\n") ==
          "whole");
  CHECK(unresolved("// .extern .func f();\n.func g() { .extern .func h; ret; }\n") == "whole");
  CHECK(kernels_of_ptx(".version 9.0\n.extern .func (.param .b32 r") ==
        "PTX ends inside an `.extern` declaration");
}

TEST_CASE("a built-in function of a later CUDA needs a driver of it") {
  const auto read = [](const std::string& functions) {
    std::string text = ".version 4.0\n.target sm_50\n.address_size 64\n", calls;
    for (std::size_t begin = 0; begin < functions.size();) {
      const std::size_t end = std::min(functions.find(' ', begin), functions.size());
      const std::string name = functions.substr(begin, end - begin);
      text += ".extern .func " + name + "();\n";
      calls += "call.uni " + name + "; ";
      begin = end + 1;
    }
    return *read_ptx(test::bytes_of_text(text + ".visible .entry k() { " + calls + "ret; }\n"));
  };
  CHECK_FALSE(read("vprintf vfprintf cnpLaunchDeviceV2 cnpDeviceGetTotalMem").newest_call);
  CHECK(read("cudaResizeSharedMemory cudaFabricOpErrorStatusGet").newest_call->since == Version{13, 5});
  CHECK(read("cudaSubgridSynchronousWorkspaceInitialize").newest_call->since == Version{13, 3});
  const ImageKernels conditional = read("cudaGraphSetConditional");
  CHECK_FALSE(conditional.relocatable);
  CHECK(conditional.names.wanted.empty());
  REQUIRE(conditional.newest_call);
  CHECK(conditional.newest_call->name == "cudaGraphSetConditional");
  CHECK(conditional.newest_call->since == Version{12, 3});
  const std::string update = "cudaGraphKernelNodeSetEnabled";
  CHECK(read("cudaGraphLaunch " + update + " cudaGraphSetConditional").newest_call->name == update);
  CHECK(read("cudaGraphInstantiate").relocatable);  // no built-in
  CHECK_FALSE(read_ptx(test::bytes_of_text(".version 4.0\n.target sm_50\n.extern .func cudaGraphLaunch();\n"))
                  ->newest_call);  // nothing calls it
}

TEST_CASE("a function that is declared needs a body, or another file") {
  const auto unresolved = [](const std::string& text) {
    const auto code = read_ptx(test::bytes_of_text(".version 9.0\n.target sm_80\n" + text));
    REQUIRE(code);
    return code->relocatable ? "for linking: " + code->unresolved : "whole";
  };
  const std::string kernel = ".entry k() { call foo, (p); ret; }\n";
  CHECK(unresolved(".func foo(.param .b32 a);\n" + kernel) == "for linking: foo");
  CHECK(unresolved(".func () foo(.param .b32 a)\n.noreturn;\n" + kernel) == "for linking: foo");
  CHECK(unresolved(".visible .func foo();\n" + kernel) == "for linking: foo");
  CHECK(unresolved(".weak .func foo();\n" + kernel) == "for linking: foo");
  CHECK(unresolved(".func foo();\n.func bar() { ret; }\n" + kernel) == "for linking: foo");
  CHECK(unresolved(".func foo();\n" + kernel + ".func foo() { ret; }\n") == "whole");
  CHECK(unresolved(".weak .func foo();\n" + kernel + ".weak .func foo() { ret; }\n") == "whole");
  CHECK(unresolved(".func foo();\n.func bar() { ret; }\n.alias foo, bar;\n" + kernel) == "whole");
  for (const std::string own : {"vprintf", "malloc", "free", "__assertfail", "__cuda_syscall_aligned_malloc"})
    CHECK(unresolved(".func (.param .b32 r) " + own + "(.param .b64 a);\n" + kernel) == "whole");
}

TEST_CASE("a function of another file is missing where something names it, and a declared kernel always") {
  const auto unresolved = [](const std::string& text) {
    const auto code =
        read_ptx(test::bytes_of_text(".version 9.0\n.target sm_80\n.entry k() { ret; }\n" + text));
    REQUIRE(code);
    CHECK(code->kernels.size() == 1);
    return code->relocatable ? "for linking: " + code->unresolved : "whole";
  };
  CHECK(unresolved(".extern .func f;") == "whole");
  CHECK(unresolved(".extern .func (.param .b32 r) f (.param .b64 a);\n.extern .func g();") == "whole");
  CHECK(unresolved(".extern .func f;\n// f\n/* f */ .file 1 \"f\"") == "whole");
  CHECK(unresolved(".extern .func f;\n.extern .func f;") == "whole");
  CHECK(unresolved(".extern .func f;\n.func g() { call ff; ret; }") == "whole");
  CHECK(unresolved(".extern .func f;\n.func g() { call f; ret; }") == "for linking: f");
  CHECK(unresolved(".extern .func f;\n.global .u64 t[1] = { f };") == "for linking: f");
  CHECK(unresolved(".func g() { call f; ret; }\n.extern .func f;\n.extern .func e;") == "for linking: f");
  for (const std::string use : {"ld.param.b32 %r1, [f];", "{ .param .b32 f; st.param.b32 [f+0], 1; }"})
    CHECK(unresolved(".extern .func f;\n.func g(.param .b32 f) { " + use + " ret; }") == "whole");
  CHECK(unresolved(".extern .func f;\n.func g() { mov.u64 %rd1, f; ret; }") == "for linking: f");
  for (const std::string hides :
       {".reg .b32 a, f; mov.b32 f, 1;", "{ .reg .b32 f; mov.b32 a, f; }", ".local .b32 f; mov.u64 %r, f;",
        ".loc 1 2 3\n{ .reg .b32 f; mov.b32 a, f; }", "t: .calltargets f;",
        "p: .callprototype (.param .b32 f) _ (.param .b32 f);", "f: @p bra f;",
        ".shared .b8 f[4]; mov.b32 a, f;"})
    CHECK(unresolved(".extern .func f;\n.func g() { " + hides + " ret; }") == "whole");
  CHECK(unresolved(".extern .func f;\n.func (.reg .b32 f) g() { mov.b32 f, 1; ret; }") == "whole");
  for (const std::string uses :
       {"{ .reg .b32 f; } call f;", "bra f; f:", "call f; { .reg .b32 f; }",
        ".loc 1 2 3\n{ .reg .b32 f;\n}\n@!p call f;", "ld.v2.b32 {a, b}, [c]; call f;",
        ".reg .b32 f<2>; mov.b32 f0, f1; call f;"})
    CHECK(unresolved(".extern .func f;\n.func g() { " + uses + " ret; }") == "for linking: f");
  CHECK(unresolved(".extern .func f;\n.func g(.param .b32 f) { ret; }\n.func h() { call f; ret; }") ==
        "for linking: f");
  CHECK(unresolved(".func f();") == "for linking: f");
  CHECK(unresolved(".extern .func f;\n.func g() { ret; }\n.alias f, g;\n.func h() { call f; ret; }") ==
        "whole");
  CHECK(unresolved(".global .u32 v;\n.extern .global .u32 v;") == "whole");
  CHECK(unresolved(".entry e();") == "for linking: e");
  CHECK(unresolved(".extern .entry e();") == "whole");
  CHECK(unresolved(".extern .global .texref t;\n.extern .global .surfref s;") == "whole");
}

TEST_CASE("whether PTX lacks more than variables is told, and a function is named before them") {
  const auto lacks = [](const std::string& text) {
    const auto code =
        read_ptx(test::bytes_of_text(".version 9.0\n.target sm_80\n.entry k() { call b; ret; }\n" + text));
    REQUIRE(code);
    return code->unresolved + (code->lacks_variables_alone ? " alone" : "");
  };
  CHECK(lacks(".extern .global .u32 a;\n.extern .const .u32 c;") == "a alone");
  CHECK(lacks(".extern .global .u32 a;\n.extern .func b;\n.extern .global .u32 c;") == "b");
  CHECK(lacks(".extern .func b;") == "b");
  CHECK(lacks(".extern .shared .b8 a[];") == "");
}

TEST_CASE("a directive that no compiler of that ISA takes there, or that is not known, is not understood") {
  const auto read = [](const std::string& isa, const std::string& text) {
    const std::string target = isa[0] == '9' ? "sm_90" : "sm_20";
    return kernels_of_ptx(".version " + isa + "\n.target " + target + "\n.entry k() { ret; }\n" + text);
  };
  const auto unknown = [](const std::string& name) {
    return "PTX has `" + name + "`, a directive that ArchGuard does not know";
  };
  const auto misplaced = [](const std::string& name) {
    return "PTX has `" + name + "` in a place where no compiler takes it";
  };
  for (const std::string fine :
       {".shared .b32 v;", ".common .global .b32 v;", ".visible .shared .align 4 .b8 v[4];",
        ".attribute(.managed) .global .b32 v;", ".global .attribute(.managed) .f16x2 v;",
        ".align 8 .global .b64 v;",
        ".entry l() .maxntid 64, 1, 1 .minnctapersm 1 .pragma \"nounroll\"; { ret; }",
        ".func f() .abi_preserve 8 .noreturn { ret; }",
        ".weak .entry l() .explicitcluster .reqntid 32 { ret; }",
        ".func .attribute(.unified(1, 2)) f() { ret; }", ".extern .shared .b8 v[];",
        ".section .nv_x { .b8 1 }", ".global .b128 v;", ".nv_intermediate_source_section { }"})
    CHECK(read("9.4", fine).find("PTX") == std::string::npos);
  CHECK(read("9.0", ".foo 1;") == unknown(".foo"));
  CHECK(read("9.0", ".foo") == unknown(".foo"));
  CHECK(read("9.9", ".foo { }") == unknown(".foo"));
  CHECK(read("9.0", ".visible .foo .b32 v;") == unknown(".foo"));
  CHECK(read("9.0", ".global .foo .b32 v;") == unknown(".foo"));
  CHECK(read("9.0", ".shared .foo .b32 v;") == unknown(".foo"));
  CHECK(read("9.0", ".extern .global .foo .b32 v;") == unknown(".foo"));
  CHECK(read("9.0", ".entry l() .foo 1 { ret; }") == unknown(".foo"));
  CHECK(read("9.0", ".func .foo f() { ret; }") == unknown(".foo"));
  CHECK(read("9.0", ".extern .func f() .foo;") == unknown(".foo"));
  CHECK(read("9.0", ".extern .func f() .noreturn;") == "k empty");
  CHECK(read("9.0", ".loc 1 1 1") == unknown(".loc"));
  CHECK(read("9.0", ".param .b32 v;") == unknown(".param"));
  CHECK(read("9.0", ".language 1;") == misplaced(".language"));
  CHECK(read("9.0", ".b32 .global v;") == misplaced(".b32"));
  CHECK(read("9.0", ".visible .weak .global .b32 v;") == misplaced(".weak"));
  CHECK(read("9.0", ".common .func f() { ret; }") ==
        "PTX has `.common` before what is no `.global` variable");
  CHECK(read("9.0", ".visible .alias a, k;") == misplaced(".alias"));
  CHECK(read("9.0", ".extern .visible .global .b32 v;") == misplaced(".visible"));
  CHECK(read("6.2", ".alias a, k;") == "PTX ISA 6.2 has no `.alias`, which came with ISA 6.3");
  CHECK(read("8.2", ".global .b128 v;") == "PTX ISA 8.2 has no `.b128`, which came with ISA 8.3");
  CHECK(read("7.7", ".entry l() .explicitcluster { ret; }") ==
        "PTX ISA 7.7 has no `.explicitcluster`, which came with ISA 7.8");
  CHECK(read("9.0", ".local .b32 v;") == "PTX ISA 9.0 has no `.local`, which ISA 2.3 had last");
  CHECK(read("2.3", ".reg .b32 v;") == "k empty");
  CHECK(read("2.0", "@@DWARF .byte 1") == "PTX must hold statements alone, found '@' at 0x2f");
  CHECK(kernels_of_ptx(
            ".version 1.4\n.target sm_13\n.entry k() { ret; }\n@@DWARF .byte 1, 2\n@@DWARF .byte 3") ==
        "k empty");
  CHECK(kernels_of_ptx(".version 1.4\n.target sm_13\n@@foo .byte 1") ==
        "PTX must hold statements alone, found '@' at 0x1b");
}

TEST_CASE("the head of a module") {
  const std::string kernel = ".entry k() { ret; }\n", head = ".version 9.0\n.target sm_80\n";
  const std::string version = "PTX must begin with `.version X.Y`, in one line and without a comment";
  CHECK(kernels_of_ptx(".version\t9.0\n.target /* c */\nsm_80 // c\n.address_size /**/ 64\n" + kernel) ==
        "k empty");
  CHECK(kernels_of_ptx(".version /*8.0*/ 9.0\n.target sm_80\n" + kernel) == version);
  CHECK(kernels_of_ptx(".version\n9.0\n.target sm_80\n" + kernel) == version);
  CHECK(kernels_of_ptx(".version 9\n.target sm_80\n" + kernel) == version);
  CHECK(kernels_of_ptx("# 1 \"k.cu\"\n" + head + kernel) ==
        "PTX begins with a line of a preprocessor, '# 1 \"…\"', which drivers from CUDA 12.3 on may refuse");
  CHECK(kernels_of_ptx("// # 1 \"k.cu\"\n" + head + "# 1 \"k.cu\"\n" + kernel) == "k empty");
  CHECK(kernels_of_ptx(".version 9.0\n# 2 \"k.cu\"\n.target sm_80\n.entry k() {\n#line 3 \"}\"\n}") ==
        "k empty");
  const auto again = [](const std::string& name, const std::string& at) {
    return "PTX must have `" + name + "` in its head alone, found another at " + at;
  };
  CHECK(kernels_of_ptx(head + ".target sm_80, texmode_unified\n" + kernel) == "k empty");
  CHECK(kernels_of_ptx(head + kernel + ".target sm_80\n") == again(".target", "0x36"));
  CHECK(kernels_of_ptx(head + kernel + ".address_size 64\n") == again(".address_size", "0x3c"));
  CHECK(kernels_of_ptx(head + ".address_size 64\n.address_size 64\n") == again(".address_size", "0x39"));
  CHECK(kernels_of_ptx(".version 9.0\n.pragma \"nounroll\";\n.target sm_80\n" + kernel) ==
        again(".target", "0x28"));
  CHECK(kernels_of_ptx(head + ".address_size 48\n") ==
        "PTX must have an `.address_size` of 32 or 64, found '48'");
  CHECK(kernels_of_ptx(".version 1.4\n.target sm_13\n.address_size 64\n" + kernel) ==
        "PTX ISA 1.4 has no `.address_size`, which came with ISA 2.3");
  CHECK(kernels_of_ptx(".version 2.2\n.target sm_20\n.address_size 64\n" + kernel) ==
        "PTX ISA 2.2 has no `.address_size`, which came with ISA 2.3");
  CHECK(kernels_of_ptx(".version 2.3\n.target sm_20\n.address_size 64\n" + kernel) == "k empty");
  CHECK(kernels_of_ptx(".version 1.4\n.target sm_13\n" + kernel) == "k empty");
  const auto option = [](const std::string& name) {
    return "PTX has a `.target` of '" + name + "', which is not known";
  };
  CHECK(kernels_of_ptx(".version 9.0\n.target sm_80, foo\n" + kernel) == option("foo"));
  CHECK(kernels_of_ptx(".version 9.0\n.target debug, sm_80\n" + kernel) == option("debug"));
  CHECK(kernels_of_ptx(".version 9.0\n.target sm_80,\n" + kernel) == option(".entry"));
  CHECK(kernels_of_ptx(".version 2.0\n.target sm_20, map_f64_to_f32\n" + kernel) == option("map_f64_to_f32"));
  CHECK(kernels_of_ptx(".version 1.4\n.target sm_12, map_f64_to_f32\n" + kernel) == "k empty");
  CHECK(kernels_of_ptx(".version 9.0\n.target sm_80, debug\n" + kernel) ==
        "PTX has `.target debug` and no debug information");
  CHECK(kernels_of_ptx(".version 9.0\n.target sm_80, debug\n" + kernel +
                       ".section .debug_info { .b8 1 }\n") == "k empty");
  CHECK(kernels_of_ptx(".version 9.0\n.target sm_80a\n" + kernel) == "PTX ISA 9.0 has no target sm_80a");
}

TEST_CASE("text that is part of no statement is damage") {
  const auto read = [](const std::string& behind) {
    return kernels_of_ptx(".version 9.0\n.target sm_80       \n.address_size 64\n.entry k() { ret; }\n" +
                          behind);
  };
  const auto found = [](const std::string& what, const std::string& at) {
    return "PTX must hold statements alone, found '" + what + "' at " + at;
  };
  for (const std::string fine :
       {"", " \r\n\t\f", "// the end", "/* the end */", "\n# 1 \"k.cu\" 2\n", "#line 3 \"k.cu\"",
        ".file 1 \"k.cu\"", ".file 1 \"k.cu\", 1700000000, 42\n.file 2 \"k.h\"\n",
        ".section .debug_str\n{\ninfo:\n.b8 1\n}\n", ".pragma \"nounroll\";",
        ".extern .global .u32 t;\n.visible .global .u32 t;", ".extern .shared .b8 s[];",
        ".global .surfref s;"})
    CHECK(read(fine) == "k empty");
  CHECK(read("garbage here\n") == found("garbage", "0x47"));
  CHECK(read(std::string("// text \" \n")) == "k empty");
  CHECK(read("12") == found("12", "0x47"));
  CHECK(read(";") == found(";", "0x47"));
  CHECK(read("}") == found("}", "0x47"));
  CHECK(read("/") == found("/", "0x47"));
  CHECK(read("#line 3") == found("#", "0x47"));
  CHECK(read(std::string(100, 'x')) == found(std::string(40, 'x'), "0x47"));
  CHECK(read(".file 1 \"k.cu\" x") == found("x", "0x56"));
  CHECK(read(".file \"k.cu\"\n.entry l() {}") ==
        "PTX has `.file` with what no compiler takes behind it, found '.entry'");
  CHECK(read(".extern .global .u32 t; x") == found("x", "0x5f"));
  CHECK(read(".func f() { ret; } x") == found("x", "0x5a"));
  CHECK(read(".version 9.0\n.target sm_80\n") == "PTX must be one module, found another `.version` at 0x4f");
  CHECK(kernels_of_ptx(".version 9.0\n.target sm_80;\n.entry k() { ret; }") == found(";", "0x1a"));
}

TEST_CASE("PTX that is not ASCII is not understood") {
  const std::string module = ".version 9.0\n.target sm_80\n.entry k() { ret; }\n";
  CHECK(kernels_of_ptx("\xef\xbb\xbf" + module) ==
        "PTX begins with a byte order mark, which the driver refuses");
  const std::string reason = ": drivers from CUDA 12.8 on may refuse it";
  CHECK(kernels_of_ptx(module + "// \xc3\xbc\n") ==
        "PTX must be ASCII, found the byte 0xc3 at 0x32" + reason);
  CHECK(kernels_of_ptx(module + std::string(200, ' ') + "// \xfc") ==
        "PTX must be ASCII, found the byte 0xfc at 0xfa" + reason);
  CHECK(kernels_of_ptx(module + ".file 1 \"/\xc3\xbc/k.cu\"\n") ==
        "PTX must be ASCII, found the byte 0xc3 at 0x39" + reason);
  CHECK(kernels_of_ptx(module + ".file 1 \"/\\303\\274/k.cu\"\n") == "k empty");
}

TEST_CASE("empty: the body returns and does no more") {
  CHECK(state_of("ret;") == "k empty");
  CHECK(state_of("") == "k empty");
  CHECK(state_of(" .reg .b32 %r<5>;\n.loc 1 3 0, function_name $L1\n$L_begin: exit; $L_end:") == "k empty");
  CHECK(state_of("ret; ret;") == "k empty");
}

TEST_CASE("prints: straight-line code that calls nothing but printf and assert, to its end") {
  const std::string print =
      "st.local.u32 [%SP], %r1;\n{ call.uni (retval0),\nvprintf,\n(param0, param1);\n }\n";
  const std::string fail = "call __assertfail, (param0, param1);\n";
  CHECK(state_of(print + "ret;") == "k prints");
  CHECK(state_of(fail + "ret;") == "k prints");
  CHECK(state_of(print + fail) == "k prints");
  CHECK(state_of(print + "call.uni other, (param0); ret;") == "k unknown");
  CHECK(state_of("call.uni (retval0), other, (param0); ret;") == "k unknown");
  CHECK(state_of("@%p1 ret; " + print + "ret;") == "k unknown");
  CHECK(state_of(print + "st.shared.u32 [%r2], %r1; ret;") == "k unknown");
  CHECK(state_of(print + "ret; st.global.u32 [%rd1], 1;") == "k prints");  // behind the end
  CHECK(state_of(print + "st.global.u32 [%rd1], 1; ret;") == "k real");
  CHECK(state_of(print + "@%p1 bra $L; st.global.u32 [%rd1], 1; $L: ret;") == "k real");
  std::string many;
  for (int i = 0; i < 300; ++i) many += "mov.u32 %r1, 1;\n";
  CHECK(state_of(print + "@%p1 bra $L;\n" + many + "$L: ret;") ==
        "k unknown");  // it may only print everywhere
}

TEST_CASE("trap: straight-line code, calls included, to an unconditional trap") {
  CHECK(state_of("trap; ret;") == "k trap");
  CHECK(state_of("ld.param.u64 %rd1, [p];\n{ // callseq\n.param .b32 retval0;\nst.param.b64 [a], %rd2;\n"
                 "st.local.u32 [%SP], %r1;\ncall.uni (retval0), vprintf, (a);\n} trap; ret;") == "k trap");
  CHECK(state_of("@%p1 trap; ret;") == "k unknown");
  CHECK(state_of("mov.u32 %r1, 1; brkpt; ret;") == "k trap");
  CHECK(state_of("@!%p1 bra $L; trap; $L: ret;") == "k unknown");
}

TEST_CASE("real: a write that others see, anywhere") {
  CHECK(state_of("st.global.u32 [%rd1], 1; trap;") == "k real");
  CHECK(state_of("@%p1 bra $L; ret; $L: st.u32 [%rd1], 1; ret;") == "k real");
  CHECK(state_of("@%p1 red.global.add.u32 [%rd1], 1; ret;") == "k real");
  CHECK(state_of("ld.global.v2.u32 {%r1, %r2}, [%rd1]; st.global.v2.u32 [%rd1], {%r1, %r2}; ret;") ==
        "k real");
  CHECK(state_of("mov.b64 {%r1, %r2}, %rd1; trap;") == "k trap");
  CHECK(state_of("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16; ret;") == "k real");
}

TEST_CASE("unknown: neither") {
  CHECK(state_of("ld.global.u32 %r1, [%rd1]; ret;") == "k unknown");
  CHECK(state_of("st.shared.u32 [%r1], 1; atom.shared.add.u32 %r1, [%r2], 1; ret;") == "k unknown");
  CHECK(state_of("$L: bra $L;") == "k unknown");
  std::string many;
  for (int i = 0; i < 257; ++i) many += "ld.global.u32 %r1, [%rd1];";
  CHECK(state_of(many) == "k real");
}

TEST_CASE("kernels behind each kind of body are still found") {
  CHECK(kernels_of_ptx(".version 9.0\n.target sm_80\n"
                       ".entry a() { { trap; } ret; }\n"
                       ".entry b() { { st.global.v2.u32 [%rd1], {%r1, %r2}; } /* } */ }\n"
                       ".entry c() { { ret; } }\n"
                       ".entry d() { @%p1 bra $L; { mov.b64 {%r1, %r2}, %rd1; } $L: ret; }\n"
                       ".entry e() { ret; }") == "a trap, b real, c empty, d unknown, e empty");
}

TEST_CASE("the toolkit stands in the comment before the first directive") {
  const auto code =
      read_ptx(test::bytes_of_text("// Cuda compilation tools, release 12.8, V12.8.93\n.version 8.7\n"));
  CHECK(to_string(*code->toolkit) == "12.8");
  CHECK_FALSE(
      read_ptx(test::bytes_of_text(".version 8.7\n// Cuda compilation tools, release 12.8,\n"))->toolkit);
}

TEST_CASE("NULs end the text") {
  auto bytes = test::bytes_of_text(".version 9.0\n.target sm_80\n.entry k() { ret; }\n");
  bytes.insert(bytes.end(), 7, 0);
  CHECK(test::kernels_of(read_ptx(bytes)) == "k empty");
}

TEST_CASE("text behind a NUL is an error: a driver may read it or not") {
  const std::string head = ".version 9.0\n.target sm_80\n", nul(1, '\0');
  CHECK(kernels_of_ptx(head + ".entry a() { ret; }\n" + nul + nul + ".entry b() { ret; }") ==
        "PTX must hold nothing behind a NUL, found one at 0x2f and text at 0x31");
  CHECK(kernels_of_ptx(head + nul + ".entry a() { ret; }\n" + nul) ==
        "PTX must hold nothing behind a NUL, found one at 0x1b and text at 0x1c");
  CHECK(kernels_of_ptx(nul + head) == "PTX must hold nothing behind a NUL, found one at 0x0 and text at 0x1");
}

TEST_CASE("what the target does not have is damage outside of bodies") {
  const auto read = [](const std::string& target, const std::string& text) {
    return kernels_of_ptx(".version 9.0\n.target sm_" + target + "\n.address_size 64\n" + text +
                          "\n.entry k() { ret; }");
  };
  const std::string kernel = ".entry c() ";
  for (const std::string each : {".reqnctapercluster 2", ".explicitcluster", ".maxclusterrank 4",
                                 ".blocksareclusters .reqnctapercluster 2 .reqntid 32"}) {
    const std::string text = kernel + each + " { ret; }";
    CHECK_MESSAGE(read("89", text) == "PTX for sm_89 has `" + each.substr(0, each.find(' ')) +
                                          "`, which takes sm_90 or newer",
                  each);
    CHECK_MESSAGE(read("90", text) == "c empty, k empty", each);
    CHECK_MESSAGE(read("120f", text) == "c empty, k empty", each);
  }
  for (const std::string alone : {"", ".reqntid 32 ", ".reqnctapercluster 2 "})
    CHECK(read("90", kernel + alone + ".blocksareclusters { ret; }") ==
          "PTX has `.blocksareclusters` without `.reqntid` and `.reqnctapercluster`");
  CHECK(read("75", ".func f() .abi_preserve 8 { ret; }") ==
        "PTX for sm_75 has `.abi_preserve`, which takes sm_80 or newer");
  CHECK(read("80", ".func f() .abi_preserve 8 { ret; }") == "k empty");
  CHECK(read("75", ".func f() .abi_preserve_control 8 { ret; }") != "k empty");
  CHECK(read("75", ".global .b128 v;") == "k empty");
  CHECK(read("61", ".global .b128 v;") == "PTX for sm_61 has `.b128`, which takes sm_70 or newer");
  CHECK(read("61", ".shared .b128 v;") == "PTX for sm_61 has `.b128`, which takes sm_70 or newer");
  CHECK(read("52", ".global .f16x2 v;") == "PTX for sm_52 has `.f16x2`, which takes sm_53 or newer");
  const std::string unified = "PTX for sm_80 has `.unified`, which takes sm_90 or newer";
  CHECK(read("80", ".global .attribute(.unified(1, 2)) .u32 v;") == unified);
  CHECK(read("80", ".extern .global .attribute(.unified(1, 2)) .u32 v;") == unified);
  CHECK(read("80", ".global .attribute(.managed, .unified(1, 2)) .u32 v;") == unified);
  CHECK(read("80", ".func .attribute(.unified(1, 2)) f() { ret; }") == unified);
  CHECK(read("80", ".extern .func .attribute(.unified(1, 2)) f();") == unified);
  CHECK(read("90", ".global .attribute(.unified(1, 2)) .u32 v;") == "k empty");
  CHECK(read("90", ".func .attribute(.unified(1, 2)) f() { ret; }") == "k empty");
}

TEST_CASE("an attribute is one that a compiler knows there") {
  const auto read = [](const std::string& isa, const std::string& text) {
    return kernels_of_ptx(".version " + isa + "\n.target sm_90\n" + text + "\n.entry k() { ret; }");
  };
  CHECK(read("8.0", ".global .attribute(.managed) .u32 v;") == "k empty");
  CHECK(read("8.0", ".global .attribute(.foo) .u32 v;") ==
        "PTX has `.foo`, a directive that ArchGuard does not know");
  CHECK(read("8.0", ".extern .global .attribute(.managed, .foo) .u32 v;") ==
        "PTX has `.foo`, a directive that ArchGuard does not know");
  CHECK(read("8.0", ".func .attribute(.managed) f() { ret; }") ==
        "PTX has `.managed` in a place where no compiler takes it");
  CHECK(read("7.8", ".global .attribute(.unified(1, 2)) .u32 v;") ==
        "PTX ISA 7.8 has no `.unified`, which came with ISA 8.0");
  CHECK(kernels_of_ptx(".version 8.0\n.target sm_90\n.extern .global .attribute(.managed") ==
        "PTX ends inside a variable");
  CHECK(read("8.0", ".global .managed .u32 v;") ==
        "PTX has `.managed` in a place where no compiler takes it");
}

TEST_CASE("a kernel says its threads once, as the most or as the number") {
  const auto read = [](const std::string& text) {
    return kernels_of_ptx(".version 8.0\n.target sm_80\n.entry k() " + text + " { ret; }");
  };
  CHECK(read(".maxntid 32 .minnctapersm 2") == "k empty");
  CHECK(read(".reqntid 32, 1, 1") == "k empty");
  CHECK(read(".maxntid 32 .reqntid 32") == "PTX has `.maxntid` and `.reqntid` for one kernel");
  CHECK(read(".reqntid 32 .maxntid 32") == "PTX has `.maxntid` and `.reqntid` for one kernel");
}

TEST_CASE("what compilers refuse between the name of a kernel or function and its body") {
  const auto read = [](const std::string& text) {
    return kernels_of_ptx(".version 8.0\n.target sm_90\n.entry k() { ret; }\n" + text);
  };
  const auto elsewhere = [](const std::string& directive) {
    return "PTX has `" + directive + "` in a place where no compiler takes it";
  };
  CHECK(read(".entry k2() .maxntid 0 { ret; }") == "PTX has `.maxntid` of 0");
  CHECK(read(".entry k2() .maxntid 32, 0 { ret; }") == "PTX has `.maxntid` of 0");
  CHECK(read(".entry k2() .reqntid 0x0 { ret; }") == "PTX has `.reqntid` of 0");
  CHECK(read(".entry k2() .maxnreg 0 { ret; }") == "PTX has `.maxnreg` of 0");
  CHECK(read(".entry k2() .minnctapersm 0 { ret; }") == "PTX has `.minnctapersm` of 0");
  CHECK(read(".func f() .noreturn { ret; }") == "k empty");
  CHECK(read(".entry k2() .noreturn { ret; }") == elsewhere(".noreturn"));
  CHECK(read(".func f() .maxntid 32 { ret; }") == elsewhere(".maxntid"));
  for (const std::string text :
       {".reqnctapercluster 2 .maxclusterrank 4", ".maxclusterrank 4 .reqnctapercluster 2"})
    CHECK(read(".entry k2() " + text + " { ret; }") ==
          "PTX has `.reqnctapercluster` and `.maxclusterrank` for one kernel");
}

TEST_CASE("an alignment is a power of two, and only global variables are managed") {
  const auto read = [](const std::string& text) {
    return kernels_of_ptx(".version 8.0\n.target sm_90\n.entry k() { ret; }\n" + text);
  };
  CHECK(read(".global .align 3 .b8 v;") == "PTX has an `.align` of 3, no power of two");
  CHECK(read(".const .align 0 .b8 v;") == "PTX has an `.align` of 0, no power of two");
  CHECK(read(".shared .align 12 .b8 v;") == "PTX has an `.align` of 12, no power of two");
  for (const std::string align : {"1", "256", "0x10", "020", "0b100", "16U"})
    CHECK_MESSAGE(read(".global .align " + align + " .b8 v;") == "k empty", align);
  CHECK(read(".global .attribute(.managed) .u32 v;") == "k empty");
  CHECK(read(".const .attribute(.managed) .u32 v;") == "PTX has `.managed` for a `const` variable");
}

TEST_CASE("what a module defines has a name of its own") {
  const auto read = [](const std::string& text) {
    return kernels_of_ptx(".version 9.0\n.target sm_80\n" + text + "\n.entry k() { ret; }");
  };
  const std::string variable = ".global .u32 a;\n", function = ".func a() { ret; }\n";
  for (const std::string other : {".global .u32 a;", ".weak .global .u32 a;", ".global .u32 a = 1;",
                                  ".const .u32 a;", ".shared .u32 a;", ".global .u32 b, a;",
                                  ".func a() { ret; }", ".global .texref a;", ".entry a() { ret; }"}) {
    CHECK_MESSAGE(read(variable + other) == "PTX defines 'a' twice", other);
    CHECK_MESSAGE(read(function + other) == "PTX defines 'a' twice", other);
  }
  CHECK(read(".shared .u32 a;\n.shared .u32 a;") == "PTX defines 'a' twice");
  CHECK(read(".global .u32 k;") == "PTX defines 'k' twice");
  CHECK(read(variable + ".extern .global .u32 a;") == "k empty");
  CHECK(read(".extern .global .u32 a;\n.visible .global .u32 a;") == "k empty");
  CHECK(read(".extern .shared .b8 a[];\n.extern .shared .b8 a[];") == "k empty");
  CHECK(read(".func a();\n.func a();\n" + function) == "k empty");
  CHECK(read(variable + ".func f() { .reg .u32 a; ret; }\n.func g() { .shared .u32 a; ret; }") == "k empty");
}

TEST_CASE("a kernel's name stands once in a module, and there is an end to them") {
  const std::string head = ".version 9.0\n.target sm_80\n";
  CHECK(kernels_of_ptx(head + ".entry a();\n.entry b() { ret; }\n.entry a() { ret; }") == "a empty, b empty");
  CHECK(kernels_of_ptx(head + ".entry a() { ret; }\n.entry b() { ret; }\n.entry a() { trap; }") ==
        "PTX defines the kernel 'a' twice");
  std::string many = head;
  for (int i = 0; i <= 1 << 20; ++i) many += ".entry a" + std::to_string(i) + "{}";
  CHECK(kernels_of_ptx(many) == "PTX has more than 1048576 names");
}

TEST_CASE("a module tells its target, its ISA and its pointers' size") {
  const auto said = [](const std::string& text) {
    const auto code = read_ptx(test::bytes_of_text(text));
    if (!code) return code.error().text();
    return (code->ptx_isa ? to_string(*code->ptx_isa) : "?") + " " +
           (code->archs.empty() ? "?" : to_string(code->archs[0])) + (code->is32 ? " 32" : "");
  };
  CHECK(said(".version 9.0\n.target sm_90a, texmode_unified\n.address_size 64\n") == "9.0 90a");
  CHECK(said(".version 9.0 .target sm_100f, texmode_independent .address_size 32\n") == "9.0 100f 32");
  // Without a size, by the registers of addresses.
  const std::string head = ".version 7.0\n.target sm_75\n.visible .entry k() { .reg .u32 %r<3>; ";
  CHECK(said(head + "st.global.u32 [%r2+4], %r1; ret; }\n") == "7.0 75 32");
  CHECK(said(head + "ld.f32 %f1, [%r2]; ret; }\n") == "7.0 75 32");
  CHECK(said(head + ".reg .b32 r1, r2; st.global.u32 [r2], r1; ret; }\n") == "7.0 75 32");
  CHECK(said(head + ".local .u32 %l; ld.u32 %r1, [%l]; ret; }\n") == "7.0 75");
  CHECK(said(head + "cvta.to.global.u32 %r1, %r2; ret; }\n") == "7.0 75 32");
  CHECK(said(head + "st.shared.u32 [%r2], %r1; ld.param.u32 %r1, [%r2]; ret; }\n") == "7.0 75");
  CHECK(said(head + ".reg .u64 %d<3>; st.global.u32 [%d1], %r1; ret; }\n") == "7.0 75");
  CHECK(said(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { st.u32 [%r1], %r2; }\n") ==
        "7.0 75");
  CHECK(said(".version 9.0\n.target sm_75\n.target sm_75, texmode_unified\n") == "9.0 75");
  CHECK(said(".version 9.0\n.target sm_75\n.target sm_100\n") == "9.0 100");
  CHECK(said(".version 9.0\n.target sm_90a, // x\n sm_80") == "9.0 80");
  CHECK(said(".version 9.0\n.target sm_80, sm_90a, debug, sm_90\n.section .debug_info { }") == "9.0 90");
  CHECK(said(".version 9.0\n.target compute_80\n") == "9.0 80");
  CHECK(said(".version 9.0\n.target compute_90a, texmode_independent\n") == "9.0 90a");
  CHECK(said(".version 7.0\n.target sm_90, sm_80\n") ==
        "PTX ISA 7.0 has no target sm_90, which came with ISA 7.8");
  CHECK(said(".version 9.0\n.target compute_75a") == "PTX ISA 9.0 has no target sm_75a");
  CHECK(said(".version 9.0\n.target sm_new") == "9.0 ?");
  CHECK(said(".version 9.0\n") == "9.0 ?");
}

TEST_CASE("an ISA that does not have the target yet is an error: no compiler takes it") {
  const auto said = [](const std::string& isa, const std::string& target) {
    return kernels_of_ptx(".version " + isa + "\n.target sm_" + target + "\n.entry k() { ret; }");
  };
  CHECK(said("7.0", "80") == "k empty");
  CHECK(said("6.5", "80") == "PTX ISA 6.5 has no target sm_80, which came with ISA 7.0");
  CHECK(said("7.8", "90a") == "PTX ISA 7.8 has no target sm_90a, which came with ISA 8.0");
  CHECK(said("8.6", "100a") == "k empty");
  CHECK(said("8.7", "100f") == "PTX ISA 8.7 has no target sm_100f, which came with ISA 8.8");
  CHECK(said("4.2", "53") == "k empty");
  CHECK(said("3.0", "35") == "PTX ISA 3.0 has no target sm_35, which came with ISA 3.1");
  CHECK(said("1.0", "13") == "k empty");  // older than the table
  CHECK(said("9.0", "200") == "PTX ISA 9.0 has no target sm_200");
  CHECK(said("99.0", "200") == "k empty");  // of an ISA beyond the table
}

TEST_CASE("PTX that ends too early, or is none, is an error") {
  CHECK(kernels_of_ptx("") == "PTX begins without `.version`");
  CHECK(kernels_of_ptx(".target sm_80") == "PTX begins without `.version`");
  CHECK(kernels_of_ptx(".version 9.0\n.entry k() { ret;") == "PTX ends inside the kernel 'k'");
  CHECK(kernels_of_ptx(".version 9.0\n.entry k() { trap;") == "PTX ends inside the kernel 'k'");
  CHECK(kernels_of_ptx(".version 9.0\n.entry k(") == "PTX ends inside the kernel 'k'");
  CHECK(kernels_of_ptx(".version 9.0\n.func f() {") == "PTX ends inside the function 'f'");
  CHECK(kernels_of_ptx(".version 9.0\n.section .debug_str {") == "PTX ends inside a block");
  CHECK(kernels_of_ptx(".version 9.0\n.global .u32 a") == "PTX ends inside a variable");
  CHECK(kernels_of_ptx(".version 9.0\n.extern .shared .b8 s[]") == "PTX ends inside a variable");
  CHECK(kernels_of_ptx(".version 9.0\n/* ") == "PTX ends inside a comment or string");
}

TEST_CASE("every cut of a module is an error, or ends between two kernels") {
  const std::string whole =
      ".version 9.0\n.entry a() { { st.global.v2.u32 [%r1], {%r2, %r3}; } }\n.entry b() { trap; }";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const auto code = read_ptx(test::bytes_of_text(whole.substr(0, size)));
    const std::string kernels = code ? test::kernels_of(code) : "";
    CHECK_MESSAGE((kernels == "" || kernels == "a real" || kernels == "a real, b trap"), size);
  }
}

TEST_CASE("a kernel of many statements is real, unless they run straight into a trap") {
  std::string many;
  for (int i = 0; i < 300; ++i) many += "ld.global.v2.u32 {%r1, %r2}, [%rd1];\n";
  CHECK(kernels_of_ptx(".version 9.0\n.target sm_80\n.entry a() { @%p1 bra $L; {" + many +
                       "} $L: trap; }\n.entry b() { ret; }\n.entry c() { bra $L;" + many + "{" + many +
                       "} }\n.entry d() { trap; }") == "a real, b empty, c real, d trap");
  CHECK(state_of(many) == "k real");
  CHECK(state_of(many + "trap;") == "k trap");
  CHECK(state_of(many + "brkpt;") == "k trap");
  CHECK(state_of("// trap\n" + many) == "k real");
  CHECK(state_of(many + "mov.u32 %trap, 1;") == "k real");
  CHECK(state_of(many + "@%p1 trap; ret;") == "k real");
  CHECK(state_of(many + "bra $L; trap;") == "k real");
  CHECK(state_of("ret;" + many) == "k empty");
  CHECK(state_of("exit;" + many + "trap;") == "k empty");
}

TEST_CASE("so is one of few statements and much text") {
  const std::string text = "// " + std::string(9000, 'x') + "\n";
  CHECK(state_of("mov.u32 %r1, 1;" + text) == "k real");
  CHECK(state_of("mov.u32 %r1, 1;" + text + "trap;") == "k trap");
  CHECK(state_of(text + "ret;") == "k empty");
  CHECK(state_of(text) == "k empty");
}

// The end of a body is looked for in runs of 64 bytes and of 16.
TEST_CASE("a body ends where it ends, at every distance") {
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string blanks(size, ' ');
    CHECK(state_of(blanks + "{" + blanks + "}" + blanks) == "k empty");
    CHECK(state_of(blanks + "/*}*/" + blanks + "trap;") == "k trap");
    CHECK(state_of("ret;" + blanks + ".pragma \"}\";" + blanks) == "k empty");
  }
}

TEST_CASE("of PTX a kernel has its text, from .entry to its brace") {
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n.visible ";
  const std::string kernel = ".entry k()\n{\n ret;\n}";
  const std::string text = head + kernel + "\n";
  const auto code = read_ptx({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  REQUIRE(code);
  REQUIRE(code->kernels.size() == 1);
  CHECK(code->kernels[0].own_size == kernel.size());
}

TEST_CASE("the size of an array is a single number") {
  const auto read = [](const std::string& text) {
    return kernels_of_ptx(".version 9.0\n.target sm_80\n.address_size 64\n" + text +
                          "\n.entry k() { ret; }\n");
  };
  for (const char* fine : {"4", "0x4", "4U", "WARP_SZ"})
    CHECK(read(".global .b8 v[" + std::string(fine) + "];") == "k empty");
  CHECK(read(".global .b8 v[2*2];") == "PTX has 'v' with a size at '2' that is no single number");
  CHECK(read(".global .b8 v[4][-1];") == "PTX has 'v' with a size at '-' that is no single number");
  CHECK(read(".entry l(.param .b8 p[(4)]) { ret; }") ==
        "PTX has 'p' with a size at '(' that is no single number");
}

TEST_CASE("numbers of the head have every base") {
  const auto read = [](const std::string& size) {
    return kernels_of_ptx(".version 9.0\n.target sm_80\n.address_size " + size +
                          "\n.file 0x2 \"a\"\n.entry k() { ret; }\n");
  };
  CHECK(read("0x40") == "k empty");
  CHECK(read("64U") == "k empty");
  CHECK(read("0x41") == "PTX must have an `.address_size` of 32 or 64, found '0x41'");
}

TEST_CASE("a vertical tab is no blank of PTX") {
  const auto read = [](const std::string& before, const std::string& body) {
    return kernels_of_ptx(".version 9.0\n.target sm_90\n" + before + ".entry k() {" + body + " ret; }");
  };
  CHECK(read("// \v\n", "/* \v */ .pragma \"\v\";") == "k empty");
  CHECK(read("\f\r", "\f") == "k empty");
  CHECK(read("\v", "").find("PTX has a vertical tab at 0x1b") == 0);
  CHECK(read("", "\v").find("PTX has a vertical tab at ") == 0);
}
