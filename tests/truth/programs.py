"""Whole programs: separate compilation, variables without kernels, the runtimes of other releases, and code held as data.

Each prints the first error that its runtime gave and the mark that its kernel wrote, as the result of a record's run.
"""
import os
import shutil

from maker import number_of

HEAD = """
#include <cstdio>
#ifdef __CUDA_ARCH__
#define ARCH __CUDA_ARCH__
#else
#define ARCH 0
#endif
#define STEP(call) do { if (code == 0) code = (int)(call); } while (0)
"""
MAIN = """
int main() {
  int* out = nullptr;
  int value = -1, code = 0;
  STEP(cudaMalloc(&out, sizeof(int)));
  if (code == 0) LAUNCH;
  STEP(cudaGetLastError());
  STEP(cudaDeviceSynchronize());
  STEP(cudaMemcpy(&value, out, sizeof(int), cudaMemcpyDeviceToHost));
  MORE;
  std::printf("{\\"launch\\": %d, \\"mark\\": %d}\\n", code, value);
}
"""

def program(kernel, launch="mark<<<1, 1>>>(out)", more="(void)0"):
    return HEAD + kernel + MAIN.replace("LAUNCH", launch).replace("MORE", more)


SOURCES = {
    "plain.cu": program("__global__ void mark(int* out) { *out = ARCH; }"),
    "caller.cu": program("extern __device__ int helper(int); __global__ void mark(int* out) { *out = helper(ARCH); }"),
    "helper.cu": "__device__ int table[4]; __device__ int helper(int x) { return x + table[x & 3]; }\n",
    "other.cu": "__device__ int other(int x) { return x; } __global__ void another(int* out) { *out = other(*out); }\n"
                "void launch_another(int* out) { another<<<1, 1>>>(out); }\n",
    "calls_other.cu": program("void launch_another(int*); __global__ void mark(int* out) { *out = ARCH; }",
                              more="if (code == 0) launch_another(out); STEP(cudaGetLastError()); STEP(cudaDeviceSynchronize())"),
    "never.cu": "__global__ void never(int* out) { *out = 2; }\nvoid launch_never(int* out) { never<<<1, 1>>>(out); }\n",
    "launcher.cu": program("__global__ void child(int* out) { *out = ARCH; }\n"
                           "__global__ void mark(int* out) { child<<<1, 1>>>(out); }"),
    "variable_device.cu": "__device__ int variable[4];\nint use() { int v[4] = {}; return cudaMemcpyToSymbol(variable, v, sizeof v); }\n",
    "variable_constant.cu": "__constant__ int variable[4];\nint use() { int v[4] = {}; return cudaMemcpyToSymbol(variable, v, sizeof v); }\n",
    "variable_managed.cu": "__managed__ int variable[4];\nint use() { variable[1] = 3; return variable[1] - 3; }\n",
    "variable_some.cu": "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800\n__device__ int variable[4];\n#endif\n"
                        "__global__ void some(int* out) { *out = 3; }\n"
                        "#ifndef __CUDA_ARCH__\nint use() { int v[4] = {}; return cudaMemcpyToSymbol(variable, v, sizeof v); }\n#endif\n",
    "variable_unused.cu": "__device__ int variable[4];\nint use() { return 0; }\n",
    "uses.cu": program("int use(); __global__ void mark(int* out) { *out = ARCH; }", more="STEP(use())"),
    "only_uses.cu": program("int use();", launch="(void)0", more="STEP(use())"),
    "two_kernels.cu": program("__global__ void mark(int* out) { *out = ARCH; }\n"
                              "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ != 800\n"
                              "__global__ void second(int* out) { *out += 0; }\n#define SECOND second<<<1, 1>>>(out)\n"
                              "#else\n#define SECOND (void)0\n#endif",
                              more="if (code == 0) SECOND; STEP(cudaGetLastError()); STEP(cudaDeviceSynchronize())"),
    "data.c": """
#include <dlfcn.h>
#include <stdio.h>
__asm__(".section .rodata\\n.balign 64\\n.global image\\nimage: .incbin \\"IMAGE\\"\\n.byte 0\\n.previous");
extern const char image[];
typedef int (*Call)();
int main() {
  void* cuda = dlopen("libcuda.so.1", RTLD_NOW);
  int code = 0, value = -1;
  void *context = 0, *module = 0, *function = 0;
  unsigned long long out = 0;
#define STEP(name, ...) do { if (code == 0) code = ((Call)dlsym(cuda, name))(__VA_ARGS__); } while (0)
  if (cuda == 0) return 3;
  STEP("cuInit", 0);
  STEP("cuDevicePrimaryCtxRetain", &context, 0);
  STEP("cuCtxSetCurrent", context);
  STEP("cuMemAlloc_v2", &out, (unsigned long)4);
  STEP("cuModuleLoadData", &module, image);
  STEP("cuModuleGetFunction", &function, module, "mark");
  void* arguments[] = {&out};
  STEP("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, (void*)0, arguments, (void*)0);
  STEP("cuCtxSynchronize");
  STEP("cuMemcpyDtoH_v2", &value, out, (unsigned long)4);
  printf("{\\"launch\\": %d, \\"mark\\": %d}\\n", code, value);
}
""",
}


# In place of the toolkit's headers, which need not suit a clang.
CLANG_HEADER = """
#include <cstddef>
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
struct dim3 { unsigned x, y, z; constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
enum { cudaMemcpyDeviceToHost = 2 };
extern "C" {
int cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, void*);
int __cudaPushCallConfiguration(dim3, dim3, std::size_t = 0, void* = nullptr);
int __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*);
int cudaMalloc(void*, std::size_t);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaGetLastError();
int cudaDeviceSynchronize();
}
"""


def codes(*names):
    """nvcc's options for `sm_80`, `compute_80` and `lto_80`; PTX and LTO-IR come from the virtual arch of their number."""
    return [part for name in names for part in ("-gencode", "arch=compute_%s,code=%s" % (name.split("_")[1], name))]


class Builder:
    def __init__(self, maker, toolkit=None):
        self.maker, self.toolkit = maker, toolkit or maker.toolkit
        for name, text in SOURCES.items():
            maker.write(name, text)

    def nvcc(self, suffix, *arguments):
        path = self.maker.path(suffix)
        self.maker.run([self.toolkit.nvcc, "-Wno-deprecated-gpu-targets", "-allow-unsupported-compiler", "-o", path, *arguments])
        return path

    def object(self, source, *flags):
        return self.nvcc(".o", "-c", source, *flags)

    def link(self, objects, *flags, cudart="shared"):
        return self.nvcc("", "-cudart=" + cudart, *objects, *flags, *(["-L" + self.toolkit.libraries] if cudart == "shared" else []))

    def separate(self, objects, *link, cudart="shared"):
        """objects: (source, names of codes, more flags)."""
        made = [self.object(source, "-rdc=true", *codes(*names), *flags) for source, names, *flags in objects]
        return self.link(made, *link, cudart=cudart)


def plain(maker, number):
    builder, exact = Builder(maker), str(number)
    newest = str(maker.toolkit.archs[-1])
    lists = [("sm_80",), ("sm_" + exact,), ("compute_75",), ("compute_" + exact,), ("sm_" + newest,), ("compute_" + newest,),
             ("sm_80", "compute_80"), ("sm_80", "sm_" + exact), ("sm_75", "sm_86", "compute_86"), ("sm_" + newest, "compute_80")]
    if number >= 90:
        lists += [("sm_%sa" % exact,), ("compute_%sa" % exact,), ("sm_100f",), ("compute_100f",)]
    for names in lists:
        yield "program of " + " ".join(names), lambda names=names: builder.nvcc("", "-cudart=shared", "plain.cu", *codes(*names))
    for names in (("sm_80",), ("sm_" + exact,), ("compute_75",)):
        yield "program of %s, runtime linked in" % " ".join(names), \
            lambda names=names: builder.nvcc("", "-cudart=static", "plain.cu", *codes(*names))
    for names in (("sm_80",), ("sm_80", "sm_" + exact)):
        def never(names=names):
            return builder.link([builder.object("plain.cu", *codes("sm_80", "sm_" + exact)), builder.object("never.cu", *codes(*names))])
        yield "program with a kernel of %s that is never launched" % " ".join(names), never
    yield "program with a kernel that its sm_80 alone lacks", lambda: builder.nvcc(
        "", "-cudart=shared", "two_kernels.cu", *codes("sm_80", "sm_" + exact))


def variables(maker, number):
    builder, exact = Builder(maker), str(number)
    for kind in ("device", "constant", "managed", "unused"):
        for names in (("sm_80",), ("compute_80",), ("sm_" + exact,)):
            def make(kind=kind, names=names, main="uses.cu"):
                main = builder.object(main, *codes("sm_80", "sm_" + exact))
                return builder.link([main, builder.object("variable_%s.cu" % kind, *codes(*names))])
            yield "%s variable of %s beside kernels" % (kind, " ".join(names)), make
            yield "%s variable of %s alone" % (kind, " ".join(names)), lambda make=make: make(main="only_uses.cu")


    def lacking():
        return builder.link([builder.object("uses.cu", *codes("sm_80", "sm_" + exact)),
                             builder.object("variable_some.cu", *codes("sm_80", "sm_" + exact))])
    yield "device variable that the image which fits lacks", lacking


def separate(maker, number):
    builder, exact = Builder(maker), str(number)
    foreign = "75" if number // 10 == 8 else "80"
    old, ptx, fits, old_fits = "sm_" + foreign, "compute_" + foreign, "sm_" + exact, "compute_" + exact
    both = (old, ptx)
    pairs = {"sass that fits": ((fits,), (fits,), fits), "ptx alone": ((ptx,), (ptx,), ptx),
             "exact ptx alone": ((old_fits,), (old_fits,), old_fits),
             "sass and ptx": (both, both, old), "sass alone": ((old,), (old,), old),
             "an object without ptx": (both, (old,), old), "the caller without ptx": ((old,), both, old),
             "an object with sass that fits and no ptx": (both, (old, fits), old),
             "both with sass that fits, linked for another": ((old, fits), (old, fits), old)}
    for name, (caller, helper, link) in pairs.items():
        yield "separate compilation, " + name, lambda caller=caller, helper=helper, link=link: builder.separate(
            [("caller.cu", caller), ("helper.cu", helper)], *codes(link))
    two = [("caller.cu", both), ("helper.cu", both)]
    for name, flags in {"without libcudadevrt": ["-cudadevrt=none"], "no PIE": ["-Xcompiler", "-no-pie"], "stripped": ["-Xlinker", "-s"],
                        "sections collected": ["-Xlinker", "--gc-sections"], "lld": ["-Xcompiler", "-fuse-ld=lld"]}.items():
        yield "separate compilation, sass and ptx, " + name, lambda flags=flags: builder.separate(two, *codes(old), *flags)
    yield "separate compilation, ptx alone, without libcudadevrt", lambda: builder.separate(
        [("caller.cu", (ptx,)), ("helper.cu", (ptx,))], *codes(ptx), "-cudadevrt=none")
    lto = "lto_" + foreign
    # Not every toolkit can link LTO-IR.
    linker = next((Builder(maker, toolkit) for toolkit in maker.other_toolkits(["nvcc-13.0/nvidia/cu13/bin/nvcc"])), builder)
    for name, names in {"LTO-IR alone": (lto,), "LTO-IR and ptx": (lto, ptx), "LTO-IR that fits": ("lto_" + exact,)}.items():
        yield "separate compilation, " + name, lambda names=names: linker.separate(
            [("caller.cu", names), ("helper.cu", names)], "-dlto", "-arch=" + names[0].replace("lto", "sm"))
    for names, link in ((both, old), ((fits, ptx), fits)):
        yield "separate compilation with -reloc-ptx, %s" % " ".join(names), lambda names=names, link=link: builder.separate(
            [("caller.cu", names), ("helper.cu", names)], *codes(*names), "-reloc-ptx")
    for name, names in {"sass that fits": (fits,), "sass and ptx": both, "ptx alone": (ptx,)}.items():
        yield "dynamic parallelism, " + name, lambda names=names: builder.separate([("launcher.cu", names)], *codes(names[0]), "-lcudadevrt")
    for name, names in {"both with ptx": both, "the second without ptx": (old,)}.items():
        yield "two device links, " + name, lambda names=names: two_device_links(builder, both, names, old)
    # Objects of -rdc that are linked for the device one by one, as one source file of -rdc is.
    for name, names in {"sass and ptx": both, "ptx alone": (ptx,), "sass alone": (old,)}.items():
        yield "one object of -rdc, " + name, lambda names=names: builder.separate([("plain.cu", names)], *codes(names[0]))


    for toolkit in maker.other_toolkits():
        other = Builder(maker, toolkit)
        # PTX of a newer nvcc is too new for this driver.
        for name in ("sass that fits", "sass alone", "an object without ptx", "the caller without ptx", "sass and ptx", "ptx alone"):
            caller, helper, link = pairs[name]
            yield "separate compilation by nvcc %s, %s" % (toolkit.version, name), \
                lambda other=other, caller=caller, helper=helper, link=link: other.separate(
                    [("caller.cu", caller), ("helper.cu", helper)], *codes(link), cudart="static")


def two_device_links(builder, first, second, link):
    main = builder.object("calls_other.cu", "-rdc=true", *codes(*first))
    other = builder.object("other.cu", "-rdc=true", *codes(*second))
    links = [builder.nvcc(".o", "-dlink", *codes(link), each) for each in (main, other)]
    path = builder.maker.path("")
    builder.maker.run(["g++", "-o", path, main, other, *links, "-L" + builder.toolkit.libraries, "-lcudart", "-lcudadevrt"])
    return path


def runtimes(maker, number):
    """Programs of other releases, with SASS that fits and with PTX, the runtime linked in."""
    for toolkit in maker.other_toolkits():
        for names in (("sm_80",), ("sm_%d" % number,), ("compute_75",)):
            yield "program of nvcc %s for %s, runtime linked in" % (toolkit.version, " ".join(names)), \
                lambda toolkit=toolkit, names=names: Builder(maker, toolkit).nvcc("", "-cudart=static", "plain.cu", *codes(*names))
        if number_of(toolkit.version) > number_of(maker.toolkit.version):
            yield "dynamic parallelism of nvcc %s" % toolkit.version, lambda toolkit=toolkit: Builder(maker, toolkit).nvcc(
                "", "-cudart=static", "-rdc=true", "launcher.cu", "-lcudadevrt", *codes("sm_%d" % number))


def clang(maker, number):
    """What clang makes; its device code is assembled by the ptxas of CUDA 11.8, which clang 14 knows."""
    compiler, root = shutil.which("clang++"), os.path.join(maker.cache, "cuda-11.8")
    if compiler is None or not os.path.isdir(root):
        maker.skipped.append("what clang makes: it needs clang++ and tests/support/fetch cuda-11.8")
        return
    maker.write("clang.cu", CLANG_HEADER + SOURCES["plain.cu"])
    for name, flags in {"sm_80 and its ptx": ["--cuda-gpu-arch=sm_80"],
                        "sm_80 alone": ["--cuda-gpu-arch=sm_80", "--no-cuda-include-ptx=all"]}.items():
        def make(flags=flags):
            path = maker.path("")
            maker.run([compiler, "-std=c++17", "-Wno-unknown-cuda-version", "-Wno-invalid-constexpr", "--cuda-path=" + root, "-nocudainc",
                       "-nocudalib", "-Xclang", "-target-sdk-version=11.5", *flags, "-x", "cuda", "clang.cu", "-o", path, "-L" + os.path.join(root, "lib64"),
                       "-lcudart_static", "-ldl", "-lpthread", "-lrt"])
            return path
        yield "program of clang, " + name, make


def data(maker, number):
    """Images that a program holds as data and loads through the driver's interface."""
    Builder(maker)
    exact = str(number)

    def make(image):
        path = maker.path("")
        maker.bare(image, ".image")
        name = "case%d.image" % maker.made
        maker.write("data_one.c", SOURCES["data.c"].replace("IMAGE", name))
        maker.run(["gcc", "-w", "-o", path, "data_one.c", "-ldl"])
        return path

    for kind, name in (("elf", "sass"), ("ptx", "ptx")):
        for arch in ("75", "80", exact, "%da" % number if number >= 90 else "86", "100"):
            yield "%s %s as data" % (name, arch), lambda kind=kind, arch=arch: make(maker.image(kind, arch)[2])
    yield "ptx of a newer ISA as data", lambda: make(maker.image("ptx", "80", isa="99.0")[2])
    for names in ((("elf", "80"), ("elf", exact)), (("elf", "80"), ("ptx", "80")), (("elf", "80"),)):
        def packed(names=names):
            with open(maker.fatbin([maker.image(kind, arch) for kind, arch in names]), "rb") as file:
                return file.read()
        yield "fat binary of %s as data" % ", ".join("%s %s" % ({"elf": "sass"}.get(kind, kind), arch) for kind, arch in names), \
            lambda packed=packed: make(packed())


GROUPS = (plain, variables, separate, runtimes, clang, data)
