"""The images that a record tries on a device, made by nvcc and fatbinary, and by NVRTC and nvFatbin."""
import os
import re
import subprocess

from libraries import CannotLoad, NvFatbin, Nvrtc

# Every image of a container writes its own number, from 1: the record says which one the driver took.
KERNEL = """
#ifdef WITHOUT
extern "C" __global__ void other(int* out) { *out = MARK; }
#elif defined(HOLLOW)
extern "C" __global__ void mark(int*) {}
#else
extern "C" __global__ void mark(int* out) { *out = MARK; }
#endif
"""
# Prints the runtime's answer in the form of a record's result.
PROGRAM = """
#include <cstdio>
__global__ void mark(int* out) { *out = 1; }
int main() {
  int* out = nullptr;
  int value = -1;
  cudaMalloc(&out, sizeof(int));
  mark<<<1, 1>>>(out);
  int code = cudaGetLastError();
  if (code == 0) code = cudaDeviceSynchronize();
  if (code == 0) cudaMemcpy(&value, out, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("{\\"launch\\": %d, \\"mark\\": %d}\\n", code, value);
}
"""
NEWER_ISA = "99.0"


class CannotMake(Exception):
    pass


class Maker:
    def __init__(self, nvcc, folder):
        self.nvcc, self.folder = nvcc, folder
        toolkit = self.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support/toolkit_of"), nvcc]).strip()
        self.fatbinary = os.path.join(toolkit, "bin/fatbinary")
        self.libraries = os.path.join(toolkit, "lib64")
        # Where tests/support/fetch puts what a toolkit may lack.
        cache = os.environ.get("ARCHGUARD_CACHE", os.path.join(os.path.dirname(__file__), "../../.cache"))
        self.folders = [self.libraries, *(os.path.join(cache, name, "nvidia/cu13/lib")
                                          for name in ("nvrtc-13.0", "nvfatbin-13.0"))]
        self.version = re.search(r"release ([\d.]+)", self.run([nvcc, "--version"])).group(1)
        self.archs = sorted(int(arch) for arch in re.findall(r"sm_(\d+)", self.run([nvcc, "--list-gpu-code"])))
        self.skipped = []
        self.made = 0
        for name, text in (("kernel.cu", KERNEL), ("program.cu", PROGRAM)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)

    def run(self, command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.folder)
        if done.returncode != 0:
            raise CannotMake("%s: %s" % (" ".join(command), done.stdout.strip()))
        return done.stdout

    def image(self, kind, arch, *flags, mark=1, isa=None):
        """What fatbinary takes: kind, arch and the file. `isa` replaces the PTX version that nvcc wrote."""
        self.made += 1
        name = "image%d" % self.made
        target = ["-cubin", "-arch=sm_" + arch] if kind == "elf" else ["-ptx", "-arch=compute_" + arch]
        self.run([self.nvcc, *target, "-DMARK=%d" % mark, *flags, "-o", name, "kernel.cu"])
        if isa is not None:
            path = os.path.join(self.folder, name)
            with open(path) as file:
                text = re.sub(r"^\.version .*$", ".version " + isa, file.read(), flags=re.MULTILINE)
            with open(path, "w") as file:
                file.write(text)
        return "--image3=kind=%s,sm=%s,file=%s" % (kind, arch, name)

    def fatbin(self, images, *flags):
        self.made += 1
        path = os.path.join(self.folder, "case%d.fatbin" % self.made)
        self.run([self.fatbinary, "--create=" + path, "-64", *flags, *images])
        return path

    def library_fatbin(self, images, *options):
        """The same by NVRTC and nvFatbin: images are (kind, arch)."""
        nvrtc, packer = Nvrtc(self.folders), NvFatbin(self.folders)
        compiled = []
        for number, (kind, arch) in enumerate(images, 1):
            content = nvrtc.compile(KERNEL, kind, arch, ["-DMARK=%d" % number])
            if content is None:
                raise CannotMake("NVRTC makes no %s for %s" % (kind, arch))
            compiled.append((kind, arch, content))
        packed = packer.pack(compiled, ["-64", *options])
        if packed is None:
            raise CannotMake("nvFatbin refuses " + " ".join(options))
        self.made += 1
        path = os.path.join(self.folder, "case%d.fatbin" % self.made)
        with open(path, "wb") as file:
            file.write(packed)
        return path

    def program(self, *flags):
        self.made += 1
        path = os.path.join(self.folder, "program%d" % self.made)
        self.run([self.nvcc, "-cudart=shared", "-o", path, *flags, "program.cu"])
        return path


def spellings(number):
    """The names of one arch: 90 and 90a; 100, 100a and 100f."""
    return [str(number)] + (["%da" % number] if number >= 90 else []) + (["%df" % number] if number >= 100 else [])


def containers(maker, number):
    """(name, what makes it) of every case; `number` is the device's: 90."""
    image, exact = maker.image, str(number)
    lower = [str(arch) for arch in maker.archs if arch // 10 == number // 10 and arch < number]
    older = str(max((arch for arch in maker.archs if arch < number), default=number))

    for arch in (each for known in maker.archs for each in spellings(known)):
        yield "sass " + arch, lambda: [image("elf", arch)]
        yield "ptx " + arch, lambda: [image("ptx", arch)]

    yield "ptx of a newer ISA", lambda: [image("ptx", older, isa=NEWER_ISA)]
    yield "ptx of a newer ISA, exact sass", lambda: [image("ptx", older, isa=NEWER_ISA), image("elf", exact, mark=2)]
    yield "ptx of a newer ISA, then usable ptx", lambda: [image("ptx", older, isa=NEWER_ISA),
                                                          image("ptx", older, mark=2)]
    yield "usable ptx, then ptx of a newer ISA", lambda: [image("ptx", older, mark=1),
                                                          image("ptx", older, isa=NEWER_ISA)]
    for kind, name in (("elf", "sass"), ("ptx", "ptx")):
        yield "two equal " + name, lambda: [image(kind, exact, mark=1), image(kind, exact, mark=2)]
    yield "older ptx, exact ptx", lambda: [image("ptx", older, mark=1), image("ptx", exact, mark=2)]
    yield "exact ptx, older ptx", lambda: [image("ptx", exact, mark=1), image("ptx", older, mark=2)]
    for arch in lower:
        yield "sass %s, exact sass" % arch, lambda: [image("elf", arch, mark=1), image("elf", exact, mark=2)]
        yield "sass %s, exact ptx" % arch, lambda: [image("elf", arch, mark=1), image("ptx", exact, mark=2)]
        yield "exact ptx, sass %s" % arch, lambda: [image("ptx", exact, mark=1), image("elf", arch, mark=2)]
    yield "kernel missing in the exact sass, present in ptx", lambda: [image("elf", exact, "-DWITHOUT"),
                                                                       image("ptx", exact, mark=2)]
    yield "hollow kernel", lambda: [image("elf", exact, "-DHOLLOW")]


def by_libraries(maker, number):
    """(name, what makes it) of the cases that NVRTC and nvFatbin make."""
    exact = str(number)
    for name, images in (("sass", [("elf", exact)]), ("ptx", [("ptx", exact)]),
                         ("sass and ptx", [("elf", exact), ("ptx", exact)])):
        yield "nvrtc %s in nvfatbin" % name, lambda: maker.library_fatbin(images)
        for mode in ("none", "speed", "size"):
            yield "nvrtc %s in nvfatbin, packed with %s" % (name, mode), lambda: maker.library_fatbin(
                images, "-compress-all", "-compress-mode=" + mode)


# What the program's environment may say, and the cases that are tried under it, too.
ENVIRONMENTS = [{name: "1"} for name in ("CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT", "CUDA_DISABLE_PTX_JIT",
                                         "CUDA_DISABLE_JIT")]


def environments(name, number):
    tried = {"sass %d" % number, "ptx %d" % number, "nvrtc sass and ptx in nvfatbin", "elf packed with size"}
    return [{}, *(ENVIRONMENTS if name in tried else [])]


def cases(maker, number):
    """(name, path) of every fat binary. What this nvcc cannot make is listed in maker.skipped."""
    for name, make in by_libraries(maker, number):
        yield from made(maker, name, make)
    for name, make in containers(maker, number):
        yield from made(maker, name, lambda: maker.fatbin(make()))
    for mode in ("none", "speed", "size"):
        for kind in ("elf", "ptx"):
            yield from made(maker, "%s packed with %s" % (kind, mode), lambda: maker.fatbin(
                [maker.image(kind, str(number))], "-compress-all", "-compress-mode=" + mode))


def programs(maker, number):
    """Separate compilation leaves PTX outside of .nv_fatbin: does the driver reach it where no SASS fits?"""
    foreign = [arch for arch in maker.archs if arch // 10 != number // 10]
    older = [arch for arch in maker.archs if arch <= number]
    if not foreign or not older:
        return
    flags = ["-rdc=true", "-gencode", "arch=compute_%d,code=sm_%d" % (foreign[0], foreign[0]),
             "-gencode", "arch=compute_%d,code=compute_%d" % (older[0], older[0])]
    yield from made(maker, "separate compilation, no sass that fits", lambda: maker.program(*flags))
    yield from made(maker, "separate compilation with -reloc-ptx, no sass that fits",
                    lambda: maker.program("-reloc-ptx", *flags))


def made(maker, name, make):
    try:
        yield name, make()
    except (CannotMake, CannotLoad) as reason:
        maker.skipped.append("%s: %s" % (name, reason))
