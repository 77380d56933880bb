"""Statements at module scope that ptx.py gives to ptxas and nvJitLink: declarations, parameters, values.

Left out is what these compilers differ in: an address with two numbers added, which 13.5 alone takes, and a predicate that
ptxas takes as a parameter and nvJitLink does not."""

DECLARATIONS = [
    ".extern .func f();\n.visible .func f() { ret; }", ".func f();\n.visible .func f() { ret; }",
    ".func f();\n.weak .func f() { ret; }", ".visible .func f();\n.func f() { ret; }", ".weak .func f();\n.func f() { ret; }",
    ".func f() { ret; }\n.func f();", ".func f();\n.entry f() { ret; }", ".extern .func f() { ret; }",
    ".func f(.param .b32 a);\n.func f(.param .u32 a) { ret; }", ".func f(.param .b32 a);\n.func f(.param .b32 b) { ret; }",
    ".func (.param .b32 r) f();\n.func f(.param .b32 r) { ret; }", ".func f(.reg .b32 a);\n.func f(.param .b32 a) { ret; }",
    ".func f(.param .b8 a[4]);\n.func f(.param .align 8 .b8 a[4]) { ret; }", ".func f;\n.func f() { ret; }",
    ".func f(.param .b8 a[0x10]);\n.func f(.param .b8 a[16]) { ret; }", ".func f();\n.func f() .noreturn { ret; }",
    ".entry e(.param .b32 a);\n.entry e(.param .b64 a) { ret; }", ".extern .entry e();\n.entry e() { ret; }",
    ".extern .func f(.param .b32 a);\n.extern .func f(.param .b64 a);", ".visible .func f();\n.func f();\n.visible .func f() { ret; }",
    ".extern .global .u32 a;\n.global .u32 a;", ".extern .global .u32 a;\n.weak .global .u32 a;",
    ".extern .global .u32 a;\n.visible .global .u64 a;", ".extern .global .u32 a;\n.visible .const .u32 a;",
    ".extern .global .u32 a[];\n.visible .global .u32 a[8];", ".extern .global .u32 a[4];\n.visible .global .u32 a[8];",
    ".extern .global .u32 a[];\n.visible .global .u32 a;", ".extern .shared .u32 a[];\n.extern .shared .u8 a[];",
    ".extern .shared .u32 a[];\n.shared .u32 a[4];", ".global .u32 a;\n.extern .global .u64 a;", ".global .u32 a;\n.extern .func a();",
    ".visible .func f() { ret; }\n.visible .func g();\n.alias g, f;", ".visible .func f() { ret; }\n.alias g, f;",
    ".visible .func g();\n.alias g, k;", ".visible .func f() { ret; }\n.visible .func g() { ret; }\n.alias g, f;",
    ".weak .func f() { ret; }\n.visible .func g();\n.alias g, f;", ".func f(.param .b32 a) { ret; }\n.func g();\n.alias g, f;",
    ".func f() { ret; }\n.extern .func g();\n.alias g, f;\n.func h() { call g; ret; }", ".func f() { ret; }\n.func g();\n.alias g f;",
    ".extern .func f()\n.extern .func g .global .u32 x;", ".func f() .func f()\n.func f();.func f() { ret; }", ".func f()\nf { ret; }",
    ".extern .func f() .noreturn\n.visible .func g() { ret; }", ".extern .func f()\n.section .debug_str { .b8 1 }", ".extern .func f();;",
    ".extern .func f() .file 1 \"a\"", ".extern .func f() .maxnreg 16\n.func g() { ret; }", ".extern .func f()\n.target sm_80",
    ".extern .entry e()\n.func g() { ret; }", ".extern .func f .attribute(.managed)\n.func g() { ret; }", ".extern .func f()\n@@DWARF x",
]
PARAMETERS = [
    ".reg .u32 a", ".u32 a", ".global .u32 a", ".param a", ".param .align 3 .u32 a", ".param .u32 .u64 a", ".param .param .u32 a",
    ".u32 .param a", ".param .u64 .ptr .foo a", ".param .u64 .ptr .param a", ".param .u64 .global a", ".param .foo a",
    ".param .v2 .u32 a", ".param .f16x2 a", ".param .b24 a", ".param .b8 a[2][2]", ".param .u64 .ptr .ptr a",
    ".param .align 256 .b8 a[4]", ".param .u64 .ptr a", ".param .u32 .ptr .global a", ".param .u64 .ptr .const .align 8 a",
    ".param .texref a", ".param .f16 a", ".align 8 .param .b32 a", ".param.b32 a", ".param .b32 a[WARP_SZ]", ".reg .b32 a[2]",
    ".reg .v4 .f64 a", ".reg .v4 .f32 a", ".reg .v2 .f64 a", ".reg .v2 .pred a", ".reg .f16x2 a", 
    ".param .align 128 .b8 a[4]", ".param .b8 a[]", ".param .b8 a[], .param .b8 b", ".const .param .b32 a",
]
HEADS = [
    ".maxntid", ".maxntid 1,", ".maxntid 1,2,3,4", ".maxntid x", ".maxntid -1", ".maxntid 1 2", ".maxntid (32)",
    ".maxntid 4294967296", ".maxnreg 1,2", ".minnctapersm", "garbage", ",", "\"a\"", ".maxntid 1", ".maxntid 1, 2, 3 .minnctapersm 2",
    ".maxntid 0x20", ".maxnreg 16 .maxnreg 32", ".pragma \"nounroll\"; 1.5", ".pragma \"nounroll\";",
]
VARIABLES = [
    ".global .const .u32 a;", ".global a;", ".global .u32 .u64 a;", ".global .u32 a b;", ".global .u32 a,;", ".global .u32 a{};",
    ".global .u32 (a);", ".global .u32 .v2 a;", ".global .v4 .f64 a;", ".global .v2 .f64 a;", ".global .v2 .texref a;",
    ".shared .texref a;", ".const .surfref a;", ".common .global .texref a;", ".global .attribute() .u32 a;",
    ".global .attribute .u32 a;", ".global .attribute(foo) .u32 a;", ".global .align x .u32 a;", ".align 3 .global .u32 a;",
    ".align 4 .u32 a;", ".visible;", ".align 4;", ".global .u32 \"x\" a;", "\"x\"", ".func f() { ret; } \"x\"", ".file 1",
    ".file 1 \"a\", 1, 2, 3", ".file 1, \"a\"", ".global .u32;", ".global.u32 a;", ".visible.entry e() { ret; }",
    ".global .align 4 .align 8 .u32 a;", ".align 8 .global .u32 a;", ".weak .global .texref a;", ".func f() () { ret; }",
    ".func () () f() { ret; }", ".func f f() { ret; }", ".func (.param .b32 r) f() .noreturn { ret; }", ".entry l() .maxntid 32;",
    ".shared .u32 a = 1;", ".shared .u32 a[4] = {};", ".extern .global .u32 a = 1;", ".global .f32 a = 1;",
    ".global .f32 a[2] = {1.0, 1};", ".global .f16 a = 1.0;", ".global .u32 q;\n.global .b64 a = q;",
    ".global .u32 q;\n.global .u8 a = q;", ".shared .u32 q;\n.global .u64 a = generic(q);", ".global .u64 a = f;\n.func f() { ret; }",
    ".global .v2 .u32 a = {1};", ".global .v2 .u32 a[2] = {1, 2};", ".global .v2 .u32 a = 1;", ".global .texref a = 1;",
    ".global .f32 a[2] = {1.0, -1.0};", ".global .f32 a = 1.5e-3;", ".global .f64 a = .5;", ".global .f32 a = 0F3f800000;",
    ".global .b32 a = 1.0;", ".global .v2 .u32 a[2] = {{1,2}};", ".global .u32 q;\n.global .u64 a[2] = {generic(q)+8, q};",
    ".func f();\n.global .u64 a = f;\n.func f() { ret; }", ".entry e() { ret; }\n.global .u64 a = e;",
    ".weak zzz .global .u32 a;", ".visible 12 .global .u32 a;", ".extern ] .shared .b8 d[];", ".visible { .global .u32 a; }",
    ".weak (.param .b32 r0) h() { ret; }", ".weak .align 4 .global .u32 a;", ".global .u32 .align 4 a;",
    ".global .u32 .attribute(.managed) a;", ".global .align 4 .attribute(.managed) .u32 a;",
    ".extern .func f;\n.func g(.param .b32 f) { .reg .b32 %r; ld.param.b32 %r, [f]; ret; }",
]
VALUES = [
    "a = {1}", "a[2] = {1,2,3}", "a[2] = 1", "a[2] = {{1},{2}}", "a[2][2] = {1,2}", "a[2][2] = {{1,2,3}}", "a[2] = {1,,2}",
    "a[2] = {1,2,}", "a =", "a[2] = {1,{2}}", "a = 1 2", "a[2] = {1}{2}", "a = 1.0", "a[2] = {1,1.0}", "a = nope", "a = (4)(5)",
    "a = 5)", "a = 5-", "a = @", "a = 'a'", "b, a = b-4", "a = 1", "a = -1", "a[2] = {1}", "a[2] = {}", "a[2][2] = {{1,2},{3,4}}",
    "a[2][2] = {{1}}", "a[2][2] = {}", "a[][2] = {{1,2},{3,4},{5,6}}", "a = (1<<3)|2", "a = 1?2:3", "a = (.s64)5", "a = 4&&5",
    "a = = 7", "a = 7 = 7", "a = 7===7", "a = 7==7", "a = 1!2", "a = 1!=2", "a = !7", "a = !!7", "a = -+7", "a = 1**2", "a = 1*-2", "a = 1& &2",
    "a = 1&2", "a = 1||2", "a = 1<>2", "a = 1<=2", "a = 1?:3", "a = 1?-2:3", "a = .local", "a = 7 .global", "a[2] = {0, .reg}", "a = (.s64 1)",
    "a = (.f32)1", "a = 1+(.u64)2", "a = (4+WARP_SZ)", "b, a = (b)", "b, a = (generic(b))",
    "a = --5", "a = WARP_SZ", "a = 0x1ffffffff", "a[2] = {1,2}, b = 3",
]
STATEMENTS = (DECLARATIONS + VARIABLES + [".entry l(%s) { ret; }" % each for each in PARAMETERS] +
              [".func f(%s) { ret; }" % each for each in PARAMETERS] + [".entry l() %s { ret; }" % each for each in HEADS] +
              [".global .u32 %s;" % each for each in VALUES])
