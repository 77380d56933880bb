"""What the tests of the preflight share: played machines, and programs that register fat binaries."""
import argparse
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

parser = argparse.ArgumentParser()
parser.add_argument("--preflight", type=pathlib.Path, required=True)
parser.add_argument("--fake-driver", type=pathlib.Path, required=True)
parser.add_argument("--nvcc", default="")
parser.add_argument("--runtime", default="", help="the release of the CUDA runtime that is linked, where nvcc comes without")
parser.add_argument("--archguard", type=pathlib.Path)
options, rest = parser.parse_known_args()

HERE = pathlib.Path(__file__).resolve().parent
WRAP_FATBIN = ["-Wl,--wrap=__cudaRegisterFatBinary"]
WRAP = WRAP_FATBIN + ["-Wl,--wrap=__cudaRegister" + name for name in ("Function", "Var", "ManagedVar", "Texture", "Surface")]
WRAP_ALL = WRAP + ["-Wl,--wrap=" + name for name in (
    "__cudaPushCallConfiguration", "cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cudaLaunchKernelExC", "cudaMalloc", "cudaMallocManaged",
    "cudaMallocAsync", "cudaMemcpyToSymbol")]

T4 = "cc=7.5 uuid=GPU-11111111-1111-1111-1111-111111111111 pci=0000:3B:00.0 name=Tesla T4"
H100 = "cc=9.0 uuid=GPU-22222222-2222-2222-2222-222222222222 pci=0000:4B:00.0 name=NVIDIA H100"

SASS, PTX, LTOIR, RELOC_PTX = 2, 1, 8, 0x40
ZSTD, A, F = 0x8000, 0x100000, 0x200000


def image(kind, arch, isa=(0, 0), flags=0, version=0x0101, payload=b""):
    """An entry of a fat binary. The isa of a cubin is 1.7 unless said."""
    if kind == SASS and isa == (0, 0):
        isa = (1, 7)
    payload += bytes(-len(payload) % 8)
    return struct.pack("<HHIQIIHHIIIQQQ", kind, version, 64, len(payload), len(payload) if flags & ZSTD else 0, 0, isa[1], isa[0],
                       arch, 0, 0, 0x11 | flags, 0, len(payload) if flags & ZSTD else 0) + payload


def fatbin(*images, magic=0xBA55ED50, more=0):
    body = b"".join(images)
    return struct.pack("<IHHQ", magic, 1, 16, len(body) + more) + body


def cubin_of(toolkit):
    """The ELF header of a cubin of the old ABI, which tells its toolkit."""
    header = bytearray(64)
    header[:4], header[7] = b"\177ELF", 0x33
    header[20:24] = struct.pack("<I", toolkit)
    return bytes(header)


KERNEL = "__cudaRegisterFunction(handle, 0, 0, 0, 7, 0, 0, 0, 0, &size);"
VARIABLE = "__cudaRegisterVar(handle, 0, 0, 0, 0, 7, 0, 0);"
MANAGED = "__cudaRegisterManagedVar(handle, 0, 0, 0, 0, 7, 0, 0);"


def source_of(fatbins, links=(), asks=()):
    """C that registers fat binaries by constructors, as nvcc's host code does; `links` are (linked, [parts]), `asks` what is registered
    under each fat binary, a kernel where that is not said."""
    text = ["#include <stddef.h>", "void **__cudaRegisterFatBinary(void *);",
            "void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);",
            "void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);",
            "void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);",
            "struct wrapper { unsigned magic, version; const void *data; void *parts; };"]
    names = []

    def array(data):
        names.append("data%d" % len(names))
        text.append("__attribute__((aligned(8), section(\".nv_fatbin\"))) static const unsigned char %s[] = {%s};" % (
            names[-1], ",".join(map(str, data)) or "0"))
        return names[-1]

    calls = []

    def register(version, data, parts="NULL"):
        number = len(calls)
        text.append("static struct wrapper wrapper%d = {0x466243b1, %d, %s, %s};" % (number, version, data, parts))
        calls.append("handle = __cudaRegisterFatBinary(&wrapper%d); %s" % (number, asks[number] if number < len(asks) else KERNEL))

    for data in fatbins:
        register(1, array(data))
    setup = []
    for linked, parts in links:
        held = [array(part) for part in parts]
        name = "prelinked%d" % len(setup)
        text.append("static const void *%s[%d];" % (name, len(held) + 1))
        setup.append(" ".join("%s[%d] = %s;" % (name, i, part) for i, part in enumerate(held)))
        register(2, array(linked), name)
    text.append("__attribute__((constructor)) static void start(void) { void **handle; int size = 7; (void)handle; (void)size; %s %s }" % (" ".join(setup), " ".join(calls)))
    return "\n".join(text) + "\n"


class Played(unittest.TestCase):
    """A folder for programs, and machines to run them on."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        (cls.folder / "nowhere").mkdir()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def skipTest(self, reason):
        print("SKIPPED: " + reason, flush=True)
        raise unittest.SkipTest(reason)

    def run_tool(self, *command):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, "%s\n%s" % (" ".join(map(str, command)), done.stdout))
        return done.stdout

    def environment(self, machine, libraries=("cuda", "nvml"), root="nowhere", preload=True, **more):
        path = self.folder / "machine"
        path.write_text(machine)
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA_", "LD_"))}
        variables.update(ARCHGUARD_FAKE_MACHINE=str(path), ARCHGUARD_FAKE_ROOT=str(self.folder / root),
                         LD_LIBRARY_PATH=":".join(str(options.fake_driver / name) for name in libraries))
        if preload:
            variables["LD_PRELOAD"] = str(options.fake_driver / "files/libfake_files.so.1")
        variables.update(ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0", UBSAN_OPTIONS="halt_on_error=1", **more)
        return variables

    def start(self, command, machine, status=0, **keywords):
        """(stdout, stderr) of a program on a machine."""
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment(machine, **keywords),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr


def driver(cuda, version="550.54.15", *devices):
    return "driver %s\ncuda %d\n" % (version, cuda) + "".join("device %s\n" % device for device in devices)


def main():
    unittest.main(argv=["preflight"] + rest)
