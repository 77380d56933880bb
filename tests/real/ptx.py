"""PTX that ptxas and nvJitLink of every release refuse is never covered, and what all of them take is never refused.

Each text is given to the ptxas and nvJitLink of the releases in RELEASES, and to ArchGuard for a device with a driver of the
newest. Where those compilers differ among themselves, ArchGuard may say what it likes but "covered".
"""
import ctypes
import glob
import os
import subprocess
import sys
import tempfile
import unittest

import common
from ptx_statements import STATEMENTS

RELEASES = ["11.8", "12.4", "12.9", "13.0", "13.5"]
KERNEL = ".entry k() { ret; }\n"
HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"


def module(version=".version 7.0", target=".target sm_80"):
    return version + "\n" + target + "\n" + KERNEL


HEADS = {
    "plain": module(),
    "tab": module(".version\t7.0"),
    "comment before the version": module(".version /*8.0*/ 7.0"),
    "line comment before the version": module(".version // 8.0\n7.0"),
    "version in the next line": module(".version\n7.0"),
    "comment behind the version": module(".version 7.0/**/"),
    "line comment behind the version": module(".version 7.0 // 8.0"),
    "no number": module(".version x"),
    "one number": module(".version 7"),
    "three numbers": module(".version 7.0.1"),
    "version and semicolon": module(".version 7.0;"),
    "a licence": module("/*" + "x" * 20000 + "*/\n.version 7.0"),
    "a licence of many lines": module("// xxx\n" * 3000 + ".version 7.0"),
    "blanks": module(" " * 20000 + ".version 7.0"),
    "escape in a comment": module("// \x1b[1m\n.version 7.0"),
    "a line marker": module("# 1 \"k.cu\"\n.version 7.0"),
    "a line marker below a comment": module("/* */ #line 1 \"k.cu\"\n.version 7.0"),
    "a define": module("#define X\n.version 7.0"),
    "a pragma first": module(".pragma \"nounroll\";\n.version 7.0"),
    "comment before the target": module(target=".target /* */ // \nsm_80"),
    "debug without sections": module(target=".target sm_80, debug"),
    "debug with a section": module(target=".target sm_80, debug") + ".section .debug_info { .b8 1 }\n",
    "an unknown option": module(target=".target sm_80, foo"),
    "texmode": module(target=".target sm_80, texmode_independent"),
    "an option first": module(target=".target texmode_independent, sm_80"),
    "two texmodes": module(target=".target sm_80, texmode_independent, texmode_unified"),
    "two texmodes in two statements": module(target=".target sm_80, texmode_unified\n.target sm_80, texmode_independent"),
    "a texmode twice": module(target=".target sm_80, texmode_unified, texmode_unified"),
    "a sampler": module(target=".target sm_80, texmode_independent") + ".global .samplerref s;",
    "a sampler's parameter": module(target=".target sm_80, texmode_independent") + ".entry l(.param .samplerref s) { ret; }",
    "an older target behind": module(target=".target sm_80, sm_75"),
    "an older target before": module(target=".target sm_75, sm_80"),
    "a newer target behind": module(".version 8.0", ".target sm_80, sm_90"),
    "a specific target behind": module(".version 8.0", ".target sm_80, sm_90a"),
    "a target of a later ISA before": module(target=".target sm_90, sm_80"),
    "two statements of targets": module(target=".target sm_75\n.target sm_80"),
    "a virtual target": module(target=".target compute_80"),
    "a virtual target and a real one": module(target=".target compute_75, sm_80"),
    "a virtual target too new": module(target=".target compute_90"),
    "a virtual target that is none": module(target=".target compute_80a"),
    "map_f64_to_f32": module(target=".target sm_80, map_f64_to_f32"),
    "target and semicolon": module(target=".target sm_80;"),
    "a target too new": module(target=".target sm_90"),
    "a target that is none": module(target=".target sm_81"),
    "no target": ".version 7.0\n" + KERNEL,
    "the target twice": module(target=".target sm_80\n.target sm_80"),
    "the target late": module() + ".target sm_80\n",
    "the target behind a pragma": module(".version 7.0\n.pragma \"nounroll\";"),
    "a line marker in the head": module(".version 7.0\n# 1 \"k.cu\""),
    "the address size twice": HEAD + ".address_size 64\n" + KERNEL,
    "the address size late": module() + ".address_size 64\n",
    "an address size that is none": module(target=".target sm_80\n.address_size 48"),
    "an address size in hexadecimal": module(target=".target sm_80\n.address_size 0x40"),
    "an unsigned address size": module(target=".target sm_80\n.address_size 64U"),
    "a target right behind the version": ".version 7.0.target sm_80\n" + KERNEL,
    "an address size right behind the target": ".version 7.0\n.target sm_80.address_size 64\n" + KERNEL,
    "a kernel right behind the target": ".version 7.0 .target sm_80" + KERNEL,
    "a target right behind a target": ".version 7.0.target sm_75.target sm_80" + KERNEL,
    "all in a line": ".version 7.0.target sm_80,debug.address_size 64 .visible.entry k(.param.u64 p).maxntid 1{ret;}",
    "a kernel right behind the address size": HEAD.strip() + KERNEL,
    "a number behind the target": module(target=".target sm_80.1"),
    "a directive behind half a version": ".version 7.target sm_80\n" + KERNEL,
    "a directive behind a version with a point": ".version 7.0..target sm_80\n" + KERNEL,
    "a target that ends in a point": module(target=".target sm_80."),
    "an underscore behind the version": ".version 7.0_.target sm_80\n" + KERNEL,
    "no blank before the version": ".version7.0\n.target sm_80\n" + KERNEL,
    "no blank before the target": ".version 7.0.targetsm_80\n" + KERNEL,
    "two modules": module() + module().replace("k(", "l("),
    "a byte order mark": "\ufeff" + module(),
}
BEHIND = {
    "a size by its values": ".const .b32 c[] = {" + "1," * 16383 + "1};",
    "too many constants by their values": ".const .b32 c[] = {" + "1," * 16384 + "1};",
    "too many constants by rows of values": ".const .b8 c[][0x9000] = {{1}, {2}};",
    "too many constants by vectors": ".const .v4 .b32 c[] = {" + "{1,2,3,4}," * 4096 + "{1,2,3,4}};",
    "a size of WARP_SZ": ".global .b8 c[WARP_SZ];",
    "a size by a product": ".global .b8 c[30*2];",
    "a size in parentheses": ".global .b8 c[(60)];",
    "a negative size": ".global .b8 c[-1];",
    "a size beyond 64 bits": ".global .b8 c[10000000000000000000000];",
    "a parameter's size by a product": ".entry l(.param .b8 p[4*3]) { ret; }",
    "constants in a body": ".entry l() { .const .b8 c[65536]; ret; }",
    "too many constants in a body": ".entry l() { .const .b8 c[70000]; ret; }",
    "constants in two bodies": ".entry l() { .const .b8 c[40000]; ret; }\n.entry m() { .const .b8 c[40000]; ret; }",
    "constants in a body and outside": ".const .b8 c[40000];\n.entry l() { .const .b8 d[40000]; ret; }",
    "the number of a file in hexadecimal": ".file 0x2 \"a\"",
    "an unused function of another file": ".extern .func f;",
    "with parameters": ".extern .func (.param .b32 r) f (.param .b64 a);",
    "twice": ".extern .func f;\n.extern .func f;",
    "named in a comment": ".extern .func f; // f\n.func g() { /* f */ ret; }",
    "a used function of another file": ".extern .func f;\n.entry l() { call f; ret; }",
    "its address": ".extern .func f();\n.entry l() { .reg .b64 %r; mov.u64 %r, f; ret; }",
    "a register called so": ".extern .func f();\n.entry l() { .reg .b32 a, f; mov.b32 f, 1; add.u32 a, f, f; ret; }",
    "a register of an inner block": ".extern .func f();\n.entry l() { { .reg .b32 f; mov.b32 f, 1; } ret; }",
    "a call behind an inner block": ".extern .func f();\n.entry l() { { .reg .b32 f; mov.b32 f, 1; } call f; ret; }",
    "a call before an inner block": ".extern .func f();\n.entry l() { call f; { .reg .b32 f; mov.b32 f, 1; } ret; }",
    "a call behind a line marker": ".file 1 \"a\"\n.extern .func f();\n.entry l() {\n.loc 1 2 3\ncall f;\nret; }",
    "a block behind a line marker": ".file 1 \"a\"\n.extern .func f();\n.entry l() {\n.loc 1 2 3\n{ .reg .b32 f;\nmov.b32 f, 1; }\ncall f; ret; }",
    "a call behind a vector": ".extern .func f();\n.entry l() { .reg .b32 a<3>; .local .v2 .b32 v; ld.local.v2.b32 {a1, a2}, [v]; call f; ret; }",
    "a call in a predicated block": ".extern .func f();\n.entry l() { .reg .pred p; setp.eq.u32 p, 1, 1; @!p call f; ret; }",
    "a variable of a body called so": ".extern .func f();\n.entry l() { .reg .b64 r; .local .b32 f; mov.u64 r, f; ret; }",
    "a parameter called so": ".extern .func f();\n.entry l(.param .u64 f) { .reg .b64 r; mov.u64 r, f; ld.param.u64 r, [f]; ret; }",
    "a parameter called so, and a call elsewhere": ".extern .func f();\n.func g(.param .u64 f) { ret; }\n.entry l() { call f; ret; }",
    "a result called so": ".extern .func f();\n.func (.reg .b32 f) g() { mov.b32 f, 1; ret; }",
    "several registers called so": ".extern .func f();\n.entry l() { .reg .b32 f<2>; mov.b32 f0, f1; call f; ret; }",
    "a target of calls": ".extern .func f();\n.entry l() { t: .calltargets f; ret; }",
    "in debug information": ".extern .func f();\n.entry l() { ret; }\n.section .debug_info { .b64 f }",
    "a label called so": ".extern .func f();\n.entry l() { .reg .pred p; f: setp.eq.u32 p, 1, 1; @p bra f; ret; }",
    "a label called so, and to come": ".extern .func f();\n.entry l() { .reg .pred p; setp.eq.u32 p, 1, 1; @p bra f; f: ret; }",
    "the first register of several, called by another": ".extern .func f();\n.entry l() { .reg .b32 f, g; mov.b32 f, 1; ret; }\n.entry m() { call f; ret; }",
    "a shared variable called so": ".extern .func f();\n.entry l() { .reg .b32 r; .shared .b32 f; ld.shared.b32 r, [f]; mov.b32 r, f; ret; }",
    "its address in a table": ".extern .func f();\n.global .u64 t[1] = { f };",
    "defined as well": ".extern .func f();\n.visible .func f() { ret; }",
    "declared, never defined": ".func f();",
    "declared visible": ".visible .func f();",
    "a kernel that is declared": ".entry e();",
    "a kernel of another file": ".extern .entry e();",
    "a variable of another file": ".extern .global .b32 v;",
    "a variable of this file": ".extern .global .b32 v;\n.visible .global .b32 v;",
    "a texture of another file": ".extern .global .texref t;",
    "shared memory": ".extern .shared .b8 s[];",
    "printf": ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);",
    "text": "garbage",
    "a semicolon": ";",
    "a brace": "}",
    "a block": "{ }",
    "an unknown directive": ".foo 1;",
    "an unknown directive with a block": ".foo { }",
    "an unknown directive behind .visible": ".visible .foo .b32 v;",
    "an unknown type": ".global .foo .b32 v;",
    "an unknown directive of a kernel": ".entry l() .foo 1 { ret; }",
    "an unknown directive of a function": ".func f() .foo { ret; }",
    "a directive of bodies": ".loc 1 1 1",
    "a directive of functions": ".language 1;",
    "a register": ".reg .b32 %r;",
    "local memory": ".local .b32 v;",
    "a parameter": ".param .b32 v;",
    "a texture of old": ".tex .u32 t;",
    "a texture without a space": ".texref t;",
    "a texture": ".global .texref t;",
    "shared": ".shared .b32 v;",
    "common": ".common .global .b32 v;",
    "a common function": ".common .func f() { ret; }",
    "managed": ".global .attribute(.managed) .b32 v;",
    "an attribute first": ".attribute(.managed) .global .b32 v;",
    "the alignment first": ".align 8 .global .b32 v;",
    "the type first": ".b32 .global v;",
    "a type of a later ISA": ".global .b128 v;",
    "two linkages": ".visible .weak .global .b32 v;",
    "a linked alias": ".visible .alias a, k;",
    "limits": ".entry l() .maxntid 64, 1, 1 .minnctapersm 1 { ret; }",
    "a pragma of a kernel": ".entry l() .pragma \"nounroll\"; { ret; }",
    "many parameters": ".entry l(.param .align 4 .b8 a[4352]) { ret; }",
    "too many parameters": ".entry l(.param .align 4 .b8 a[4356]) { ret; }",
    "parameters, aligned": ".entry l(.param .b8 a, .param .align 8 .b8 b[4344]) { ret; }",
    "too many parameters, aligned": ".entry l(.param .b8 a, .param .align 16 .b8 b[4337]) { ret; }",
    "many parameters and a pointer": ".entry l(.param .b8 a[4344], .param .u64 .ptr .global .align 4096 b) { ret; }",
    "parameters of several dimensions": ".entry l(.param .b32 a[1000][2]) { ret; }",
    "noreturn": ".func f() .noreturn { ret; }",
    "a directive of a later ISA": ".entry l() .explicitcluster { ret; }",
    "an unknown pragma": ".pragma \"blah\";",
    "an empty pragma": ".pragma \"\";",
    "a pragma with a blank": ".pragma \"nounroll \";",
    "a pragma of bodies": ".pragma \"used_bytes_mask 0xf\";",
    "pragmas": ".pragma \"nounroll\", /* c */ \"abi_param_reg 4\";",
    "a pragma without a value": ".pragma \"abi_param_reg\";",
    "pragmas without a comma": ".pragma \"nounroll\" \"nounroll\";",
    "a pragma without a string": ".pragma nounroll;",
    "a pragma without a semicolon": ".entry l() .pragma \"nounroll\" { ret; }",
    "an unknown pragma of a kernel": ".entry l() .pragma \"blah\"; { ret; }",
    "two pragmas of a kernel": ".entry l() .pragma \"a\", \"b\"; .pragma \"c\"; .maxntid 32 { ret; }",
    "a pragma of bodies of a kernel": ".entry l() .pragma \"frequency 2\"; { ret; }",
    "a pragma of a function": ".func f() .pragma \"nounroll\"; { ret; }",
    "a pragma in a body": ".entry l() { .pragma \"blah\"; ret; }",
    "an unsized array": ".global .b8 s[];",
    "an unsized array of shared memory": ".shared .b8 s[];",
    "an array of nothing": ".global .b8 s[0x0];",
    "an array of nothing with a value": ".global .b8 s[0] = {1};",
    "an unsized array with a value": ".const .b8 s[] = {1, 2};",
    "an unsized array with nothing": ".global .b8 s[] = {};",
    "an unsized array of arrays": ".global .b8 s[][2] = {{1, 2}};",
    "an unsized array behind another variable": ".global .b8 a, s[];",
    "an unsized texture": ".global .texref s[];",
    "textures": ".global .texref s[2];",
    "shared memory, aligned first": ".extern .align 16 .shared .b8 s[];",
    "two arrays of shared memory": ".extern .shared .b8 s[], t[];",
    "two variables of another file": ".extern .global .u32 v, w;\n.visible .global .u32 v;",
    "a bank": ".const[2] .b8 c[4];",
    "the first bank": ".const[0] .b8 c[4];",
    "a bank of another file": ".extern .const[1] .b8 c[];",
    "a bank of no constants": ".global[1] .b8 c;",
    "a sampler in unified mode": ".global .samplerref s;",
    "a sampler of another file in unified mode": ".extern .global .samplerref s;",
    "a sampler's parameter in unified mode": ".entry l(.param .samplerref s) { ret; }",
    "a parameter twice": ".entry l(.param .u64 a, .param .u64 a) { ret; }",
    "a function's parameter twice": ".func (.param .u64 a) f(.param .u64 a) { ret; }",
    "a parameter twice, declared": ".extern .func f(.param .u64 a, .param .u64 a);",
    "parameters called as others": ".entry l(.param .u64 l, .param .u64 k) { ret; }",
    "a parameter called as a register": ".entry l(.param .u64 %tid, .param .u64 _) { ret; }",
    "a parameter of a function called _": ".func f(.param .u64 _) { ret; }",
    "a parameter without a name": ".entry l(.param .u64) { ret; }",
    "a parameter with two names": ".entry l(.param .u64 a b) { ret; }",
    "a parameter called 9a": ".extern .func f(.param .u64 9a);",
    "an unsized parameter": ".entry l(.param .b8 a[]) { ret; }",
    "an unsized parameter of a function": ".func f(.param .b8 a[]) { ret; }",
    "the number of a file twice": ".file 1 \"k.cu\"\n.file 1 \"k.cu\"",
    "the number of a file twice, octal": ".file 1 \"k.cu\"\n.file 01 \"k.h\"",
    "a file without a limit": ".file 4294967297 \"k.cu\"",
    "a kernel that returns": ".entry (.param .b32 r) l(.param .u64 a) { ret; }",
    "sections": ".section .debug_str\n{\n$s: .b8 1\n}\n.section .nv_x { .b8 1 }",
    "files": ".file 1 \"k.cu\", 1, 2\n.file 2 \"k.h\"",
    "a file without a number": ".file \"k.cu\"",
    "DWARF of old": "@@DWARF .byte 1",
    "a line marker": "# 1 \"k.cu\" 1 3",
    "a line marker of #line": "#line 1 \"k.cu\"",
    "a line marker and text": "# 1 \"k.cu\" x",
    "a line marker without a file": "# 1",
    "a line marker and a comment": "# 1 \"k.cu\" // c",
    "cut in a word": ".vis",
    "cut in a name": ".visible .e",
    "cut in parentheses": ".func (",
    "cut in a string": ".pragma \"",
    "cut in a comment": "/* ",
    "the same kernel": KERNEL,
    "an escape": "\x1b",
}


NAMES = ("9k % %% %k %9 %_ _ __ _9 $ $9 $k WARP_SZ add entry a.b k. 1 0x1 a$b a%b sm_80 %tid %tidx %ntid %laneid %warpid %nwarpid "
         "%ctaid %nctaid %smid %nsmid %gridid %is_explicit_cluster %clusterid %nclusterid %cluster_ctaid %cluster_nctaid "
         "%cluster_ctarank %cluster_nctarank %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %clock %clock_hi "
         "%clock64 %pm0 %pm7 %pm8 %pm0_64 %pm7_64 %envreg0 %envreg31 %envreg32 %globaltimer %globaltimer_lo %globaltimer_hi "
         "%total_smem_size %dynamic_smem_size %aggr_smem_size %reserved_smem_offset_begin %reserved_smem_offset_end "
         "%reserved_smem_offset_cap %reserved_smem_offset_0 %reserved_smem_offset_1 %reserved_smem_offset_2 %current_graph_exec")


class NvJitLink:
    PTX = 2

    def __init__(self, release):
        found = glob.glob(os.path.join(common.options.cache, "nvjitlink-" + release, "**", "libnvJitLink.so.*"), recursive=True)
        if not found:
            raise unittest.SkipTest("no nvJitLink; run tests/support/fetch nvjitlink-" + release)
        library, suffix = ctypes.CDLL(found[0]), "_" + release.replace(".", "_")
        self.create, self.add, self.complete = [getattr(library, "__nvJitLink" + name + suffix)
                                                for name in ("Create", "AddData", "Complete")]
        self.add.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]

    def takes(self, text):
        """In a process of its own: some texts end it."""
        child = os.fork()
        if child == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            handle, option = ctypes.c_void_p(), ctypes.c_char_p(b"-arch=sm_80")
            taken = (self.create(ctypes.byref(handle), 1, (ctypes.c_char_p * 1)(option)) == 0 and
                     self.add(handle, self.PTX, text + b"\0", len(text) + 1, b"text") == 0 and self.complete(handle) == 0)
            os._exit(0 if taken else 1)
        return os.waitpid(child, 0)[1] == 0


class PtxTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.temporary.name, "text.ptx")
        cls.assemblers, cls.compilers = [], {}
        for release in RELEASES:
            found = glob.glob(os.path.join(common.options.cache, "ptxas-" + release, "nvidia", "*", "bin", "ptxas"))
            if not found:
                raise unittest.SkipTest("no ptxas; run tests/support/fetch ptxas-" + release)
            cls.assemblers.append(found[0])
            cls.compilers["ptxas " + release] = lambda text, ptxas=found[0]: cls.assembles(ptxas)
            if release >= "12":
                cls.compilers["nvJitLink " + release] = NvJitLink(release).takes

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @staticmethod
    def code(*command):
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60).returncode

    @classmethod
    def assembles(cls, ptxas):
        return cls.code(ptxas, "-arch=sm_80", cls.path, "-o", cls.path + ".cubin") == 0

    def compare(self, name, text):
        """Whether every compiler takes it. Once one refuses it, the others have no say."""
        text = text.encode()
        with open(self.path, "wb") as file:
            file.write(text)
        refused_by = next((compiler for compiler, takes in self.compilers.items() if not takes(text)), None)
        exit_code = self.code(common.options.archguard, "verify", "--device", "8.0@" + RELEASES[-1], self.path)
        with self.subTest(name, refused_by=refused_by):
            self.assertIn(exit_code, (0, 1, 2))
            if refused_by is None:
                self.assertEqual(exit_code, 0)
            else:
                self.assertNotEqual(exit_code, 0)
        return refused_by is None

    def compare_all(self, texts, taken_least, refused_least):
        taken = [self.compare(name, text) for name, text in texts]
        self.assertGreater(sum(taken), taken_least)
        self.assertGreater(len(taken) - sum(taken), refused_least)

    def test_heads(self):
        self.compare_all(HEADS.items(), 10, 15)

    def test_statements(self):
        self.compare_all([(name, HEAD + KERNEL + text + "\n") for name, text in BEHIND.items()], 20, 25)

    def test_declarations(self):
        self.compare_all([(text, HEAD + KERNEL + text + "\n") for text in STATEMENTS], 60, 120)

    def test_names(self):
        names = [(name, HEAD + KERNEL + ".func %s() { ret; }\n" % name) for name in NAMES.split()]
        names += [("variable " + name, HEAD + KERNEL + ".global .b32 %s;\n" % name) for name in NAMES.split()[:24]]
        self.compare_all(names, 20, 50)

    def test_cubins_tell_how_many_parameters_they_take(self):
        for ptxas, release in zip(self.assemblers, RELEASES):
            if release not in ("12.4", "12.9"):
                continue
            for arch in ("sm_80", "sm_90"):
                for size, expected in ((4352, 0), (4356, 2)):
                    with open(self.path, "w", encoding="ascii") as file:
                        file.write(".version 8.1\n.target %s\n.address_size 64\n" % arch)
                        file.write(".entry k(.param .align 4 .b8 a[%d]) { ret; }\n" % size)
                    self.assertEqual(self.code(ptxas, "-arch=" + arch, self.path, "-o", self.path + ".cubin"), 0)
                    for driver, exit_code in (("12.0", expected), ("12.1", 0)):
                        device = "%s.%s@%s" % (arch[3], arch[4], driver)
                        self.assertEqual(self.code(common.options.archguard, "verify", "--device", device, self.path + ".cubin"),
                                         exit_code, (release, arch, size, driver))


if __name__ == "__main__":
    sys.exit(common.main())
