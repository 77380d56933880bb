"""Programs that use what their host code does not register, and kernels that share a host function.

nvcc registers what it sees for the last architecture of its list. A launch of a template's instance that it does not see there links all the same.
"""
from programs import Builder, codes, program

# `mark`, which code for some archs alone holds, and its launch, which the host code has in any case.
INSTANCE = """
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ LIMIT
template <class T> KIND __global__ void mark(T* out) { *out = ARCH; }
#define LAUNCHED mark<<<1, 1>>>(out)
#else
#define LAUNCHED (void)out
#endif
__global__ void other(int* out) { *out = 1; }
void launch(int* out) { LAUNCHED; if (out == nullptr) other<<<1, 1>>>(out); }
"""
# A variable likewise, which host code copies to.
VARIABLE = """
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ LIMIT
KIND int variable[4];
#endif
__global__ void mark(int* out) { *out = ARCH; }
int use() {
#ifndef __CUDA_ARCH__
  int v[4] = {};
  return cudaMemcpyToSymbol(variable, v, sizeof v);
#endif
}
"""
UNUSED = """
__global__ void mark(int* out) { *out = ARCH; }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ LIMIT
template <class T> __global__ void never(T* out) { *out = 1; }
template __global__ void never<int>(int*);
#endif
"""
# A kernel that two source files define.
SHARED = "KIND __global__ void shared(TYPE* out) { *out = ARCH; }\nvoid launch_NUMBER(int* out) { shared<<<1, 1>>>(out); }\n"
HOW = {"": [], ", optimized": ["-O3"], ", compiled separately": ["-rdc=true"]}


def instances(maker, number):
    builder, older = Builder(maker), [arch for arch in maker.toolkit.archs if arch // 10 < number // 10]
    if not older:
        return
    old, fits = "sm_%d" % older[-1], "sm_%d" % number
    of_device, of_older = ">= %d0" % number, "< %d0" % number

    def make(text, limit, names, *flags, builder=builder, **more):
        maker.write("limited.cu", program(text.replace("LIMIT", limit), **more))
        return builder.nvcc("", "-cudart=static", "limited.cu", *flags, *codes(*names))

    for held, limit in {"the device": of_device, "older devices": of_older}.items():
        for names in ((old, fits), (fits, old)):
            built = "that code for %s alone holds, for %s" % (held, " ".join(names))
            for kind in ("", "static"):
                for how, flags in HOW.items():
                    yield " ".join(filter(None, (kind, "instance", built + how))), lambda limit=limit, names=names, kind=kind, flags=flags: make(
                        INSTANCE.replace("KIND", kind), limit, names, *flags, launch="launch(out)")
            for toolkit in maker.other_toolkits():
                yield "instance %s, by nvcc %s" % (built, toolkit.version), lambda limit=limit, names=names, toolkit=toolkit: make(
                    INSTANCE.replace("KIND", ""), limit, names, builder=Builder(maker, toolkit), launch="launch(out)")
                yield "variable %s, by nvcc %s" % (built, toolkit.version), lambda limit=limit, names=names, toolkit=toolkit: make(
                    VARIABLE.replace("KIND", "__device__"), limit, names, builder=Builder(maker, toolkit), more="STEP(use())")
            for kind in ("__device__", "static __constant__"):
                for how, flags in HOW.items():
                    yield "%s variable %s%s" % (kind, built, how), lambda limit=limit, names=names, kind=kind, flags=flags: make(
                        VARIABLE.replace("KIND", kind), limit, names, *flags, more="STEP(use())")
    yield "instance that is never launched", lambda: make(UNUSED, of_device, (fits, old))


def host_functions(maker, number):
    """The host linker keeps one of several functions of a name, which launches the kernel of one fat binary."""
    builder, fits, other = Builder(maker), "sm_%d" % number, "sm_100a" if number < 100 else "sm_90a"
    template = SHARED.replace("KIND", "template <class T>").replace("TYPE", "T")

    def make(text, names, flags, called):
        maker.write("first.cu", program(text.replace("NUMBER", "1") + "void launch_2(int*);", launch="launch_%d(out)" % called))
        maker.write("second.cu", "#define ARCH __CUDA_ARCH__\n#ifndef __CUDA_ARCH__\n#undef ARCH\n#define ARCH 0\n#endif\n" + text.replace("NUMBER", "2"))
        return builder.link([builder.object(source, *flags, *codes(name)) for source, name in zip(("first.cu", "second.cu"), names)])

    for kind, text, *flags in (("weak template", template, "-static-global-template-stub=false"), ("template", template),
                               ("inline", SHARED.replace("KIND", "inline").replace("TYPE", "int")),
                               ("static", SHARED.replace("KIND", "static").replace("TYPE", "int"))):
        for names in ((fits, other), (other, fits)):
            for called in (1, 2):
                yield "%s kernel of %s and %s in two files, that of the %s launched" % (kind, *names, ("first", "second")[called - 1]), \
                    lambda text=text, names=names, flags=flags, called=called: make(text, names, flags, called)


GROUPS = (instances, host_functions)
