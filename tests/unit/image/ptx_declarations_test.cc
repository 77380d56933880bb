// How names are declared and defined at module scope, as ptxas 11.7 to 13.5 take it (real.ptx).
#include <doctest/doctest.h>

#include "reading.h"
#include "support/builders/byte_writer.h"

using namespace archguard;

namespace {

std::string read(const std::string& text, const std::string& target = "sm_80",
                 const std::string& isa = "8.3") {
  return test::kernels_of(read_ptx(test::bytes_of_text(".version " + isa + "\n.target " + target + "\n" +
                                                       text + "\n.entry k() { ret; }\n")));
}

bool is_refused(const std::string& text, const std::string& isa = "8.3") {
  return read(text, "sm_90", isa).substr(0, 3) == "PTX";
}

void check_taken(std::initializer_list<const char*> texts) {
  for (const char* text : texts) CHECK_MESSAGE(!is_refused(text), text);
}

void check_refused(std::initializer_list<const char*> texts) {
  for (const char* text : texts) CHECK_MESSAGE(is_refused(text), text);
}

}  // namespace

TEST_CASE("a declaration of a function needs no semicolon") {
  check_taken({".extern .func f()\n.visible .func g() { ret; }",
               ".extern .func f .extern .func g .global .u32 x;", ".func f() .func f();\n.func f() { ret; }",
               ".extern .func f()\n.file 1 \"a\""});
  check_refused({".extern .entry e()\n.func g() { ret; }",
                 ".extern .func f() .maxnreg 16\n.func g() { ret; }", ".extern .func f();;"});
}

TEST_CASE("declarations of one name agree") {
  const std::string f = "PTX has two declarations of 'f' that do not agree: ";
  CHECK(read(".extern .func f();\n.visible .func f() { ret; }") == f + "`.extern` and `.visible`");
  CHECK(read(".func f();\n.weak .func f() { ret; }") == f + "`` and `.weak`");
  CHECK(read(".func f();\n.entry f() { ret; }") == f + "a kernel, a function or a variable");
  CHECK(read(".func f(.param .b32 a);\n.func f(.param .u32 a) { ret; }") ==
        f + "parameters, results or `.noreturn`");
  CHECK(read(".func f() { ret; }\n.func f();") == "PTX declares 'f' behind its definition");
  CHECK(read(".extern .func f() { ret; }") == "PTX has 'f' with `.extern` and a body");
  CHECK(read(".extern .global .u32 f;\n.visible .global .u64 f;") == f + "types or sizes");
  CHECK(read(".extern .global .u32 f;\n.global .u32 f;") ==
        f + "`.extern`, and a definition that is neither `.visible` nor `.weak`");
  CHECK(read(".global .u32 f;\n.extern .func f();") == f + "a kernel, a function or a variable");
  CHECK(read(".extern .func f();\n.extern .global .u32 f;") == f + "a variable and a function or kernel");
  check_refused({".func (.param .b32 r) f();\n.func f() { ret; }",
                 ".func (.param .b32 r) f();\n.func f(.param .b32 r) { ret; }",
                 ".func f(.param .b8 a[4]);\n.func f(.param .b8 a[8]) { ret; }",
                 ".func f(.param .b32 a[1]);\n.func f(.param .b32 a) { ret; }",
                 ".func f(.param .align 8 .b8 a[4]);\n.func f(.param .b8 a[4]) { ret; }",
                 ".func f(.reg .b32 a);\n.func f(.param .b32 a) { ret; }",
                 ".func f();\n.func f() .noreturn { ret; }", ".extern .entry f();\n.entry f() { ret; }",
                 ".entry f(.param .b32 a);\n.entry f(.param .b64 a) { ret; }",
                 ".extern .func f(.param .b32 a);\n.extern .func f(.param .b64 a);",
                 ".extern .global .u32 a[2][2];\n.visible .global .u32 a[4];",
                 ".extern .global .u32 a[4];\n.visible .global .u32 a[8];",
                 ".extern .global .u32 a[];\n.visible .global .u32 a;",
                 ".extern .shared .u32 a[];\n.extern .shared .u8 a[];",
                 ".extern .shared .u32 a[];\n.shared .u32 a[4];",
                 ".global .u32 a;\n.extern .global .u64 a;"});
  check_taken({".func f(.param .b32 a);\n.func f(.align 4 .param .b32 b) { ret; }",
               ".func f;\n.func f() { ret; }", ".visible .func f();\n.func f();\n.visible .func f() { ret; }",
               ".weak .func f();\n.func f() { ret; }",
               ".func f(.param .b8 a[0x10]);\n.func f(.param .b8 a[16]) { ret; }",
               ".extern .global .u32 a[];\n.visible .global .u32 a[8];",
               ".extern .global .u32 a;\n.weak .global .u32 a;", ".global .u32 a;\n.extern .global .u32 a;",
               ".extern .global .align 8 .u32 a;\n.common .global .u32 a;",
               ".extern .global .u32 a[][2];\n.visible .global .u32 a[2][2];"});
}

TEST_CASE("an alias is of a function that is known, and like it") {
  const std::string both = ".visible .func f() { ret; }\n.visible .func g();\n";
  CHECK(read(both + ".alias g, f;") == "k empty");
  CHECK(read(both + ".visible .func h();\n.alias g, f;\n.alias h, g;") == "k empty");
  CHECK(read(both + ".alias g, f;\n.alias g, f;") == "PTX has `.alias g, f`, whose first is defined before");
  CHECK(read(both + ".alias g, k;") ==
        "PTX has `.alias g, k`, where both must be functions that are declared before");
  CHECK(read(".weak .func f() { ret; }\n.func g();\n.alias g, f;") ==
        "PTX has `.alias g, f`, whose second is `.weak` or `.extern`");
  CHECK(read(".func f(.param .b32 a) { ret; }\n.func g();\n.alias g, f;") ==
        "PTX has `.alias g, f`, whose parameters or results differ");
  check_refused({".func f() { ret; }\n.alias g, f;", ".func g();\n.alias g, f;",
                 ".entry e() { ret; }\n.func g();\n.alias g, e;", ".global .u32 f;\n.func g();\n.alias g, f;",
                 ".func f() { ret; }\n.func g() { ret; }\n.alias g, f;", ".func f() { ret; }\n.alias f, f;",
                 ".func f() { ret; }\n.func g();\n.alias g f;"});
}

TEST_CASE("a parameter is what a kernel or function may have") {
  for (const std::string one :
       {".reg .u32 a", ".u32 a", ".global .u32 a", ".param a", ".param .align 3 .u32 a", ".param .u32 .u64 a",
        ".param .param .u32 a", ".u32 .param a", ".param .u64 .ptr .foo a", ".param .u64 .ptr .param a",
        ".param .u64 .global a", ".param .foo a", ".param .v2 .u32 a", ".param .f16x2 a", ".param .b24 a",
        ".param .b8 a[2][2]", ".param .u64 .ptr .ptr a", ".param .u64 .ptr .align 3 a"})
    CHECK_MESSAGE(is_refused(".entry l(" + one + ") { ret; }"), one);
  for (const std::string one :
       {".param .u32 a", ".param .align 256 .b8 a[4]", ".param .u64 .ptr a", ".param .u32 .ptr .global a",
        ".param .u64 .ptr .const .align 8 a", ".param .u64 .ptr .surfref a", ".param .texref a",
        ".param .b128 a", ".param .f16 a", ".align 8 .param .b32 a", ".param.b32 a", ".param .u32 .align 4 a",
        ".param .b32 a[WARP_SZ]"})
    CHECK_MESSAGE(!is_refused(".entry l(" + one + ") { ret; }"), one);
  for (const std::string one :
       {".u32 a", ".param .u64 .ptr a", ".param .align 256 .u32 a", ".param .texref a", ".param .v2 .u32 a",
        ".reg .b32 a[2]", ".reg .v4 .f64 a", ".reg .v2 .pred a", ".param .u32 .align 4 a",
        ".const .param .b32 a", ".param .b8 a[], .param .b8 b"})
    CHECK_MESSAGE(is_refused(".func f(" + one + ") { ret; }"), one);
  for (const std::string one : {".reg .u32 a", ".reg .pred a", ".reg .v4 .f32 a", ".reg .v2 .f64 a",
                                ".reg .f16x2 a", ".param .align 128 .b8 a[4]", ".param .b8 a[]"})
    CHECK_MESSAGE(!is_refused(".func f(" + one + ") { ret; }"), one);
  CHECK(is_refused(".func (.param .b8 a[]) f() { ret; }"));
  CHECK(is_refused(".entry l(.param .b128 a) { ret; }", "8.0"));
}

TEST_CASE("a directive of a kernel has the numbers that it takes") {
  for (const std::string head :
       {".maxntid", ".maxntid 1,", ".maxntid 1,2,3,4", ".maxntid x", ".maxntid -1", ".maxntid 1 2",
        ".maxntid (32)", ".maxntid 4294967296", ".maxnreg 1,2", ".minnctapersm", ".maxclusterrank",
        ".explicitcluster 1", ".pragma \"nounroll\"; 1.5", "garbage", ", ", ".maxntid \"a\" 32", "\"a\"",
        ".reqnctapercluster 1,2,3,4"})
    CHECK_MESSAGE(is_refused(".entry l() " + head + " { ret; }"), head);
  for (const std::string head : {".maxntid 1", ".maxntid 1, 2, 3 .minnctapersm 2", ".maxntid 0x20",
                                 ".explicitcluster .reqnctapercluster 2", ".maxnreg 16 .maxnreg 32"})
    CHECK_MESSAGE(!is_refused(".entry l() " + head + " { ret; }"), head);
  check_refused({".func f() () { ret; }", ".func () () f() { ret; }", ".func f f() { ret; }",
                 ".func f() .noreturn 1 { ret; }", ".func (.param .b32 r) f() .noreturn { ret; }",
                 ".entry l() .maxntid 32;", ".entry l() .maxntid 32;\n.entry l() { ret; }"});
}

TEST_CASE("a variable has one space, one type, and nothing else beside its name") {
  check_refused({".global .const .u32 a;",
                 ".global a;",
                 ".global .u32 .u64 a;",
                 ".global .u32 a b;",
                 ".global .u32 a,;",
                 ".global .u32 a{};",
                 ".global .u32 (a);",
                 ".global .u32 .v2 a;",
                 ".global .v4 .f64 a;",
                 ".global .v2 .b128 a;",
                 ".global .v2 .texref a;",
                 ".shared .texref a;",
                 ".const .surfref a;",
                 ".common .global .texref a;",
                 ".global .attribute() .u32 a;",
                 ".global .attribute .u32 a;",
                 ".global .attribute(foo) .u32 a;",
                 ".global .align x .u32 a;",
                 ".align 3 .global .u32 a;",
                 ".align 4 .u32 a;",
                 ".visible;",
                 ".weak zzz .global .u32 a;",
                 ".visible 12 .global .u32 a;",
                 ".extern ] .shared .b8 d[];",
                 ".visible { .global .u32 a; }",
                 ".weak (.param .b32 r) f() { ret; }",
                 ".global .u32 .align 4 a;",
                 ".global .u32 .attribute(.managed) a;",
                 ".align 4;",
                 ".global .u32 \"x\" a;",
                 "\"x\"",
                 ".func f() { ret; } \"x\"",
                 ".file 1",
                 ".file 1 \"a\", 1, 2, 3",
                 ".file 1, \"a\""});
  check_taken({".global .u32;", ".global.u32 a;", ".visible.entry e() { ret; }", ".global .v4 .f32 a;",
               ".global .align 4 .align 8 .u32 a;", ".align 8 .global .u32 a;", ".weak .global .texref a;",
               ".global .attribute(.managed, .managed) .u32 a;", ".file 1 \"a\", 1"});
}

TEST_CASE("values stand as their type does, and are as many") {
  for (const std::string value : {"a = {1}",
                                  "a[2] = {1,2,3}",
                                  "a[2] = 1",
                                  "a[2] = {{1},{2}}",
                                  "a[2][2] = {1,2}",
                                  "a[2][2] = {{1,2,3}}",
                                  "a[2] = {1,,2}",
                                  "a[2] = {1,2,}",
                                  "a =",
                                  "a[2] = {1,{2}}",
                                  "a = 1 2",
                                  "a[2] = {1}{2}",
                                  "a = 1.0",
                                  "a[2] = {1,1.0}",
                                  "a = nope",
                                  "a = b, b",
                                  "a = (4)(5)",
                                  "a = 5)",
                                  "a = 5-",
                                  "a = @",
                                  "a = 'a'",
                                  "b, a = b-4",
                                  "a = = 7",
                                  "a = 7 = 7",
                                  "a = 7===7",
                                  "a = 1!2",
                                  "a = 1**2",
                                  "a = 1& &2",
                                  "a = 1<>2",
                                  "a = 1?:3",
                                  "a = .local",
                                  "a = 7 .global",
                                  "a[2] = {0, .reg}",
                                  "a = (.s64 1)",
                                  "a = (.f32)1",
                                  "b, a = (b)",
                                  "b, a = (generic(b))",
                                  "a = k"})
    CHECK_MESSAGE(is_refused(".global .u32 " + value + ";"), value);
  for (const std::string value : {"a = 1",
                                  "a = -1",
                                  "a[2] = {1}",
                                  "a[2] = {}",
                                  "a[2][2] = {{1,2},{3,4}}",
                                  "a[2][2] = {{1}}",
                                  "a[2][2] = {}",
                                  "a[][2] = {{1,2},{3,4},{5,6}}",
                                  "a = (1<<3)|2",
                                  "a = 1?-2:3",
                                  "a = (.s64)5",
                                  "a = !7",
                                  "a = !!7",
                                  "a = -+7",
                                  "a = 1*-2",
                                  "a = 7==7",
                                  "a = 1!=2",
                                  "a = 1<=2",
                                  "a = 1||2",
                                  "a = 1&2",
                                  "a = 1+(.u64)2",
                                  "a = (4+WARP_SZ)",
                                  "b, a = b+(4*2)",
                                  "a = 4&&5",
                                  "a = --5",
                                  "a = a",
                                  "b, a = b+4+4",
                                  "b, a = b+-4",
                                  "a = WARP_SZ",
                                  "a = 0x1ffffffff",
                                  "a[2] = {1,2}, b = 3"})
    CHECK_MESSAGE(!is_refused(".global .u32 " + value + ";"), value);
  check_refused({".shared .u32 a = 1;", ".shared .u32 a[4] = {};", ".extern .global .u32 a = 1;",
                 ".global .f32 a = 1;", ".global .f32 a[2] = {1.0, 1};", ".global .f16 a = 1.0;",
                 ".global .u32 q;\n.global .b64 a = q;", ".global .u32 q;\n.global .u8 a = q;",
                 ".shared .u32 q;\n.global .u64 a = generic(q);", ".global .u64 a = f;\n.func f() { ret; }",
                 ".global .v2 .u32 a = {1};", ".global .v2 .u32 a[2] = {1, 2};", ".global .v2 .u32 a = 1;",
                 ".global .texref a = 1;", ".const a = 1;", ".global a[2] = {1, 2};",
                 ".global .v2 a = {1, 2};"});
  check_taken({".global .f32 a[2] = {1.0, -1.0};", ".global .f32 a = 1.5e-3;", ".global .f64 a = .5;",
               ".global .f32 a = 0F3f800000;", ".global .b32 a = 1.0;", ".global .v2 .u32 a[2] = {{1,2}};",
               ".global .u32 q;\n.global .u64 a[2] = {generic(q)+8, q};",
               ".global .u32 q;\n.global .u8 a[8] = {0xff(q), 0xff00(generic(q))};",
               ".func f();\n.global .u64 a = f;\n.func f() { ret; }",
               ".entry e() { ret; }\n.global .u64 a = e;", ".global .texref a = { width = 1 };"});
  std::string table = "{0";
  for (int i = 1; i < 5000; ++i) table += ", " + std::to_string(i);
  CHECK(read(".const .u16 a[5000] = " + table + "};") == "k empty");
  CHECK(read(".const .u16 a[4999] = " + table + "};") ==
        "PTX has 'a' with a value that has more numbers than it holds");
}

TEST_CASE("a number that no compiler takes, or that is not of its type, is refused") {
  for (const std::string value :
       {"1", "0", "0U", "020", "00U", "0x1F", "0X1U", "0b101", "0B1", "18446744073709551616",
        "36893488147419103232", "0x1FFFFFFFFFFFFFFFF", "07777777777777777777777",
        "00000000000000000000000001", "1.0<2.0", "1.0<2.0?1:2"})
    CHECK_MESSAGE(!is_refused(".global .u64 v = " + value + ";"), value);
  for (const std::string value : {"1k",
                                  "0x",
                                  "0xU",
                                  "0b",
                                  "0b12",
                                  "0U128",
                                  "08",
                                  "09U",
                                  "1u",
                                  "1UL",
                                  "1UU",
                                  "1_0",
                                  "1$",
                                  "0x1G",
                                  "100000000000000000000",
                                  "0x1FFFFFFFFFFFFFFFFF",
                                  "0777777777777777777777777",
                                  "1+1.5",
                                  "(1.5)",
                                  "!1.0",
                                  "(.s64)1.5"})
    CHECK_MESSAGE(is_refused(".global .u64 v = " + value + ";"), value);
  for (const std::string value :
       {"1e5", "1E5", "1e+5", "1.0e-5", ".5e-3", "5.", "01.5", "08e5", "1e39", "(1.0)", "-(1.0)", "1.0+1.0",
        "1.0*2.0/3.0", "--1.0", "0f3f800000", "(0F3F800000)", "0d3FF0000000000000", "-0D3FF0000000000000"})
    CHECK_MESSAGE(!is_refused(".global .f32 v = " + value + ";"), value);
  for (const std::string value :
       {"1.0f",   "1.0k",    "1.5U",    "1..5",        "1.5.5",      "1e",          "1e+",
        "1e +5",  "1e5e5",   "0f3F8",   "0f3F8000000", "0f3F80000g", "0d3FF",       "1e400",
        "1e-400", "1e-310",  "(1)",     "~1",          "!1.0",       "1+1",         "1+1.0",
        "1<2",    "1.0<2.0", "WARP_SZ", "1?1.0:2.0",   "1.0%2.0",    "-0f3F800000", "1.0+0f3F800000"})
    CHECK_MESSAGE(is_refused(".global .f32 v = " + value + ";"), value);
  for (const std::string value : {"1?2:3?4:5", "1?2?3:4:5", "1?(2?3:4):5", "(1)?(2):(3)", "5% 3", "5 % 3"})
    CHECK_MESSAGE(!is_refused(".global .u32 v = " + value + ";"), value);
  for (const std::string value :
       {"1:3", "1?3", "1?3:4:5", "(4 : 3)", "(4 ? 3 : 2) : 1", "(1?2):3", "?1:2", "1?:2", "1?2:"})
    CHECK_MESSAGE(is_refused(".global .u32 v = " + value + ";"), value);
  check_refused({".global .u32 v[2] = {1?2, 4:5};"});
  check_taken({".global .b32 v = 1.5+1.5;", ".global .b8 v = 0f3F800000;", ".global .f64 v = 0f3F800000;",
               ".global .u32 t;\n.global .u64 v = t+~1;", ".file 1 \"a\", 0x1, 2",
               ".const .f32 c[][2] = {{1.0}};"});
  check_refused({".global .b32 v = 1+1.5;", ".global .u32 t;\n.global .u64 v = t+1.5;",
                 ".global .u32 t;\n.global .u64 v = t+8~1;", ".file 1 \"a\", 1k, 2", ".file 1 \"a\", x, 2",
                 ".const .f32 c[2][] = {{1.0},{2.0}};", ".const .f32 c[][] = {{1.0}};"});
}

TEST_CASE("an attribute has parentheses and stands before a space, and a section has a name") {
  check_taken({".section .debug_x { .b8 1 }", ".section .debug_x\n{}",
               ".visible .attribute(.managed) .global .u32 w;"});
  check_taken({".section .debug_1x {}", ".section .x$y {}", ".section .foo { .b8 1 }\x1a"});
  check_refused({".section ._debug {}", ".section .x%y {}", ".section x { .b8 1 }", ".section [ { .b8 1 }",
                 ".section .1 { .b8 1 }", ".section .debug_x .b8 { .b8 1 }", ".section .debug_x, { .b8 1 }",
                 ".weak .attribute(.managed) w(.param .b64 p) { ret; }", ".func .attribute f() { ret; }",
                 ".extern .func .attribute f();", ".func (.param .b32 r) .attribute f() { ret; }"});
}

TEST_CASE("a vector is a parameter in memory as an array, and where a function is only declared") {
  check_taken({".extern .func f(.param .v2 .b64 a);", ".extern .func f(.param .v4 .b8 a[24]);",
               ".entry l(.param .align 8 .v4 .b8 p[24]) { ret; }", ".func f(.param .v2 .b32 a[2]) { ret; }",
               ".func (.param .v2 .b32 a[2]) f() { ret; }", ".extern .entry l(.param .v2 .b32 p);"});
  check_refused({".func f(.param .v2 .b64 a) { ret; }", ".entry l(.param .v4 .b8 p) { ret; }",
                 ".func (.param .v2 .b32 a) f() { ret; }", ".extern .func f(.param .v4 .b64 a);",
                 ".extern .func f(.param .v2 .pred a);", ".func f(.reg .v2 .b32 a[2]) { ret; }"});
}
