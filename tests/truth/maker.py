"""Makes the files that a record tries on a device: with nvcc, ptxas and fatbinary of several toolkits, NVRTC and nvFatbin."""
import glob
import os
import re
import subprocess
import zipfile

from libraries import CannotLoad, NvFatbin, Nvrtc

HERE = os.path.dirname(os.path.abspath(__file__))
# Every image writes a number of its own in place of this one: the record says which of them the driver took.
PLACE = "424242"
KERNEL = """
#ifdef WITHOUT
extern "C" __global__ void other(int* out) { *out = 424242; }
#elif defined(HOLLOW)
extern "C" __global__ void mark(int*) {}
#elif defined(LARGE)
struct Large { char bytes[8000]; };
extern "C" __global__ void mark(int* out, Large) { *out = 424242; }
#elif defined(OPEN)
extern "C" __device__ int elsewhere(int);
extern "C" __global__ void mark(int* out) { *out = elsewhere(424242); }
#else
__device__ int variable = 1;
extern "C" __global__ void mark(int* out) { *out = 424242 * variable; }
#ifdef BOTH
extern "C" __global__ void other(int* out) { *out = 424242; }
#endif
#endif
"""


class CannotMake(Exception):
    pass


def first_error(output):
    """The first line that tells, without the folders of this machine."""
    lines = output.strip().splitlines() or ["it says nothing"]
    line = next((each for each in lines if re.search("error|fatal|warning: .*not supported", each)), lines[-1])
    return re.sub(r"\S*/", "", line)[:200]


def outcome_of(command, folder):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    except OSError as error:
        raise CannotMake("%s: %s" % (os.path.basename(command[0]), error.strerror))
    if done.returncode != 0:
        raise CannotMake("%s: %s" % (os.path.basename(command[0]), first_error(done.stdout)))
    return done.stdout


class Toolkit:
    """One CUDA toolkit: its release, its tools and the architectures that its nvcc lists. It is reached by a link in the folder of the
    cases, since the device linker writes its search paths into what it makes."""

    def __init__(self, nvcc, folder):
        root = outcome_of([os.path.join(HERE, "../support/toolkit_of"), nvcc], folder).strip()
        self.version = re.search(r"release ([\d.]+)", outcome_of([nvcc, "--version"], folder)).group(1)
        link = next(name for name in ("cuda-%s%s" % (self.version, more) for more in ("", "-b", "-c"))
                    if not os.path.lexists(os.path.join(folder, name)))
        os.symlink(root, os.path.join(folder, link))
        self.nvcc, self.ptxas, self.fatbinary = [os.path.join(link, "bin", name) for name in ("nvcc", "ptxas", "fatbinary")]
        self.libraries = next((os.path.join(link, name) for name in ("lib64", "lib", "targets/x86_64-linux/lib")
                               if os.path.isdir(os.path.join(root, name))), link)
        listed = outcome_of([self.nvcc, "--list-gpu-code"], folder)
        self.archs = sorted(int(arch) for arch in re.findall(r"sm_(\d+)", listed))


def number_of(release):
    return tuple(int(part) for part in release.split("."))


class Maker:
    def __init__(self, nvcc, folder):
        self.folder = folder
        # Where tests/support/fetch puts what a toolkit may lack.
        self.cache = os.path.abspath(os.environ.get("ARCHGUARD_CACHE", os.path.join(HERE, "../../.cache")))
        self.toolkit = Toolkit(nvcc, folder)
        self.toolkits, self.missing = {}, set()
        self.folders = [os.path.join(folder, self.toolkit.libraries), *(os.path.join(self.cache, name, "nvidia/cu13/lib")
                                                  for name in ("nvrtc-13.0", "nvfatbin-13.0"))]
        self.skipped = []
        self.made = 0
        self.texts = {}
        self.write("kernel.cu", KERNEL)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def run(self, command):
        return outcome_of(command, self.folder)

    def other_toolkits(self, paths=("cuda-11.8/bin/nvcc", "nvcc-13.5/nvidia/cu13/bin/nvcc")):
        """Those that tests/support/fetch has brought."""
        for path in paths:
            nvcc = os.path.join(self.cache, path)
            if nvcc not in self.toolkits and os.path.exists(nvcc):
                self.toolkits[nvcc] = Toolkit(nvcc, self.folder)
            if nvcc in self.toolkits:
                yield self.toolkits[nvcc]
            elif path not in self.missing:
                self.missing.add(path)
                self.skipped.append("what the nvcc of tests/support/fetch %s makes: it is not there" % path.split("/")[0])

    def assemblers(self):
        """(release, ptxas) of those that tests/support/fetch has brought."""
        found = {}
        for path in glob.glob(os.path.join(self.cache, "ptxas-*")):
            for ptxas in glob.glob(os.path.join(path, "nvidia/*/bin/ptxas")):
                found[path.rsplit("-", 1)[1]] = ptxas
        if not found:
            self.skipped.append("what the ptxas of each release makes: none is there (tests/support/fetch ptxas-12.9)")
        return sorted(found.items(), key=lambda item: number_of(item[0]))

    def runtimes(self):
        """(release, libcudart.so) of those that tests/support/fetch has brought as wheels."""
        for path in sorted(glob.glob(os.path.join(self.cache, "wheel-cudart-*", "*x86_64.whl"))):
            with zipfile.ZipFile(path) as wheel:
                for name in wheel.namelist():
                    if os.path.basename(name).startswith("libcudart.so."):
                        yield os.path.basename(os.path.dirname(path)).rsplit("-", 1)[1], os.path.basename(name), wheel.read(name)

    def path(self, suffix):
        self.made += 1
        return os.path.join(self.folder, "case%d%s" % (self.made, suffix))

    def ptx(self, arch, *flags, mark=1, isa=None, toolkit=None):
        """PTX as text. `isa` replaces the version that nvcc wrote."""
        toolkit = toolkit or self.toolkit
        key = (toolkit.nvcc, arch, flags)
        if key not in self.texts:
            self.run([toolkit.nvcc, "-ptx", "-Wno-deprecated-gpu-targets", "-allow-unsupported-compiler",
                      "-arch=compute_" + arch, *flags, "-o", "text.ptx", "kernel.cu"])
            with open(os.path.join(self.folder, "text.ptx")) as file:
                self.texts[key] = file.read()
        text = self.texts[key].replace(PLACE, str(mark))
        return text if isa is None else re.sub(r"^\.version .*$", ".version " + isa, text, flags=re.MULTILINE)

    def cubin(self, arch, *flags, mark=1, toolkit=None, text=None, ptxas=None, options=()):
        """A cubin as bytes, of this PTX or of the kernel's."""
        toolkit = toolkit or self.toolkit
        self.write("assemble.ptx", text or self.ptx(arch, *flags, mark=mark, toolkit=toolkit))
        self.run([ptxas or toolkit.ptxas, "-arch=sm_" + arch, *options, "-o", "assembled.cubin", "assemble.ptx"])
        with open(os.path.join(self.folder, "assembled.cubin"), "rb") as file:
            return file.read()

    def image(self, kind, arch, *flags, mark=1, isa=None, toolkit=None):
        """(kind, arch, bytes) as fatbinary and nvFatbin take them."""
        if kind == "elf":
            return kind, arch, self.cubin(arch, *flags, mark=mark, toolkit=toolkit)
        return kind, arch, self.ptx(arch, *flags, mark=mark, isa=isa, toolkit=toolkit).encode()

    def bare(self, content, suffix):
        """A file of these bytes by themselves."""
        path = self.path(suffix)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def fatbin(self, images, *flags, toolkit=None):
        arguments = []
        for number, (kind, arch, content) in enumerate(images):
            name = "packed%d" % number
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(content)
            arguments.append("--image3=kind=%s,sm=%s,file=%s" % (kind, arch, name))
        path = self.path(".fatbin")
        self.run([(toolkit or self.toolkit).fatbinary, "--create=" + path, "-64", *flags, *arguments])
        return path

    def library_fatbin(self, images, *options):
        """The same by NVRTC and nvFatbin: images are (kind, arch)."""
        nvrtc, packer = Nvrtc(self.folders), NvFatbin(self.folders)
        compiled = []
        for number, (kind, arch) in enumerate(images, 1):
            content = nvrtc.compile(KERNEL.replace(PLACE, str(number)), kind, arch, [])
            if content is None:
                raise CannotMake("NVRTC makes no %s for %s" % (kind, arch))
            compiled.append((kind, arch, content))
        packed = packer.pack(compiled, ["-64", *options])
        if packed is None:
            raise CannotMake("nvFatbin refuses " + " ".join(options))
        return self.bare(packed, ".fatbin")

    def made_or_skipped(self, name, make):
        """The path, or None with the reason among what was skipped."""
        try:
            return make()
        except (CannotMake, CannotLoad) as reason:
            self.skipped.append("%s: %s" % (name, reason))
            return None
