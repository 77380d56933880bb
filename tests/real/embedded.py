"""Cubins and PTX that programs hold as data: bin2c, xxd and .incbin, in the sections and kinds of program where they end up.

cuobjdump does not see them: the oracle is what nvcc wrote, byte by byte. `--full` looks at every program and library of
this system, none of which may be said to hold one, and at NVIDIA's own, by another search.
"""
import json
import mmap
import os
import re
import shutil
import stat
import struct
import subprocess
import tempfile
import unittest

import common

KERNEL = 'extern "C" __global__ void k(int* o) { o[threadIdx.x] = 1; }\n'
DEVICE_FUNCTION = 'extern "C" __device__ int f(int);\nextern "C" __global__ void k(int* o) { o[0] = f(1); }\n'
MAIN = """
extern "C" const unsigned char blob[];
__global__ void own(int* o) { *o = 1; }
int main() { own<<<1, 1>>>(nullptr); return blob[0] == 0; }
"""
DRIVER = "driver-535/debian/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1"
INCBIN = '__asm__(".section %s\\n.byte 7\\n.global blob\\nblob: .incbin \\"%s\\"\\n%s.text\\n");\n'


class EmbeddedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        for name, text in (("k.cu", KERNEL), ("f.cu", DEVICE_FUNCTION), ("main.cu", MAIN)):
            with open(os.path.join(cls.folder, name), "w") as file:
                file.write(text)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def make(self, output, *command):
        path = os.path.join(self.folder, output)
        if not os.path.exists(path):
            common.run(list(command), cwd=self.folder)
        return path

    def image(self, kind, arch, source="k.cu", *flags):
        name = "%s_%s%s.%s" % (source[0], arch, "".join(flags), kind)
        self.make(name, common.nvcc(), "-" + kind, "-arch=" + arch, *flags, source, "-o", name)
        with open(os.path.join(self.folder, name), "rb") as file:
            return name, file.read()

    def array(self, name, data, const="const "):
        """C++ with the bytes as an array, as bin2c and xxd write it."""
        with open(os.path.join(self.folder, name), "w") as file:
            file.write('extern "C" { extern %sunsigned char blob[]; %sunsigned char blob[] = {%s}; }\n' % (
                const, const, ",".join(map(str, data))))
        return name

    def program(self, output, blob, *flags):
        pie = "-fPIE" in flags
        main = "main_pie.o" if pie else "main.o"  # compiled once
        self.make(main, common.nvcc(), "-arch=sm_80", "-c", "main.cu", "-o", main, *(["-Xcompiler", "-fPIE"] if pie else []))
        return self.make(output, common.nvcc(), "-arch=sm_80", main, blob, "-o", output, *flags)

    def holds(self, path, kind, arch, data, section=None):
        found = [each for each in common.inspect(path) if each.get("bare")]
        self.assertEqual([(each["images"][0]["kind"], each["images"][0]["arch"]) for each in found], [(kind, arch)], path)
        with open(path, "rb") as file:
            file.seek(found[0]["offset"])
            self.assertEqual(file.read(found[0]["size"]), data, path)
        if section:
            self.assertEqual(found[0]["section"], section)

    def verdict(self, path, *arguments):
        done = subprocess.run([common.options.archguard, "verify", path, "--format", "json", *arguments],
                              stdout=subprocess.PIPE, text=True, timeout=100)
        return done.returncode, json.loads(done.stdout)["files"][0]["results"]

    def test_arrays_and_incbin_in_every_kind_of_program(self):
        for kind, arch, label in (("cubin", "sm_80", "sass"), ("cubin", "sm_90a", "sass"), ("ptx", "compute_90", "ptx")):
            name, data = self.image(kind, arch)
            number = arch.split("_")[1]
            array = self.array("array_%s.cc" % name, data + (b"\0" if kind == "ptx" else b""))
            own = self.array("data_%s.cc" % name, data + (b"\0" if kind == "ptx" else b""), "")
            for flags in ([], ["-Xcompiler", "-fPIE", "-Xlinker", "-pie"], ["-Xlinker", "-s"]):
                with self.subTest(kind=kind, arch=arch, flags=flags):
                    suffix = "%s_%d" % (name, len(" ".join(flags)))
                    self.holds(self.program("rodata_" + suffix, array, *flags), label, number, data, ".rodata")
                    self.holds(self.program("data_" + suffix, own, *flags), label, number, data, ".data")
            for end in ("", '.byte 0\\n'):
                incbin = "incbin_%s_%d.cc" % (name, len(end))
                with open(os.path.join(self.folder, incbin), "w") as file:
                    file.write(INCBIN % (".rodata", name, end))
                self.holds(self.program(incbin[:-3], incbin), label, number, data, ".rodata")
            shared = self.make("lib%s.so" % name, "g++", "-shared", "-fPIC", array, "-o", "lib%s.so" % name)
            self.holds(shared, label, number, data)
            self.assertEqual(self.verdict(shared, "--device", "9.0")[0], 0 if number != "80" else 1)
            self.holds(self.make("o_%s.o" % name, "g++", "-c", array, "-o", "o_%s.o" % name), label, number, data)

    def test_ltoir_and_optix_ir(self):
        """What OptiX or nvJitLink makes code of, when the program runs, is no code for any device yet."""
        for name, arch, flags, label in (("k.ltoir", "sm_80", ["-dlto", "-ltoir"], "80"), ("k_90a.ltoir", "sm_90a", ["-dlto", "-ltoir"], "90a"),
                                         ("k.optixir", "sm_80", ["-optix-ir"], "80")):
            self.make(name, common.nvcc(), *flags, "-arch=" + arch, "k.cu", "-o", name)
            with open(os.path.join(self.folder, name), "rb") as file:
                array = self.array(name + ".cc", file.read())
            path = self.make("lib%s.so" % name, "g++", "-shared", "-fPIC", array, "-o", "lib%s.so" % name)
            optix = name == "k.optixir"
            self.assertEqual([(each["images"][0]["kind"], each["images"][0]["arch"], each["images"][0].get("optix", False))
                              for each in common.inspect(path)], [("ltoir", label, optix)])
            self.assertEqual(self.verdict(path, "--device", "8.0")[0], 3 if optix else 2)
            beside = self.program("beside_" + name, array)  # an executable with a kernel of its own
            for policy in ("warn", "error"):
                self.assertEqual(self.verdict(beside, "--device", "8.0", "--embedded", policy)[0], 0)

    def test_a_fat_binary_of_ltoir_alone_is_for_a_linker(self):
        """The callback of cuFFT's documentation: nvcc -dlto -fatbin and bin2c; nvJitLink or cuFFT links it, no driver loads it."""
        self.make("lto.fatbin", common.nvcc(), "-rdc=true", "-gencode=arch=compute_75,code=lto_75", "-fatbin", "k.cu", "-o", "lto.fatbin")
        with open(os.path.join(self.folder, "lto.fatbin"), "rb") as file:
            array = self.array("lto.fatbin.cc", file.read())
        alone = self.make("liblto.so", "g++", "-shared", "-fPIC", array, "-o", "liblto.so")
        beside = self.program("beside_lto", array)
        for scope in ("fatbin", "library"):
            self.assertEqual(self.verdict(alone, "--device", "8.0", "--scope", scope)[0], 2)
            code, results = self.verdict(beside, "--device", "8.0", "--embedded", "error", "--scope", scope)
            self.assertEqual((code, results[0]["containers"]["total"]), (0, 1))
            self.assertEqual(results[0]["embedded"] and results[0]["embedded"]["verdict"], "unknown" if scope == "fatbin" else None)

    def test_one_fat_binary_for_each_architecture(self):
        """bin2c of one nvcc -fatbin for each: the program loads the one that fits."""
        for arch in ("80", "90"):
            self.make("k%s.fatbin" % arch, common.nvcc(), "-gencode=arch=compute_%s,code=sm_%s" % (arch, arch), "-fatbin", "k.cu", "-o",
                      "k%s.fatbin" % arch)
        with open(os.path.join(self.folder, "each.cc"), "w") as file:
            file.write('__asm__(".section .rodata\\n.balign 16\\n.incbin \\"k80.fatbin\\"\\n.balign 16\\n.incbin \\"k90.fatbin\\"\\n.text\\n");\n'
                       'extern "C" const unsigned char blob[] = {1};\n')
        code, results = self.verdict(self.program("each", "each.cc"), "--device", "8.0", "--device",
                                     "9.0", "--device", "7.5")
        self.assertEqual((code, [each["verdict"] for each in results]), (1, ["covered", "covered", "not-covered"]))

    def test_a_fat_binary_for_one_architecture_and_images_for_others(self):
        self.make("k80.fatbin", common.nvcc(), "-gencode=arch=compute_80,code=sm_80", "-fatbin", "k.cu", "-o", "k80.fatbin")
        cubin, ptx = self.image("cubin", "sm_90")[0], self.image("ptx", "compute_100")[0]
        with open(os.path.join(self.folder, "mixed.cc"), "w") as file:
            file.write('__asm__(".section .rodata\\n.balign 16\\n.incbin \\"k80.fatbin\\"\\n.balign 16\\n.incbin \\"%s\\"\\n.byte 0\\n.incbin \\"%s\\"\\n'
                       '.byte 0\\n.text\\n");\nextern "C" const unsigned char blob[] = {1};\n' % (cubin, ptx))
        path = self.make("libmixed.so", "g++", "-shared", "-fPIC", "mixed.cc", "-o", "libmixed.so")
        for device, verdict in (("8.6", "covered"), ("9.0", "covered"), ("12.0", "covered"), ("7.5", "not-covered")):
            with self.subTest(device):
                (result,) = self.verdict(path, "--device", device)[1]
                self.assertEqual(result["verdict"], verdict)

    def test_fat_binaries_for_other_devices_beside_an_image_that_runs(self):
        """A kernel for 9.0 alone takes nothing from the devices that the images are for, with either scope."""
        blob = self.array("special.cpp", self.image("cubin", "sm_80")[1])
        self.make("special.o", common.nvcc(), "-gencode", "arch=compute_90a,code=sm_90a", "-c", "main.cu", "-o", "special.o")
        path = self.make("special", common.nvcc(), "-arch=sm_80", "special.o", blob, "-o", "special")
        for scope in ("fatbin", "library"):
            with self.subTest(scope):
                _, (fits, none) = self.verdict(path, "--scope", scope, "--device", "8.0", "--device", "7.5")
                self.assertEqual((fits["verdict"], fits["embedded"]["fitting"]), ("covered", 1))
                self.assertEqual((none["verdict"], [error["code"] for error in none["errors"]]), ("not-covered", [209]))

    def test_ptx_for_newer_devices_is_told_beside_a_kernel_that_fits(self):
        name, data = self.image("ptx", "compute_90")
        path = self.program("told", self.array("told.cc", data + b"\0"))
        code, results = self.verdict(path, "--device", "8.0", "--device", "9.0")
        self.assertEqual((code, [each["embedded"]["verdict"] for each in results]), (0, ["not-covered", "covered"]))
        self.assertEqual(self.verdict(path, "--device", "8.0", "--embedded", "error")[0], 1)

    def test_what_asks_for_nothing(self):
        _, relocatable = self.image("cubin", "sm_90", "f.cu", "-rdc=true")
        path = self.program("relocatable", self.array("relocatable.cc", relocatable))
        self.holds(path, "sass", "90", relocatable)
        code, results = self.verdict(path, "--device", "8.0")
        self.assertEqual(code, 0)
        self.assertIsNone(results[0]["embedded"])

    def test_debug_and_line_information_is_part_of_the_cubin(self):
        for flags in (["-G"], ["-lineinfo"]):
            _, data = self.image("cubin", "sm_80", "k.cu", *flags)
            name = "debug%s.cc" % flags[0]
            self.holds(self.program(name[:-3], self.array(name, data)), "sass", "80", data)

    def test_programs_of_nvcc_hold_nothing_bare(self):
        """Raw images in fat binaries, with debug information and for linking, are no data of the program."""
        for flags in ([], ["-rdc=true"], ["-G"], ["-lineinfo"], ["--compress-mode=none"], ["-rdc=true", "-G"]):
            output = "plain" + "".join(flags)
            self.make("plain.cu", "sh", "-c", "printf '__global__ void k(int* o) { *o = 1; }\\nint main() { k<<<1, 1>>>(0); }' > plain.cu")
            path = self.make(output, common.nvcc(), "-gencode=arch=compute_80,code=[sm_80,compute_80]", "plain.cu", "-o", output,
                             *flags)
            self.assertEqual([each for each in common.inspect(path) if each.get("bare")], [])


class SystemTest(unittest.TestCase):
    """Programs and libraries that others made: all of this system, so with --full alone."""

    def bare(self, *paths):
        document = json.loads(subprocess.run([common.options.archguard, "inspect", *paths, "--format", "json"],
                                             stdout=subprocess.PIPE, text=True, timeout=550).stdout)
        return {(file["path"], container["offset"]): container["images"][0]["kind"]
                for file in document["files"] for container in file["containers"] if container.get("bare")}

    def test_no_program_of_the_system_is_said_to_hold_any(self):
        self.assertEqual(self.bare("/usr/bin", "/usr/lib"), {})

    def test_nvidias_own(self):
        """Cubins by another search, without those that lie in fat binaries."""
        cubins = {}
        folders = [os.path.join(common.options.toolkit, name) for name in ("lib", "lib64", "bin", "nvvm")]
        folders.append(os.path.join(common.options.cache, "driver-535"))
        files = sorted({os.path.realpath(os.path.join(folder, name)) for top in folders
                        for folder, _, names in os.walk(top) for name in names})
        files = [path for path in files if stat.S_ISREG(os.stat(path).st_mode) and os.path.getsize(path) > 4096]
        files = [path for path in files if not path.endswith((".h", ".hpp", ".a", ".bc", ".cuh"))]
        for path in files:
            with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                inside, end = [], 0
                for magic in re.finditer(rb"\x50\xed\x55\xba\x01\x00\x10\x00", data):
                    if magic.start() >= end:
                        size, = struct.unpack_from("<Q", data, magic.start() + 8)
                        if size % 8 == 0 and magic.start() + 16 + size <= len(data):
                            end = magic.start() + 16 + size
                            inside.append((magic.start(), end))
                for elf in re.finditer(rb"\x7fELF\x02\x01\x01[\x33\x41][\x07\x08]\x00{7}..\xbe\x00", data, re.DOTALL):
                    if not any(begin <= elf.start() < stop for begin, stop in inside):
                        cubins[(path, elf.start())] = "sass"
        found = self.bare(*files)
        self.assertGreater(len(cubins), 80)
        self.assertEqual({place for place, kind in found.items() if kind == "sass"}, set(cubins))
        self.assertLessEqual({os.path.basename(path).split(".so")[0] for (path, _), kind in found.items() if kind == "ptx"},
                             {"libcudnn_graph", "libnvperf_host", "libnvperf_target",
                              "libcuda", "libcupti"})  # in one line: `.version 2.2.target sm_20.entry …{exit;}`

    def test_a_copy_of_the_driver(self):
        """Its device code is its own; a wheel that holds it under a name of its own does not use the installed one."""
        path = os.path.join(common.options.cache, DRIVER)
        if not os.path.exists(path):
            raise unittest.SkipTest("no libcuda; run tests/support/fetch driver-535")
        verify = [common.options.archguard, "verify", "--device", "9.0@13.0"]
        done = subprocess.run([*verify, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("is NVIDIA's driver library, whose device code is its own: not judged", done.stdout)
        # What stands in front of the driver, as Nsight Compute's libcuda-injection.so, has a name of its own.
        for name, is_copy in ((b"libcuda.so.9", True), (b"libcuda-x.so", False)):
            with open(path, "rb") as file, tempfile.NamedTemporaryFile(suffix=".so") as copy:
                copy.write(file.read().replace(b"\0libcuda.so.1\0", b"\0%s\0" % name))
                copy.flush()
                done = subprocess.run([*verify, copy.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual("auditwheel repair --exclude libcuda.so.1" in done.stdout, is_copy, done.stdout)
            self.assertEqual(done.returncode == 2, is_copy, done.stdout)

    def test_other_parts_of_the_driver(self):
        folder = os.path.join(common.options.cache, "driver-535")
        path = os.path.join(common.options.cache, os.path.dirname(DRIVER), "libnvcuvid.so.1")
        if not os.path.exists(path):
            raise unittest.SkipTest("no libnvcuvid; run tests/support/fetch driver-535")
        done = subprocess.run([common.options.archguard, "verify", "--device", "5.0@12.2", path], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertIn("is part of NVIDIA's driver, whose device code is its own: not judged", done.stdout)
        self.assertEqual(done.returncode, 3, done.stdout)


def load_tests(loader, tests, _):
    return tests if common.options.full else loader.loadTestsFromTestCase(EmbeddedTest)


if __name__ == "__main__":
    common.main()
