"""Each fat binary that a file registers must be there: NVIDIA's own libraries with one of them overwritten by zeros. And what
host code registers by name, as compilers and those libraries have it.
"""
import glob
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import zipfile

import common

LOST = "the file registers a fat binary here, and none can be read: device code was removed or overwritten"

# Device code for 8.0 needs the tables, that for 9.0 does not. No host code uses them, but with USE.
TABLES = """
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 890
__constant__ float plain_table[4] = {1, 2, 3, 4};
static __constant__ float internal_table[4] = {1, 2, 3, 4};
__device__ const float constant_table[4] = {1, 2, 3, 4};
__managed__ int managed_table[4];
namespace one { __device__ float named_table[4]; namespace { __constant__ float unnamed_table[4] = {1}; } }
template <class T> __constant__ T instance_table = 5;
#define READ(i) \\
  plain_table[i] + internal_table[i] + constant_table[i] + managed_table[i] + one::named_table[i] + one::unnamed_table[i] + \\
      instance_table<float>
#if defined(USE) && !defined(__CUDA_ARCH__)
int use(float* x) {
  managed_table[1] = 2;
  return cudaMemcpyToSymbol(plain_table, x, 16) + cudaMemcpyToSymbol(internal_table, x, 16) +
         cudaMemcpyFromSymbol(x, constant_table, 16) + cudaMemcpyToSymbol(one::named_table, x, 16) +
         cudaMemcpyToSymbol(one::unnamed_table, x, 16) + cudaMemcpyToSymbol(instance_table<float>, x, 4);
}
#endif
#else
#define READ(i) i
#endif
__global__ void k(float* x) { *x = READ(int(*x) & 3); }
int main() { k<<<1, 1>>>(nullptr); }
"""
# clang makes a table of distances of this switch, from which no address of a table can be read.
SWITCH = """
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 890
#define TABLE(i) __device__ const float table##i[4] = {1, 2, 3, i};
TABLE(0) TABLE(1) TABLE(2) TABLE(3) TABLE(4)
#define READ(i) table0[i] + table1[i] + table2[i] + table3[i] + table4[i]
#else
#define READ(i) i
#endif
__global__ void k(float* x) { *x = READ(int(*x) & 3); }
#ifndef __CUDA_ARCH__
static const void* symbol(int i) {
  switch (i) { case 0: return table0; case 1: return table1; case 2: return table2; case 3: return table3; default: return table4; }
}
int use(float* x, int i) { k<<<1, 1>>>(x); return cudaMemcpyFromSymbol(x, symbol(i), 16); }
#endif
"""
# A kernel that device code for 9.0 does not have.
FAST = """
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 900
KIND __global__ void fast(int* p) { *p = 1; }
#endif
__global__ void slow(int* p) { *p = 2; }
#ifndef __CUDA_ARCH__
__attribute__((visibility("default"))) void run(int* p) {
#ifdef LAUNCH
  fast<<<1, 1>>>(p);
#endif
  slow<<<1, 1>>>(p);
}
#else
void run(int*);
#endif
int main() { run(nullptr); }
"""
FOR_80, FOR_90 = (["-gencode", "arch=compute_%d,code=sm_%d" % (arch, arch)] for arch in (80, 90))


class HostNamesTest(unittest.TestCase):
    """nvcc registers what it sees for the last architecture of its list, and nothing else."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.source = os.path.join(self.folder, "tables.cu")
        with open(self.source, "w") as file:
            file.write(TABLES)

    def compile(self, nvcc, name, *options):
        path = os.path.join(self.folder, name)
        common.run([nvcc, "-std=c++17", "-allow-unsupported-compiler", "-Wno-deprecated-gpu-targets", self.source, "-o", path, *options])
        return path

    def verify(self, path, unregistered=0):
        """The verdict on 9.0, errors, and how many variables are missing and unnamed. `unregistered`: how many are missing on 8.0."""
        command = [common.options.archguard, "verify", path, "--device", "8.0@13.5", "--device", "9.0@13.5", "--format", "json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
        (file,) = json.loads(done.stdout)["files"]
        old, new = file["results"]
        self.assertEqual((old["verdict"], len(old["variables"]["missing"]), old["variables"]["unnamed"]),
                         ("not-covered" if unregistered else "covered", unregistered, []))
        return (new["verdict"], [error["code"] for error in new["errors"]], len(new["variables"]["missing"]),
                len(new["variables"]["unnamed"]))

    def check(self, nvcc, *names):
        """All kinds of programs, or these: each takes seconds."""
        # Of what the last image of the list has, host code registers it, and the runtime does not find it: 500, if it is used. It looks for a managed one itself.
        unnamed, missing, registered = ("covered", [], 0, 7), ("not-covered", [13], 7, 0), ("not-covered", [500], 7, 0)
        left_alone = ("not-covered", [500], 1, 6)
        fixed = ["-Xcompiler", "-fno-pie", "-Xlinker", "-no-pie"]
        for name, options in {"program": [], "optimized": ["-O3"], "debug": ["-g", "-lineinfo"], "fixed": fixed,
                              "fixed-optimized": ["-O3", *fixed], "large": ["-Xcompiler", "-mcmodel=large"],
                              "object.o": ["-O3", "-c"], "library.so": ["-O3", "-shared", "-Xcompiler", "-fPIC"]}.items():
            if names and name not in names:
                continue
            with self.subTest(nvcc=nvcc, kind=name):
                path = self.compile(nvcc, name, *options, *FOR_80, *FOR_90)
                # The C runtime's code points to the end of .data, where the managed one is then.
                self.assertEqual(self.verify(path), unnamed if name != "fixed" else ("not-covered", [13], 1, 6))
                # On 8.0 as well: nothing registers them. Those with a value may be tables of the host.
                # The end of .data, where the managed one stands in a fixed program, is in doubt.
                unregistered = 0 if name == "object.o" else 4 if name.startswith("fixed") else 5
                used = self.compile(nvcc, "used-" + name, "-DUSE", *options, *FOR_80, *FOR_90)
                self.assertEqual(self.verify(used, unregistered), missing)
                last = self.compile(nvcc, "last-" + name, *options, *FOR_90, *FOR_80)
                self.assertEqual(self.verify(last), registered if name == "object.o" else left_alone)
                if name == "optimized":
                    common.run(["strip", last])
                    self.assertEqual(self.verify(last), registered)
                if name in ("program", "fixed-optimized", "library.so"):
                    self.assertEqual(self.verify(self.compile(nvcc, "last-used-" + name, "-DUSE", *options, *FOR_90, *FOR_80)), registered)
                if name == "program":
                    common.run(["strip", path])
                    self.assertEqual(self.verify(path), missing)
                if name == "object.o":
                    archive = os.path.join(self.folder, "archive.a")
                    common.run(["ar", "rcs", archive, path])
                    self.assertEqual(self.verify(archive), unnamed)
                if name == "optimized":  # libcudart_static has a text "flags", and one that ends in "table"
                    named = ["-Dplain_table=flags", "-Dinternal_table=table"]
                    self.assertEqual(self.verify(self.compile(nvcc, "named", *named, *options, *FOR_80, *FOR_90)), unnamed)
                    self.assertEqual(self.verify(self.compile(nvcc, "used-named", "-DUSE", *named, *options, *FOR_80, *FOR_90), 5), missing)
                    self.assertEqual(self.verify(self.compile(nvcc, "last-named", *named, *options, *FOR_90, *FOR_80)), left_alone)
                    self.assertEqual(self.verify(self.compile(nvcc, "last-used-named", "-DUSE", *named, *options, *FOR_90, *FOR_80)), registered)
        with self.subTest(nvcc=nvcc, kind="by itself"):
            self.assertEqual(self.verify(self.compile(nvcc, "tables.fatbin", "-fatbin", *FOR_80, *FOR_90)), registered)

    def test_a_table_of_the_host_with_the_same_name(self):
        with open(self.source, "w") as file:
            file.write("#ifndef __CUDA_ARCH__\nstatic const float plain_table[4] = {1, 2, 3, 4};\n#elif __CUDA_ARCH__ < 890\n"
                       "__device__ const float plain_table[4] = {1, 2, 3, 4};\n#else\n#define plain_table x\n#endif\n"
                       "__global__ void k(float* x) { *x = plain_table[int(*x) & 3]; }\n"
                       "int main(int count, char**) { k<<<1, 1>>>(nullptr); float x[4] = {};\n#ifndef __CUDA_ARCH__\n"
                       "  return cudaMemcpy(x, plain_table + count, 4, cudaMemcpyHostToHost);\n#endif\n}\n")
        path = self.compile(common.nvcc(), "twin", *FOR_80, *FOR_90)
        self.verify(path)  # covered on 8.0

    def test_instances(self):
        """Of a variable's template, by the name of its copy: in a namespace, with a name or without, and static in a file."""
        for name, declared in (("ttt", "template <class T> __constant__ T ttt[4];"), ("q::ttt", "namespace q { template <class T> __device__ T ttt[4]; }"),
                               ("u::ttt", "namespace u { namespace { template <class T> __constant__ T ttt[4]; } }"),
                               ("ttt", "template <class T> static __constant__ T ttt[4];"),
                               # The namespace of the file, which the device's name alone has, counts for substitutions.
                               ("q::ttt", "namespace q { struct P { float f; __host__ __device__ operator float() const { return f; } }; template <class T> static __device__ T ttt[4]; }"),
                               ("u::ttt", "namespace u { struct P { float f; __host__ __device__ operator float() const { return f; } }; namespace { template <class T> __device__ T ttt[4]; } }")):
            argument = name[:3] + "P" if "struct P" in declared else "float"
            with open(self.source, "w") as file:
                file.write("#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900\n%s\n#define READ %s<%s>[1]\n#else\n#define READ 2\n#endif\n" % (declared, name, argument) +
                           "__global__ void k(float* p) { *p = READ; }\nint main() { k<<<1, 1>>>(nullptr);\n#ifndef __CUDA_ARCH__\n"
                           "float z = 0; return cudaMemcpyToSymbol(%s<%s>, &z, 4);\n#endif\n}\n" % (name, argument))
            for options in ([], ["-O3"]):
                with self.subTest(declared=declared, options=options):
                    self.assertEqual(errors_of(self.compile(common.nvcc(), "instances", *options, *FOR_90, *FOR_80)), [[13], [13]])

    def test_a_macro_that_names_what_failed(self):
        """The name and the copy in one place, and no registration; of separate compilation the copy is no local symbol."""
        with open(self.source, "w") as file:
            file.write("#include <cstdio>\n#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 900\n__constant__ float table[4];\n#endif\n"
                       "__global__ void k(float* x) {\n#if __CUDA_ARCH__ < 900\n  *x = table[int(*x) & 3];\n#endif\n}\n"
                       "#define COPY(to, from) if (cudaMemcpyToSymbol(to, from, 16)) fprintf(stderr, \"%s: not copied\\n\", #to)\n"
                       "int main() {\n#ifndef __CUDA_ARCH__\n  float x[4] = {}; COPY(table, x);\n#endif\n  k<<<1, 1>>>(nullptr); }\n")
        for options in ([], ["-O3"], ["-rdc=true"], ["-rdc=true", "-O3"]):
            with self.subTest(options=options):
                for name, order, error, unregistered in (("last", FOR_90 + FOR_80, 500, 0), ("first", FOR_80 + FOR_90, 13, 1)):
                    path = self.compile(common.nvcc(), name, *options, *order)
                    self.assertEqual(self.verify(path, unregistered), ("not-covered", [error], 1, 0))

    def check_kernels(self, nvcc):
        """A launch of a kernel that is not registered wants a stub that is not there: programs do not link, objects and some libraries do."""
        with open(self.source, "w") as file:
            file.write(FAST)
        missing = ("not-covered", [500], 0, 0)
        self.assertEqual(self.verify(self.compile(nvcc, "last", "-DKIND=", *FOR_90, *FOR_80)), missing)
        library = ["-shared", "-Xcompiler", "-fPIC"]
        seen = [("program", ["-DKIND="]), ("program", ["-DKIND=static"]), ("object.o", ["-DKIND=", "-c"]), ("library.so", ["-DKIND=static", *library])]
        if "--device-entity-has-hidden-visibility" in common.run([nvcc, "--help"]):
            seen.append(("visible.so", ["-DKIND=", *library, "--device-entity-has-hidden-visibility=false"]))
        for name, options in seen:
            with self.subTest(nvcc=nvcc, name=name, options=options):
                self.assertEqual(self.verify(self.compile(nvcc, name, *options, *FOR_80, *FOR_90)), ("covered", [], 0, 0))
                launched = "launched-" + name
                if name == "program":
                    with self.assertRaisesRegex(AssertionError, r"undefined reference to `fast\(int\*\)'"):
                        self.compile(nvcc, launched, "-DLAUNCH", *options, *FOR_80, *FOR_90)
                    continue
                launched = self.compile(nvcc, launched, "-DLAUNCH", *options, *FOR_80, *FOR_90)
                self.assertEqual(self.verify(launched), missing)
                if name != "object.o":
                    common.run(["strip", launched])
                    self.assertEqual(self.verify(launched), missing)

    def test_address_sanitizer(self):
        """Its list of all variables is no use of them."""
        asan = ["-Xcompiler", "-fsanitize=address"]
        for more in ([], ["-Xcompiler", "-static-libasan"]):
            with self.subTest(more=more):
                self.assertEqual(self.verify(self.compile(common.nvcc(), "program", *asan, *more, *FOR_80, *FOR_90)), ("covered", [], 0, 7))
        self.assertEqual(self.verify(self.compile(common.nvcc(), "used", "-DUSE", *asan, *FOR_80, *FOR_90), 5), ("not-covered", [13], 7, 0))

    def test_kernels(self):
        self.check_kernels(common.nvcc())

    def test_nvcc(self):
        self.check(common.nvcc(), "program", "optimized", "fixed", "large", "object.o", "library.so")

    def test_clang_as_host_compiler(self):
        with open(self.source, "w") as file:
            file.write(SWITCH)
        path = self.compile(common.nvcc(), "switch.so", "-ccbin", common.clang(), "-O2", "-shared", "-Xcompiler", "-fPIC", *FOR_80, *FOR_90)
        self.assertEqual(self.verify(path), ("not-covered", [13], 5, 0))
        with open(self.source, "w") as file:
            file.write(FAST)
        for launch, verdict in (("KEEP", ("covered", [], 0, 0)), ("LAUNCH", ("not-covered", [500], 0, 0))):
            path = self.compile(common.nvcc(), "static.so", "-D" + launch, "-DKIND=static", "-ccbin", common.clang(), "-shared", "-Xcompiler", "-fPIC",
                                *FOR_80, *FOR_90)
            self.assertEqual(self.verify(path), verdict)

    def test_nvcc_11_8(self):
        nvcc = os.path.join(common.options.cache, "cuda-11.8", "bin", "nvcc")
        if not os.path.exists(nvcc):
            raise unittest.SkipTest("no CUDA 11.8; run tests/support/fetch cuda-11.8")
        self.check(nvcc, "program", "fixed-optimized", "object.o")
        self.check_kernels(nvcc)


# What is static in a file of -rdc=true has its mark in its name, and what is not may be exported. 9.0 alone has these.
STATIC = """
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
KIND int table[4];
#define READ(i) SPACE table[i]
#else
#define READ(i) i
#endif
__global__ void k(float* x) { *x = READ(int(*x) & 3); }
#ifndef __CUDA_ARCH__
int use() { int x[4] = {}; return cudaMemcpyToSymbol(SPACE table, x, 16); }
#endif
int main() { k<<<1, 1>>>(nullptr); }
"""


class SeparateNamesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def check(self, nvcc, kind, space, *options):
        closed = ";" + " }" * kind.count("{")
        text = STATIC.replace("KIND int table[4];", kind + " int table[4]" + closed).replace("SPACE", space)
        source, path = (os.path.join(self.folder, name) for name in ("source.cu", "program"))
        with open(source, "w") as file:
            file.write(text)
        for order, errors in ((FOR_90 + FOR_80, [[13], [13]]), (FOR_80 + FOR_90, [[500], []])):
            with self.subTest(nvcc=nvcc, kind=kind, options=options, order=order):
                common.run([nvcc, "-w", "-allow-unsupported-compiler", "-rdc=true", source, "-o", path, *options, *order])
                self.assertEqual(errors_of(path), errors)

    def test_static(self):
        for kind, space in (("static __constant__", ""), ("namespace n { static __device__", "n::"), ("namespace n { namespace { __device__", "n::")):
            self.check(common.nvcc(), kind, space)

    def test_exported(self):
        """Code has the address of the host copy from the global offset table, which the loader fills by its name."""
        library = ["-shared", "-Xcompiler", "-fPIC"]
        old = os.path.join(common.options.cache, "cuda-11.8", "bin", "nvcc")
        if not os.path.exists(old):
            raise unittest.SkipTest("no CUDA 11.8; run tests/support/fetch cuda-11.8")
        self.check(old, "__constant__", "", *library)
        self.check(old, "__device__", "", "-Xcompiler", "-fPIC,-pie", "-Xlinker", "--no-relax")  # the loader adds the base
        self.check(common.nvcc(), "namespace n { __device__", "n::", *library)
        if "--device-entity-has-hidden-visibility" in common.run([common.nvcc(), "--help"]):
            for linker in ("-fuse-ld=bfd", "-fuse-ld=lld"):
                self.check(common.nvcc(), "namespace n { __device__", "n::", *library, "--device-entity-has-hidden-visibility=false", "-Xcompiler", linker)


# A template that device code for 8.0 does not have, and one whose instance device code for 8.0 alone launches.
TEMPLATES = """
template <class T> __global__ void slow(T* p) { *p = 2; }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
template <class T> __global__ void fast(T* p) { *p = 1; }
#endif
void run(float* p, int major) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  if (major >= 9) return fast<<<1, 1>>>(p);
#endif
  slow<<<1, 1>>>(p);
}
int main(int argc, char**) { run(nullptr, argc); }
"""
SEEN = """
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ float table[16] = {1, 2, 3};
#define READ(i) table[i]
#else
#define READ(i) i
#endif
__global__ void k(float* x) { *x += READ(int(*x) & 15); }
void run() { k<<<1, 1>>>(nullptr); }
"""
USES_TABLE = """
#ifndef __CUDA_ARCH__
int use(float* x) { return cudaMemcpyToSymbol(table, x, 16); }
#endif
"""
OLDER = """
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
typedef double Real;
__constant__ int table[32];
#else
typedef float Real;
#endif
template <class T> __global__ void fill(T* p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  *p = table[int(*p) & 31];
#endif
}
void run(Real* p) { fill<Real><<<1, 1>>>(p); }
int main() { run(nullptr); }
"""
CHILDREN = """
template <class T> __global__ void child(T* p) { *p = 1; }
__global__ void parent(float* p) {
#if __CUDA_ARCH__ < 900
  child<<<1, 1>>>((double*)p);
#endif
}
int main() { parent<<<1, 1>>>(nullptr); child<<<1, 1>>>((float*)nullptr); }
"""


# The instance for 8.0 has another type than the one that host code launches.
ALIASES = """
struct Half { short bits; };
struct Other { short bits; };
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
using Number = Other;
#else
using Number = Half;
#endif
template <class T> __global__ void fill(T* p) { p->bits = 1; }
void run(void* p) { fill<<<1, 1>>>((Number*)p); }
int main() { run(nullptr); }
"""
# Overloads, of which host code and that for 9.0 choose by other types: what host code launches is registered as the other one.
OVERLOADS = """
template <class T> struct Known { static constexpr bool yes = false; };
#if __CUDA_ARCH__ >= 900
template <> struct Known<float> { static constexpr bool yes = true; };
#endif
template <bool> struct If {};
template <> struct If<true> { using type = void; };
template <class T> __global__ typename If<Known<T>::yes>::type fill(T* p) { *p = 1; }
template <class T> __global__ typename If<!Known<T>::yes>::type fill(T* p) { *p = 2; }
int main() { fill<<<1, 1>>>((float*)nullptr); }
"""

# Kernels of one name in the unnamed namespaces of two files: one is launched and registered, the other one launched alone.
SAME_NAMES = """
namespace {
template <class T> __global__ void fill(T* p) { *p = N; }
template <class T> __global__ void older(T* p) { *p = N; }
}
void OWN(float* p) {
#if N == 1 || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 900
  fill<<<1, 1>>>(p);
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 900
  older<<<1, 1>>>(p);
#endif
}
"""

# Code that nothing runs: bytes of `mov %r13, %rcx` that look like jumps to each place behind the beginning of a launch.
LOOKS_LIKE_JUMPS = """
#ifndef __CUDA_ARCH__
asm(".pushsection .text\\n.type noise, @function\\nnoise:\\n.set i, 0\\n"
    ".rept 400\\n.byte 0x4c, 0x89, 0xe9\\n.long _Z4fillI4HalfEvPT_ + i - . - 4\\n.set i, i + 1\\n.endr\\n"
    ".size noise, . - noise\\n.popsection");
#endif
"""


def errors_of(path, *more):
    """The codes of errors on 8.0 and on 9.0, and on what else is named."""
    devices = [word for device in ("8.0@13.5", "9.0@13.5", *more) for word in ("--device", device)]
    command = [common.options.archguard, "verify", path, *devices, "--format", "json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
    return [[error["code"] for error in result["errors"]] for result in json.loads(done.stdout)["files"][0]["results"]]


class TemplatesTest(unittest.TestCase):
    """Host code has the launch of an instance that nvcc does not see for the last architecture of its list, and does not register it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def compile(self, nvcc, name, text, *options):
        source, path = (os.path.join(self.folder, each) for each in ("source.cu", name))
        with open(source, "w") as file:
            file.write(text)
        common.run([nvcc, "-w", "-std=c++17", "-allow-unsupported-compiler", source, "-o", path, *options])
        return path

    def check(self, nvcc, *kinds):
        for name, options in kinds:
            with self.subTest(nvcc=nvcc, name=name):
                unregistered = self.compile(nvcc, name, TEMPLATES, *options, *FOR_90, *FOR_80)
                self.assertEqual(errors_of(unregistered), [[98], [98]])
                self.assertEqual(errors_of(self.compile(nvcc, "last-" + name, TEMPLATES, *options, *FOR_80, *FOR_90)), [[500], []])
                if name == "optimized":
                    for option in ("-x", "-s"):  # local symbols, all
                        common.run(["strip", option, unregistered])
                        self.assertEqual(errors_of(unregistered), [[98], [98]])

    def test(self):
        self.check(common.nvcc(), ("program", []), ("optimized", ["-O3"]), ("library.so", ["-shared", "-Xcompiler", "-fPIC"]), ("object.o", ["-c"]))

    def test_clang_as_host_compiler(self):
        self.check(common.nvcc(), ("clang.so", ["-ccbin", common.clang(), "-shared", "-Xcompiler", "-fPIC"]))
        self.check(common.nvcc(), ("clang", ["-ccbin", common.clang(), "-O3", "-cudart=shared"]))
        # The host function of a lambda's instance has another name.
        lambdas = TEMPLATES.replace("return fast<<<1, 1>>>(p)", "return fast_one<<<1, 1>>>([=] __device__ { *p = 1; })").replace(
            "template <class T> __global__ void fast(T* p) { *p = 1; }", "template <class T> __global__ void fast_one(T f) { f(); }")
        for options in ([], ["-O3"]):
            path = self.compile(common.nvcc(), "lambda", lambdas, "-extended-lambda", "-ccbin", common.clang(), *options, *FOR_90, *FOR_80)
            self.assertEqual(errors_of(path), [[98], [98]])

    def test_nothing_else(self):
        """Then host code registers no kernel at all, and the code that registers shows it."""
        text = TEMPLATES.replace("  slow<<<1, 1>>>(p);\n", "")
        self.assertEqual(errors_of(self.compile(common.nvcc(), "alone", text, "-O3", *FOR_90, *FOR_80)), [[98], [98]])

    def check_aliases(self, nvcc, *kinds):
        for options in kinds:
            with self.subTest(nvcc=nvcc, options=options):
                aliased = self.compile(nvcc, "aliased", ALIASES, *options, *FOR_80, *FOR_90)
                self.assertEqual(errors_of(aliased), [[500], []])
                launched = self.compile(nvcc, "launched", TEMPLATES, *options, *FOR_90, *FOR_80)
                self.assertEqual(errors_of(launched), [[98], [98]])

    def test_an_instance_that_host_code_does_not_launch(self):
        shared, host = ["-O3", "-cudart=shared", "-Xcompiler"], ["-Xcompiler"]
        self.check_aliases(common.nvcc(), ["-O3"], [*shared, "-fno-plt"], [*shared, "-fcf-protection", "-Xlinker", "-z,now"],
                           [*host, "-fno-pie", "-Xlinker", "-no-pie"], ["-O3", "--default-stream", "per-thread"])
        launched = self.compile(common.nvcc(), "large", TEMPLATES, *shared, "-mcmodel=large", *FOR_90, *FOR_80)
        self.assertEqual(errors_of(launched), [[98], [98]])  # calls are by an address there, and do not tell

    def test_nvcc_11_8(self):
        nvcc = os.path.join(common.options.cache, "cuda-11.8", "bin", "nvcc")
        if not os.path.exists(nvcc):
            raise unittest.SkipTest("no CUDA 11.8; run tests/support/fetch cuda-11.8")
        self.check(nvcc, ("optimized", ["-O3"]))
        self.check_aliases(nvcc, [], ["-O3", "-cudart=shared"])
        self.assertEqual(errors_of(self.compile(nvcc, "noise", ALIASES + LOOKS_LIKE_JUMPS, "-O3", *FOR_80, *FOR_90)), [[500], []])
        self.assertEqual(errors_of(self.compile(nvcc, "overloads", OVERLOADS, "-O3", *FOR_80, *FOR_90)), [[500], []])

    def test_kernels_of_the_same_name_in_unnamed_namespaces(self):
        objects = [self.compile(common.nvcc(), "own%d.o" % n, SAME_NAMES.replace("OWN", "own%d" % n), "-c", "-O3", "-DN=%d" % n, *FOR_80, *FOR_90) for n in (1, 2)]
        path = self.compile(common.nvcc(), "same", "void own1(float*); void own2(float*); int main() { own1(nullptr); own2(nullptr); }", *objects)
        found = subprocess.run([common.options.archguard, "verify", path, "--device", "9.0@13.5", "--format", "json"], stdout=subprocess.PIPE, text=True, timeout=100)
        (result,) = json.loads(found.stdout)["files"][0]["results"]
        missing = [name for name in result["kernels"]["missing"]]
        self.assertEqual((sum("4fill" in name for name in missing), sum("5older" in name for name in missing), len(missing)), (1, 2, 3), result)

    def test_overloads(self):
        self.assertEqual(errors_of(self.compile(common.nvcc(), "overloads", OVERLOADS, "-O3", *FOR_80, *FOR_90)), [[500], []])

    def test_compiled_separately(self):
        separate = ["-rdc=true"]
        spaced = "namespace n { namespace { %s } }\n" % TEMPLATES[:TEMPLATES.index("void run")] + "using namespace n;\n" + TEMPLATES[TEMPLATES.index("void run"):]
        for text in (TEMPLATES, TEMPLATES.replace("__global__", "static __global__"), spaced):
            with self.subTest(text=text):
                self.assertEqual(errors_of(self.compile(common.nvcc(), "separate", text, *separate, *FOR_90, *FOR_80)), [[98], [98]])
                self.assertEqual(errors_of(self.compile(common.nvcc(), "separate", text, *separate, *FOR_80, *FOR_90)), [[500], []])
        # The driver links PTX again, and host code still does not register it.
        ptx = lambda arch: ["-gencode", "arch=compute_%d,code=compute_%d" % (arch, arch)]
        for order, errors in ((FOR_90 + FOR_80 + ptx(80), [[98], [98], [98]]), (FOR_80 + FOR_90 + ptx(90), [[500], [], []])):
            self.assertEqual(errors_of(self.compile(common.nvcc(), "again", TEMPLATES, *separate, *order), "10.0@13.5"), errors)
        # So it is where PTX alone tells what nvcc sees last, and where it does not; and what host code does not launch is not missed.
        for_100 = ["-gencode", "arch=compute_100,code=sm_100"]
        for order in (FOR_90 + for_100 + ptx(80), ptx(80) + FOR_90 + for_100):
            errors = [[98], [98], [98]] if order[-1] == ptx(80)[-1] else [[500], [], []]
            self.assertEqual(errors_of(self.compile(common.nvcc(), "virtual", TEMPLATES, *separate, *order), "10.0@13.5"), errors)
        for_older = ["-gencode", "arch=compute_75,code=[sm_75,compute_75]"]
        for options in ([], ["-shared", "-Xcompiler", "-fPIC"]):
            path = self.compile(common.nvcc(), "older", OLDER, *separate, *options, *for_older, *FOR_80, *ptx(80))
            self.assertEqual(errors_of(path), [[], []])
        # nvlink makes sm_86 of the object's PTX.
        made = self.compile(common.nvcc(), "made.o", TEMPLATES, "-dc", *ptx(80), *FOR_90)
        path = self.compile(common.nvcc(), "made", "", "-arch=sm_86", made)
        self.assertEqual(errors_of(path, "8.6@13.5"), [[500], [], [500]])
        # A library's variable that host code sees, and that device code of one architecture alone uses.
        path = self.compile(common.nvcc(), "seen", SEEN, *separate, "-shared", "-Xcompiler", "-fPIC", *FOR_80, *FOR_90)
        self.assertEqual(errors_of(path), [[], []])
        path = self.compile(common.nvcc(), "used", SEEN + USES_TABLE, *separate, "-shared", "-Xcompiler", "-fPIC", *FOR_80, *FOR_90)
        self.assertEqual(errors_of(path), [[500], []])
        children = self.compile(common.nvcc(), "children", CHILDREN, *separate, *FOR_80, *FOR_90)
        self.assertEqual(errors_of(children)[0], [])


class SharedStubsTest(unittest.TestCase):
    """A kernel of one name for 9.0a alone, and for 8.0: the host linker may keep one function that launches both."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def link(self, name, order, *options, kernel="template <class T> __global__ void fill(T* x)", called="fill<float>"):
        objects = []
        for arch in ("90a", "80"):
            source = os.path.join(self.folder, "for_%s.cu" % arch)
            with open(source, "w") as file:
                file.write("%s { *x = 1; }\n__global__ void own_%s(float* x) { *x = 2; }\n" % (kernel, arch) +
                           "void run_%s(float* x) { %s<<<1, 1>>>(x); own_%s<<<1, 1>>>(x); }\n" % (arch, called, arch))
            objects.append(source[:-3] + ".o")
            common.run([common.nvcc(), "-gencode=arch=compute_%s,code=sm_%s" % (arch, arch), "-Xcompiler", "-fPIC", *options, "-c", source, "-o", objects[-1]])
        path = os.path.join(self.folder, name)
        common.run([common.nvcc(), "-shared", *objects[::order], "-o", path])
        return path

    def verify(self, path):
        command = [common.options.archguard, "verify", path, "--device", "8.0@13.5", "--format", "json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
        (result,) = json.loads(done.stdout)["files"][0]["results"]
        return result["verdict"], [error["code"] for error in result["errors"]]

    def test(self):
        weak = "-static-global-template-stub=false"
        if "static-global-template-stub" not in common.run([common.nvcc(), "--help"]):
            weak = "-w"  # an nvcc that knows no other
        for visibility in ([], ["--device-entity-has-hidden-visibility=false"] if weak != "-w" else []):
            with self.subTest(visibility=visibility):
                first = self.link("first.so", 1, weak, *visibility)
                self.assertEqual(self.verify(first), ("not-covered", [209]))
                self.assertEqual(self.verify(self.link("last.so", -1, weak, *visibility)), ("covered", []))
                common.run(["strip", first])
                self.assertEqual(self.verify(first)[0], "unknown")  # another one may be local
        if weak != "-w":
            self.assertEqual(self.verify(self.link("two.so", 1)), ("covered", []))
        inline = self.link("inline.so", 1, kernel="inline __global__ void fill(float* x)", called="fill")
        self.assertEqual(self.verify(inline), ("not-covered", [209]))
        spaced = "namespace n { template <class T> __global__ void fill(T* x) { *x = 3; } } template <class T> __global__ void fill(T* x)"
        self.assertEqual(self.verify(self.link("spaced.so", 1, kernel=spaced, called="n::fill<float><<<1, 1>>>(x); fill<float>")), ("covered", []) if weak != "-w" else ("not-covered", [209]))
        static = self.link("static.so", 1, kernel="static __global__ void fill(float* x)", called="fill")
        self.assertEqual(self.verify(static), ("covered", []))


class RegistrationsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def verify(self, path):
        command = [common.options.archguard, "verify", path, "--device", "9.0", "--scope", "library", "--format", "json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        return done.returncode, json.loads(done.stdout)

    def zero_each(self, path, section, spare):
        """All but `spare` of the containers of this section are registered, and missed when they are zeros."""
        containers = [each for each in common.inspect(path) if each["section"] == section]
        self.assertEqual(self.verify(path)[0], 0)
        copy = os.path.join(self.folder, "copy.so")
        shutil.copyfile(path, copy)
        found = 0
        for container in containers:
            with open(copy, "r+b") as file:
                file.seek(container["offset"])
                whole = file.read(container["size"])
                file.seek(container["offset"])
                file.write(bytes(len(whole)))
            code, document = self.verify(copy)
            errors = [error["what"] for error in document["files"][0]["errors"]]
            if code == 2 and errors == [LOST]:
                found += 1
            with open(copy, "r+b") as file:
                file.seek(container["offset"])
                file.write(whole)
        self.assertGreater(found, 0)
        self.assertEqual(found, len(containers) - spare)

    def test_curand(self):
        found = sorted(glob.glob(os.path.join(common.options.toolkit, "lib64", "libcurand.so*")))
        if not found:
            raise unittest.SkipTest("no libcurand in the toolkit")
        self.zero_each(found[0], ".nv_fatbin", spare=1)

    def test_curand_for_windows(self):
        wheels = glob.glob(os.path.join(common.options.cache, "wheel-curand-13.0-windows", "*.whl"))
        if not wheels:
            raise unittest.SkipTest("no wheel; run tests/support/fetch wheel-curand-13.0-windows")
        with zipfile.ZipFile(wheels[0]) as wheel:
            (name,) = [each for each in wheel.namelist() if each.endswith(".dll")]
            path = wheel.extract(name, self.folder)
        self.zero_each(path, ".nv_fatb", spare=0)

    def test_linkers(self):
        source = os.path.join(self.folder, "one.cu")
        with open(source, "w") as file:
            file.write("__global__ void scale(float* x) { *x *= 2; }\nint main() { scale<<<1, 1>>>(nullptr); }\n")
        for name, flags in {"pie": [], "no-pie": ["-no-pie"], "lld": ["-fuse-ld=lld"], "gold": ["-fuse-ld=gold"],
                            "relr": ["-Wl,-z,pack-relative-relocs"]}.items():
            if name in ("lld", "gold") and shutil.which("ld." + name) is None:
                continue
            with self.subTest(name):
                path = os.path.join(self.folder, name)
                options = [option for flag in flags for option in ("-Xcompiler", flag.replace(",", "\\,"))]
                done = subprocess.run([common.nvcc(), "-arch=sm_90", source, "-o", path, *options], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, timeout=300)
                if done.returncode != 0 and name == "relr":
                    continue  # a linker before binutils 2.38
                self.assertEqual(done.returncode, 0, done.stdout)
                self.zero_each(path, ".nv_fatbin", spare=0)

    def test_in_another_section(self):
        """objcopy moves or removes the registrations of a library; the loader does not go by sections."""
        source = os.path.join(self.folder, "one.cu")
        with open(source, "w") as file:
            file.write("__global__ void scale(float* x) { *x *= 2; }\nvoid run() { scale<<<1, 1>>>(nullptr); }\n")
        for kind, options in {"whole": [], "separate": ["-rdc=true"]}.items():
            path = os.path.join(self.folder, kind + ".so")
            common.run([common.nvcc(), "-gencode=arch=compute_80,code=[sm_80,compute_80]", "-shared", "-cudart", "shared",
                        "-Xcompiler", "-fPIC", *options, source, "-o", path])
            moved, removed = path + ".moved", path + ".removed"
            common.run(["objcopy", "--rename-section", ".nvFatBinSegment=.data.x", path, moved])
            common.run(["objcopy", "-R", ".nvFatBinSegment", path, removed])
            with self.subTest(kind):
                results = [self.verify(each)[1]["files"][0]["results"][0] for each in (path, moved)]
                self.assertEqual(results[0], results[1])
                self.assertEqual(results[0]["verdict"], "covered")
                code, document = self.verify(removed)
                self.assertEqual(code, 2)
                self.assertIn("a fat binary's registration is missing here", document["files"][0]["errors"][0]["what"])


if __name__ == "__main__":
    common.main()
