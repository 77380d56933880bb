"""Separate compilation (-rdc=true) whose linked SASS fits no device: what ArchGuard says of linking again when the
program is loaded, against nvJitLink, which is given the same objects as they stand in the program.
"""
import ctypes
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

import common

CALLER = """
extern __device__ int helper(int);
__global__ void caller(int* p) { *p = helper(*p); }
#ifndef NO_MAIN
int main() { caller<<<1, 1>>>(nullptr); }
#endif
"""
HELPER = """
__device__ int table[4];
__device__ int helper(int x) { return x * 3 + table[x & 3]; }
"""
LAUNCHER = """
__global__ void child(int* p) { *p = 1; }
__global__ void parent(int* p) { child<<<1, 1>>>(p); }
int main() { parent<<<1, 1>>>(nullptr); }
"""
WHOLE = """
__global__ void whole(int* p) { *p = 2; }
void launch_whole() { whole<<<1, 1>>>(nullptr); }
"""
CALLER2 = CALLER.replace("helper", "helper2").replace("caller", "caller2").replace("int main()", "void launch2()")
HELPER2 = HELPER.replace("helper", "helper2").replace("table", "table2")
# In place of the toolkit's headers, which need not suit this clang.
CLANG_HEADER = """
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
struct dim3 { unsigned x, y, z; };
typedef struct CUstream_st* cudaStream_t;
extern "C" int cudaLaunchKernel(const void*, dim3, dim3, void**, unsigned long, cudaStream_t);
extern "C" int __cudaPushCallConfiguration(dim3, dim3, unsigned long = 0, cudaStream_t = nullptr);
extern "C" int __cudaPopCallConfiguration(dim3*, dim3*, unsigned long*, cudaStream_t*);
"""
SOURCES = {"caller.cu": CALLER, "helper.cu": HELPER, "launcher.cu": LAUNCHER, "whole.cu": WHOLE, "caller2.cu": CALLER2,
           "helper2.cu": HELPER2}
DEVICES = ["7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"]
BOTH = ["-gencode", "arch=compute_80,code=[sm_80,compute_80]"]


class NvJitLink:
    """nvJitLink of one release, which compiles and links as a driver of that release does."""
    FATBIN = 4

    def __init__(self, release):
        found = glob.glob(os.path.join(common.options.cache, "nvjitlink-" + release, "**", "libnvJitLink.so.*"), recursive=True)
        if not found:
            raise unittest.SkipTest("no nvJitLink; run tests/support/fetch nvjitlink-" + release)
        library, suffix = ctypes.CDLL(found[0]), "_" + release.replace(".", "_")
        names = ("Create", "Destroy", "AddData", "Complete")
        self.create, self.destroy, self.add, self.complete = [getattr(library, "__nvJitLink" + name + suffix) for name in names]
        self.add.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]

    def links(self, device, objects, optional, *more):
        """Whether all these fat binaries link for the device. Those that are `optional` may be refused. A refusal shows in
        what AddData returns alone: Complete may return 0 after one. `more`: options."""
        handle = ctypes.c_void_p()
        options = [option.encode() for option in ("-arch=sm_" + device.replace(".", ""), *more)]
        if self.create(ctypes.byref(handle), len(options), (ctypes.c_char_p * len(options))(*options)) != 0:
            raise AssertionError("nvJitLinkCreate refuses " + device)
        try:
            for each in objects:
                if self.add(handle, self.FATBIN, each, len(each), b"object") != 0:
                    return False
            for each in optional:
                self.add(handle, self.FATBIN, each, len(each), b"runtime")
            return self.complete(handle) == 0
        finally:
            self.destroy(ctypes.byref(handle))


    def survives(self, *question):
        """links() in a process of its own: what is damaged may end that (LLVM: out of memory), and is refused then."""
        child = os.fork()
        if child == 0:
            os._exit(0 if self.links(*question) else 1)
        return os.waitpid(child, 0)[1] == 0


def relocatable(path):
    """The relocatable fat binaries of a file: those of its own objects, and libcudadevrt's, which has SASS of many."""
    own, runtime = [], []
    with open(path, "rb") as file:
        data = file.read()
    for container in common.inspect(path):
        if container["relocatable"]:
            images = data[container["offset"]:container["offset"] + container["size"]]
            (runtime if len(container["images"]) > 8 else own).append(images)
    return own, runtime


def verify_devices(path, devices, driver, *arguments, exits=(0, 1)):
    """What is said of each device: its object of the JSON document."""
    command = [common.options.archguard, "verify", path, "--format", "json", *arguments]
    for device in devices:
        command += ["--device", device + ("@" + driver if driver else "")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
    if done.returncode not in exits:
        raise AssertionError(done.stdout + done.stderr)
    (file,) = json.loads(done.stdout)["files"]
    if file["errors"] or len(file["results"]) != len(devices):
        raise AssertionError(done.stdout)
    return dict(zip(devices, file["results"]))


class Separate(unittest.TestCase):
    """What the tests of both classes share."""
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.nvcc_path = common.nvcc()
        cls.folder = tempfile.mkdtemp()
        for name, text in SOURCES.items():
            with open(os.path.join(cls.folder, name), "w") as file:
                file.write(text)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def nvcc(self, output, *arguments, compiler=None):
        path = os.path.join(self.folder, output)
        if not os.path.exists(path):
            common.run([compiler or self.nvcc_path, "-o", output, *arguments], cwd=self.folder)
        return path

    def compile(self, source, name, *flags):
        self.nvcc(name, "-rdc=true", "-Xcompiler", "-fPIC", "-c", source, *flags)
        return name

    def pair(self, name, caller, helper):
        """Two objects, by the flags of each."""
        return [self.compile("caller.cu", name + "_a.o", *caller), self.compile("helper.cu", name + "_b.o", *helper)]

    def verify(self, path, driver, *arguments):
        return verify_devices(path, DEVICES, driver, *arguments)

    def compare(self, path, release="13.0"):
        """Every device for which no linked SASS fits: covered where nvJitLink links the objects, and nowhere else."""
        oracle = NvJitLink(release)
        own, runtime = relocatable(path)
        self.assertTrue(own)
        # What 12.4 does not know, it refuses as an option, not as an input.
        known = [device for device in DEVICES if release >= "13" or device < "9.1" and not device.startswith("1")]
        asked = 0
        for device, result in verify_devices(path, DEVICES, release, exits=(0, 1, 2)).items():
            if device not in known or result["containers"]["sass"]:
                continue
            asked += 1
            with self.subTest(path=os.path.basename(path), device=device, release=release):
                links = oracle.links(device, own, runtime)
                # libcudadevrt, which nothing calls, is left among the objects, and keeps them from being linked.
                hindered = links and not oracle.links(device, own + runtime, [])
                self.assertEqual(result["verdict"], "unknown" if hindered else "covered" if links else "not-covered", result)
                self.assertEqual(result["linked_at_load"], links and not hindered)
        self.assertGreater(asked, 0)
        return asked


class LinkTest(Separate):
    def test_two_objects(self):
        objects = self.pair("both", BOTH, BOTH)
        self.compare(self.nvcc("both", "-arch=sm_80", *objects))

    def test_an_older_driver(self):
        objects = self.pair("both", BOTH, BOTH)
        self.compare(self.nvcc("both", "-arch=sm_80", *objects), "12.4")
        self.compare(self.nvcc("both", "-arch=sm_80", *objects), "13.5")

    def test_ptx_alone(self):
        ptx = ["-gencode", "arch=compute_80,code=compute_80"]
        self.compare(self.nvcc("ptx", "-gencode", "arch=compute_80,code=compute_80", *self.pair("ptx", ptx, ptx)))

    def test_an_object_without_ptx(self):
        objects = self.pair("lacks", BOTH, ["-gencode", "arch=compute_80,code=sm_80"])
        path = self.nvcc("lacks", "-arch=sm_80", *objects)
        self.compare(path)
        (error,) = self.verify(path, "13.0")["9.0"]["errors"]
        self.assertIsNone(error["code"])
        self.assertRegex(error["cause"], r"object .*lacks\(__nv_relfatbin\+0x[0-9a-f]+\), '_.*helper_cu.*', holds sm_80 cubin")

    def test_sass_of_one_and_ptx_of_the_other(self):
        objects = self.pair("mixed", BOTH, ["-gencode", "arch=compute_90,code=sm_90"])
        linked = self.nvcc("mixed", "-arch=sm_80", "-Wno-deprecated-gpu-targets", *objects[:1],
                           self.compile("helper.cu", "mixed_c.o", *BOTH))
        self.compare(linked)

    def test_link_time_optimization(self):
        nvcc = common.nvcc_with_libnvvm()
        lto = ["-gencode", "arch=compute_80,code=lto_80"]
        with_ptx = ["-gencode", "arch=compute_80,code=[lto_80,compute_80]"]
        for name, flags in (("lto", lto), ("lto_ptx", with_ptx)):
            objects = self.pair(name, flags, flags)
            self.nvcc(name + "_link.o", "-dlink", "-dlto", "-arch=sm_80", "-Xcompiler", "-fPIC", *objects, compiler=nvcc)
            path = os.path.join(self.folder, name + ".so")
            common.run(["g++", "-shared", "-o", path, *objects, name + "_link.o"], cwd=self.folder)
            self.compare(path)

    def test_damaged_ltoir(self):
        """Bytes of LTO-IR that were overwritten are found where nvJitLink finds them, and what is whole is covered."""
        oracle, nvcc = NvJitLink("13.5"), common.nvcc_with_libnvvm()
        for mode in ("default", "none", "speed", "size"):
            path = self.nvcc("lto_%s.o" % mode, "-rdc=true", "-c", "--compress-mode=" + mode, "-gencode",
                             "arch=compute_80,code=lto_80", "helper.cu", compiler=nvcc)
            (container,) = common.inspect(path)
            (image,) = container["images"]
            with open(path, "rb") as file:
                whole = file.read()
            end = container["offset"] + container["size"]
            begin = end - (image["size"] + 7) // 8 * 8
            size = image["size"]
            spans = {"all": (0, size), "beginning": (0, 64), "half": (size // 2, size - size // 2)}
            spans.update(("block %d" % at, (at, 256)) for at in range(64, size - 256, 256))
            self.assertEqual(verify_devices(path, ["8.6", "9.0"], "13.5")["9.0"]["verdict"], "covered")
            self.assertTrue(oracle.links("9.0", [whole[container["offset"]:end]], [], "-lto"))
            damaged = os.path.join(self.folder, "damaged.o")
            for name, (at, count) in spans.items():
                for byte in (b"\0", b"\xff"):
                    data = whole[:begin + at] + byte * count + whole[begin + at + count:]
                    with open(damaged, "wb") as file:
                        file.write(data)
                    with self.subTest(mode, damage=name, byte=byte):
                        self.assertFalse(oracle.survives("9.0", [data[container["offset"]:end]], [], "-lto"))
                        done = subprocess.run([common.options.archguard, "verify", damaged, "--device", "9.0@13.5"],
                                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)
                        self.assertEqual(done.returncode, 2, done.stdout)
                        self.assertIn("LTO-IR", done.stdout)

    def test_fix_of_ltoir(self):
        """The fix of a program that is linked of LTO-IR is done: nvcc takes it, the device is covered, and what was, still is."""
        nvcc, said = common.nvcc_with_libnvvm(), set()
        pattern = (r"nvcc: compile (?:as before|with -dc, (?P<more>.*) too, and code=\[lto_<arch>,compute_<arch>\] in place of -dlto), "
                   r"then link with -dlto, and (?P<link>.*) too\)$")
        by_dlto, by_code = (["-dlto", "-arch=sm_86"], {"-dlto": []}), (["-gencode=arch=compute_86,code=lto_86"], {})
        in_place = {"-arch=sm_86": ["-gencode=arch=compute_86,code=[lto_86,compute_86]"]}
        for name, (flags, dropped) in (("dlto", by_dlto), ("code", by_code)):
            step = "-c" if "-dlto" in flags else "-dc"
            objects = self.lto_objects(name, flags, step)
            program = self.nvcc(name + ".so", "-shared", "-dlto", "-arch=sm_86", *objects, compiler=nvcc)
            before = self.verify(program, "13.0", "--require", "sass")
            for device in ("8.0", "9.0", "10.0"):
                (error,) = before[device]["errors"]
                self.assertTrue(error["fix"].startswith("add %s-real to CMAKE_CUDA_ARCHITECTURES (nvcc: " % device.replace(".", "")))
                found = re.search(pattern, error["fix"])
                self.assertTrue(found, error["fix"])
                said.add((device, bool(found["more"])))
                fixed, done = "%s_%s" % (name, device), flags
                if found["more"]:
                    done = [new for flag in flags for new in {**dropped, **in_place}.get(flag, [flag])] + found["more"].split()
                again = self.nvcc(fixed + ".so", "-shared", "-dlto", "-arch=sm_86", *found["link"].split(),
                                  *self.lto_objects(fixed, done, "-dc" if found["more"] else step), compiler=nvcc)
                with self.subTest(name, device=device):
                    for arguments in (["--require", "sass"], []):
                        old, new = self.verify(program, "13.0", *arguments), self.verify(again, "13.0", *arguments)
                        self.assertEqual(new[device]["verdict"], "covered", new[device])
                        kept = [each for each in DEVICES if old[each]["verdict"] == "covered"]
                        self.assertEqual([each for each in kept if new[each]["verdict"] != "covered"], [])
        self.assertEqual(said, {("8.0", True), ("9.0", False), ("10.0", False)})

    def lto_objects(self, name, flags, step="-dc"):
        return [self.nvcc(name + part, "-Xcompiler", "-fPIC", step, *flags, source, compiler=common.nvcc_with_libnvvm())
                for part, source in (("_a.o", "caller.cu"), ("_b.o", "helper.cu"))]

    def test_device_runtime(self):
        launcher = self.compile("launcher.cu", "launcher.o", *BOTH)
        path = self.nvcc("launcher", "-arch=sm_80", launcher, "-lcudadevrt")
        oracle, results = NvJitLink("13.0"), self.verify(path, "13.0")
        own, runtime = relocatable(path)
        self.assertEqual((len(own), len(runtime)), (1, 1))
        for device, result in results.items():
            if not result["containers"]["sass"]:
                with self.subTest(device):
                    links = oracle.links(device, own + runtime, [])
                    self.assertEqual(result["verdict"], "covered" if links else "not-covered", result)
        self.assertEqual(results["8.7"]["verdict"], "not-covered")


class ToolsTest(Separate):
    """Other linkers and compilers, and what they leave."""

    def test_fix_of_ltoir_in_cmake(self):
        """What LinkTest does with nvcc, with CMake, which passes code=lto_86 where it compiles and -dlto where it links."""
        cmake, nvcc = shutil.which("cmake"), common.nvcc_with_libnvvm()
        if not cmake:
            raise unittest.SkipTest("no cmake on PATH")
        with open(os.path.join(self.folder, "CMakeLists.txt"), "w") as file:
            file.write("cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES CXX CUDA)\nadd_library(app SHARED caller.cu helper.cu)\n"
                       "set_target_properties(app PROPERTIES CUDA_SEPARABLE_COMPILATION ON INTERPROCEDURAL_OPTIMIZATION ON)\n")

        def build(name, architectures):
            folder = os.path.join(self.folder, name)
            common.run([cmake, "-S", self.folder, "-B", folder, "-DCMAKE_CUDA_COMPILER=" + nvcc,
                        "-DCMAKE_CUDA_ARCHITECTURES=" + architectures])
            common.run([cmake, "--build", folder])
            return self.verify(os.path.join(folder, "libapp.so"), "13.0", "--require", "sass")

        before = build("cmake_86", "86-real")
        for device in ("8.0", "9.0"):
            entry = device.replace(".", "") + "-real"
            self.assertTrue(before[device]["errors"][0]["fix"].startswith("add %s to CMAKE_CUDA_ARCHITECTURES (nvcc: " % entry))
            after = build("cmake_" + device, "86-real;" + entry)
            with self.subTest(device):
                self.assertEqual([after[each]["verdict"] for each in (device, "8.6")], ["covered", "covered"])

    def test_linkers(self):
        """The same program from other linkers and after strip says the same."""
        objects = self.pair("both", BOTH, BOTH)
        expected = {device: (each["verdict"], each["linked_at_load"])
                    for device, each in self.verify(self.nvcc("both", "-arch=sm_80", *objects), "13.0").items()}
        variants = {"no-pie": ["-Xcompiler", "-no-pie"], "shared": ["-shared"], "lld": ["-Xcompiler", "-fuse-ld=lld"],
                    "gold": ["-Xcompiler", "-fuse-ld=gold"], "gc": ["-Xlinker", "--gc-sections"], "whole": []}
        for name, flags in variants.items():
            if name in ("lld", "gold") and shutil.which("ld." + name) is None:
                continue
            more = [self.compile_whole()] if name == "whole" else []
            path = self.nvcc("linked_" + name, "-arch=sm_80", *objects, *more, *flags)
            for stripped in (False, True):
                if stripped:
                    common.run(["strip", path])
                with self.subTest(name, stripped=stripped):
                    found = {device: (each["verdict"], each["linked_at_load"])
                             for device, each in self.verify(path, "13.0").items()}
                    self.assertEqual(found, expected)

    def compile_whole(self):
        self.nvcc("whole.o", "-c", "whole.cu", *BOTH)
        return "whole.o"

    def test_what_no_object_defines(self):
        """nvcc does not miss it where it links no SASS: what the driver links, and what it refuses, is what nvJitLink does."""
        kernel = "__global__ void k%s(int* p) { *p = %s; }\n"
        function, variable = "extern __device__ int f(int);\n", "extern __device__ int g;\n"
        main = "int main() { k<<<1, 1>>>(nullptr); }\n"
        through = function + "__device__ int h(int x) { return f(x); }\n"
        programs = {
            "nothing": ["__global__ void k(int* p) { *p = 1; }\n" + main],
            "function": [function + kernel % ("", "f(1)") + main],
            "variable": [variable + kernel % ("", "g") + main],
            "defined": [function + variable + kernel % ("", "f(g)") + main, "__device__ int g; __device__ int f(int x) { return x; }"],
            "static": [function + kernel % ("", "f(1)") + main, "static __device__ int f(int x) { return x; }\n" + kernel % ("2", "f(2)")],
            "no-kernel-reaches-it": [through + kernel % ("", "1") + main],
            "a-function-reaches-it": [through + kernel % ("", "h(1)") + main],
            "another-object-reaches-it": [through, "extern __device__ int h(int);\n" + kernel % ("", "h(1)") + main],
            "pointer": [function + "__device__ int (*fp)(int) = f;\n" + kernel % ("", "1") + main],
            "declared-alone": [function + kernel % ("", "1") + main],
            "built-in": ['#include <cstdio>\n__global__ void k(int* p) { printf("%d", *p); free(malloc(*p)); }\n' + main],
        }
        for name, sources in programs.items():
            for i, text in enumerate(sources):
                with open(os.path.join(self.folder, "undefined_%s_%d.cu" % (name, i)), "w") as file:
                    file.write(text)
            files = ["undefined_%s_%d.cu" % (name, i) for i in range(len(sources))]
            path = self.nvcc("undefined_" + name, "-rdc=true", "-w", "-gencode", "arch=compute_75,code=compute_75", *files)
            self.compare(path)
        path = self.nvcc("no-runtime", "-rdc=true", "-gencode", "arch=compute_75,code=compute_75", "-cudadevrt", "none", "launcher.cu")
        self.compare(path)
        (error,) = verify_devices(path, ["9.0"], "13.0")["9.0"]["errors"]
        self.assertIn("compile and link it for sm_90, too, with libcudadevrt", error["fix"])
        (error,) = verify_devices(os.path.join(self.folder, "undefined_function"), ["9.0"], "13.0")["9.0"]["errors"]
        self.assertEqual(error["fix"], "link the object or library that defines '_Z1fi', too")

    def test_sass_that_wants_what_no_object_defines(self):
        """Which function of relocatable SASS calls which is not read."""
        with open(os.path.join(self.folder, "slow.cu"), "w") as file:
            file.write("extern __device__ int slow(int);\n__global__ void k(int* p) {\n#if __CUDA_ARCH__ < 900\n  *p = 1;\n#else\n"
                       "  *p = slow(1);\n#endif\n}\nint main() { k<<<1, 1>>>(nullptr); }\n")
        self.compile("slow.cu", "slow.o", "-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90")
        results = verify_devices(self.nvcc("slow", "-arch=sm_80", "slow.o"), ["8.0", "9.0"], "13.0", exits=(2,))
        self.assertEqual([each["verdict"] for each in results.values()], ["covered", "unknown"])

    def test_shared_memory_that_the_launch_gives(self):
        """`extern __shared__`, which no object defines, beside a variable that one must."""
        with open(os.path.join(self.folder, "shared.cu"), "w") as file:
            file.write("extern __shared__ int given[];\nnamespace n { extern __shared__ double wide[]; }\n__global__ void k(int* p) {\n"
                       "  given[threadIdx.x] = *p;\n  __syncthreads();\n  *p = given[1] + int(n::wide[2]);\n}\nint main() { k<<<1, 1, 64>>>(nullptr); }\n")
        self.compile("shared.cu", "shared.o", "-gencode", "arch=compute_75,code=sm_75", "-gencode", "arch=compute_80,code=sm_80")
        path = self.nvcc("shared", "-arch=sm_80", "shared.o")
        self.assertGreater(self.compare(path), 1)
        self.assertTrue(self.verify(path, "13.0")["7.5"]["linked_at_load"])
        # One that has a size is another object's.
        with open(os.path.join(self.folder, "sized.cu"), "w") as file:
            file.write("extern __shared__ int sized[16];\n__global__ void s(int* p) { sized[threadIdx.x] = *p; __syncthreads(); *p = sized[1]; }\n"
                       "void launch_s() { s<<<1, 1>>>(nullptr); }\n")
        with open(os.path.join(self.folder, "defines.cu"), "w") as file:
            file.write("#if __CUDA_ARCH__ >= 800\n__shared__ int sized[16];\n#endif\n")
        for name in ("sized", "defines"):
            self.compile(name + ".cu", name + ".o", "-gencode", "arch=compute_75,code=sm_75", "-gencode", "arch=compute_80,code=sm_80")
        path = self.nvcc("with_sized", "-arch=sm_80", "shared.o", "sized.o", "defines.o")
        self.assertNotEqual(verify_devices(path, DEVICES, "13.0", exits=(1, 2))["7.5"]["verdict"], "covered")

    def test_two_device_links(self):
        first = self.pair("both", BOTH, BOTH)
        sass = ["-gencode", "arch=compute_80,code=sm_80"]
        second = [self.compile("caller2.cu", "caller2.o", *sass), self.compile("helper2.cu", "helper2.o", *sass)]
        for name, objects in (("first_link.o", first), ("second_link.o", second)):
            self.nvcc(name, "-dlink", "-arch=sm_80", "-Xcompiler", "-fPIC", *objects)
        library = os.path.join(common.options.toolkit, "lib64")
        for name, order in {"apart": [*first, "first_link.o", *second, "second_link.o"],
                            "together": [*first, *second, "first_link.o", "second_link.o"]}.items():
            path = os.path.join(self.folder, name)
            common.run(["g++", "-o", path, *order, "-L" + library, "-lcudart_static", "-ldl", "-lpthread", "-lrt"],
                       cwd=self.folder)
            with self.subTest(name):
                result = self.verify(path, "13.0")["9.0"]
                self.assertEqual(result["verdict"], "not-covered")  # the second link has no PTX
                self.assertEqual(result["containers"]["linked_at_load"], 1 if name == "apart" else 0)

    def test_objects_whose_code_was_removed_once_it_was_linked(self):
        """TensorFlow's build empties the section of relocatable code in each object, and links the host code then: the device link's SASS is left."""
        objects = self.pair("emptied", BOTH, BOTH)
        link = self.nvcc("emptied_link.o", "-dlink", "-arch=sm_80", *objects)
        for path in objects:
            common.run(["objcopy", "--update-section", "__nv_relfatbin=/dev/null", os.path.join(self.folder, path)], cwd=self.folder)
        library = os.path.join(common.options.toolkit, "lib64")
        path = os.path.join(self.folder, "emptied")
        common.run(["g++", "-o", path, *objects, link, "-L" + library, "-lcudart_static", "-ldl", "-lpthread", "-lrt"], cwd=self.folder)
        results = self.verify(path, "13.0")
        self.assertEqual({device: (each["verdict"], [error["code"] for error in each["errors"]]) for device, each in results.items()
                          if device in ("8.0", "9.0")}, {"8.0": ("covered", []), "9.0": ("not-covered", [209])})

    def test_sections_with_other_names_or_none(self):
        """What registers the objects tells what they are. Without a section table nothing does, and nothing is claimed."""
        objects = self.pair("both", BOTH, BOTH)
        path = self.nvcc("both", "-arch=sm_80", *objects)
        expected = {device: (each["verdict"], each["linked_at_load"]) for device, each in self.verify(path, "13.0").items()}
        common.run(["objcopy", "--rename-section", "__nv_relfatbin=.relf", path, path + "_renamed"])
        found = {device: (each["verdict"], each["linked_at_load"])
                 for device, each in self.verify(path + "_renamed", "13.0").items()}
        self.assertEqual(found, expected)
        script = os.path.join(self.folder, "one.ld")
        with open(script, "w") as file:
            file.write("SECTIONS { .nv_fatbin : { *(.nv_fatbin) *(__nv_relfatbin) } } INSERT AFTER .rodata;\n")
        together = self.nvcc("together", "-arch=sm_80", *objects, "-Xlinker", "-T," + script)
        self.assertEqual({device: (each["verdict"], each["linked_at_load"]) for device, each in self.verify(together, "13.0").items()},
                         expected)
        with open(path, "rb") as file:
            data = bytearray(file.read())
        (table,) = struct.unpack_from("<Q", data, 40)
        data[40:48], data[60:64] = bytes(8), bytes(4)
        with open(path + "_sstripped", "wb") as file:
            file.write(data[:table])
        for device in ("8.0", "9.0"):
            done = subprocess.run([common.options.archguard, "verify", path + "_sstripped", "--device", device], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertNotIn("error 2", done.stdout)

    def test_objects_that_nobody_linked_for_the_device(self):
        """A host link takes them where something else defines what the device link would."""
        objects = self.pair("both", BOTH, BOTH)
        names = re.findall(r"__cudaRegisterLinkedBinary\w+", common.run(["nm", "-u", *objects], cwd=self.folder))
        with open(os.path.join(self.folder, "stubs.c"), "w") as file:
            file.writelines("void %s(void) {}\n" % name for name in names)
        path = os.path.join(self.folder, "not_linked")
        common.run(["g++", "-x", "c", "stubs.c", "-x", "none", *objects, "-o", path, "-L" + os.path.join(common.options.toolkit, "lib64"),
                    "-lcudart_static", "-ldl", "-lpthread", "-lrt"], cwd=self.folder)
        done = subprocess.run([common.options.archguard, "verify", path, "--device", "8.0"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("was not device-linked: the file registers no device link", done.stdout)

    def test_what_no_host_code_names(self):
        """nvlink leaves such kernels out, and such variables make a warning; but not where an object does not tell."""
        kernel = "__device__ int v; __global__ void k(int* p) { *p = v; }\n"
        for name, text in {"unnamed.cu": kernel, "empty.cc": "void nothing() {}\n",
                           "named.cu": kernel + "void f(int* p) { k<<<1, 1>>>(p); cudaMemcpyToSymbol(v, p, 4); }\n"}.items():
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
        both = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90"]
        program = self.pair("names", both, both)
        for name, more, expected in (("unnamed", [], ("covered", [], ["v"], [])),
                                     ("named", [], ("not-covered", ["v"], [], [500, 500])),
                                     ("unnamed", ["empty.cc"], ("not-covered", ["v"], [], [500, 500]))):
            other = self.compile(name + ".cu", name + ".o", "-gencode", "arch=compute_90,code=sm_90")
            result = self.verify(self.nvcc(name + "".join(more), *both, *program, other, *more), "13.0")["8.0"]
            found = (result["verdict"], result["variables"]["missing"], result["variables"]["unnamed"],
                     sorted(error["code"] for error in result["errors"]))
            with self.subTest(name, more=more):
                self.assertEqual(found, expected)

    def test_variables_that_nothing_registers(self):
        """nvcc registers what it sees for the last architecture of its list: where that lacks a variable, no device has it."""
        with open(os.path.join(self.folder, "tables.cu"), "w") as file:
            file.write("#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 890\nstatic __device__ int static_table[4];\n__constant__ int constant_table[4];\n"
                       "namespace { __device__ int unnamed_table[4]; }\nnamespace n { __managed__ int managed_value; }\n#define READ static_table[1] + constant_table[1] + unnamed_table[1] + n::managed_value\n"
                       "int use(int* x) {\n#ifndef __CUDA_ARCH__\n  n::managed_value = 1;\n  return cudaMemcpyToSymbol(static_table, x, 16) + "
                       "cudaMemcpyToSymbol(constant_table, x, 16) + cudaMemcpyToSymbol(unnamed_table, x, 16);\n#endif\n}\n#else\n#define READ 1\n#endif\n"
                       "__global__ void k(int* p) { *p = READ; }\nint main() { k<<<1, 1>>>(nullptr); }\n")
        old, new = (["-gencode", "arch=compute_%s,code=sm_%s" % (arch, arch)] for arch in ("80", "90"))
        for name, order, missing in (("old-last", new + old, [0, 4]), ("new-last", old + new, [4, 4])):
            results = verify_devices(self.nvcc(name, "-w", "-rdc=true", *order, "tables.cu"), ["8.0", "9.0"], None)
            with self.subTest(name):
                self.assertEqual([len(each["variables"]["missing"]) for each in results.values()], missing)

    def test_variables_of_one_architecture(self):
        """No host code can name them, in a library either."""
        with open(os.path.join(self.folder, "one.cu"), "w") as file:
            file.write("__constant__ int both[4] = {1};\n__global__ void k(int* p) { *p = both[*p & 3]; }\n#if __CUDA_ARCH__ >= 900\n__constant__ int only[4] = {1};\n"
                       "__device__ int alone;\n__global__ void nine(int* p) { *p = only[*p & 3] + alone; }\n#endif\n"
                       "int use() { k<<<1, 1>>>(nullptr); return cudaMemcpyToSymbol(both, \"abc\", 4); }\nint main() { return use(); }\n")
        old, new = (["-gencode", "arch=compute_%s,code=sm_%s" % (arch, arch)] for arch in ("80", "90"))
        for kind, options in (("one-program", []), ("one-library", ["-shared", "-Xcompiler", "-fPIC"])):
            result = verify_devices(self.nvcc(kind, "-w", "-rdc=true", *options, *new, *old, "one.cu"), ["8.0"], None)["8.0"]
            with self.subTest(kind):
                self.assertEqual((result["verdict"], result["variables"]["unnamed"]), ("covered", ["alone", "only"]))

    def test_what_is_static_in_a_library(self):
        """No other file can name it, also where host code could have and does not."""
        with open(os.path.join(self.folder, "static.cu"), "w") as file:
            file.write("#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900\nstatic __device__ int alone[4];\nnamespace { __device__ int inner[4]; }\n"
                       "__device__ int open[4];\n#define READ alone[*p & 3] + inner[*p & 3] + open[*p & 3]\n#else\n#define READ 1\n#endif\n"
                       "__global__ void k(int* p) { *p = READ; }\nint use() {\n  k<<<1, 1>>>(nullptr);\n#if defined(NAMES) && !defined(__CUDA_ARCH__)\n"
                       "  cudaMemcpyToSymbol(alone, \"abc\", 4); cudaMemcpyToSymbol(inner, \"abc\", 4);\n#endif\n  return 0;\n}\n")
        both = (option for arch in ("80", "90") for option in ("-gencode", "arch=compute_%s,code=sm_%s" % (arch, arch)))
        options = ["-w", "-rdc=true", "-shared", "-Xcompiler", "-fPIC", *both, "static.cu"]
        for name, more, missing in (("static-alone", [], 0), ("static-named", ["-DNAMES"], 2)):
            result = verify_devices(self.nvcc(name, *options, *more), ["8.0"], None)["8.0"]
            with self.subTest(name):
                self.assertEqual((len(result["variables"]["missing"]), len(result["variables"]["unnamed"])), (missing, 3 - missing))

    def test_an_instance_that_no_host_code_launches(self):
        """Device code launches it neither, with libcudadevrt or without: nvlink would not find it."""
        with open(os.path.join(self.folder, "seen.cu"), "w") as file:
            file.write("struct H {}; struct G {};\ntemplate <class T, int N> __global__ void k(float* p) { *p = N; }\n__global__ void child(float* p) { *p = 1; }\n"
                       "__global__ void parent(float* p) {\n#ifdef LAUNCH\n  child<<<1, 1>>>(p);\n#else\n  *p = 2;\n#endif\n}\n"
                       "int main() {\n  k<G, 1><<<1, 1>>>(nullptr);\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n  k<H, 2><<<1, 1>>>(nullptr);\n#endif\n"
                       "  parent<<<1, 1>>>(nullptr);\n}\n")
        old, new = (["-gencode", "arch=compute_%s,code=sm_%s" % (arch, arch)] for arch in ("80", "90"))
        for name, options in (("seen", []), ("launching", ["-DLAUNCH"])):
            results = verify_devices(self.nvcc("instance-" + name, "-w", "-rdc=true", *options, *new, *old, "seen.cu"), ["8.0", "9.0"], None)
            with self.subTest(name):
                self.assertEqual([each["verdict"] for each in results.values()], ["covered"] * 2)

    def test_static_device_library(self):
        """CMake's CUDA_RESOLVE_DEVICE_SYMBOLS: the archive holds the device link beside its objects."""
        objects = self.pair("both", BOTH, BOTH)
        self.nvcc("archive_link.o", "-dlink", "-arch=sm_80", "-Xcompiler", "-fPIC", *objects)
        path = os.path.join(self.folder, "archive.a")
        common.run(["ar", "rcs", path, *objects, "archive_link.o"], cwd=self.folder)
        results = self.verify(path, "13.0")
        self.assertEqual(results["8.0"]["verdict"], "covered")
        self.assertTrue(results["9.0"]["linked_at_load"])
        self.assertEqual(results["7.5"]["verdict"], "not-covered")
        program = self.verify(self.nvcc("archive_program", "-arch=sm_80", *objects), "13.0")
        for device in ("8.0", "9.0", "7.5"):  # what is in the archive counts once
            for counts in ("containers", "kernels"):
                self.assertEqual(results[device][counts], program[device][counts])

    def test_static_device_library_that_launches(self):
        """libcudadevrt comes with the program's link, and is not in the archive."""
        launcher = self.compile("launcher.cu", "launcher.o", *BOTH)
        self.nvcc("launcher_link.o", "-dlink", "-arch=sm_80", "-Xcompiler", "-fPIC", launcher, "-lcudadevrt")
        path = os.path.join(self.folder, "launching.a")
        common.run(["ar", "rcs", path, launcher, "launcher_link.o"], cwd=self.folder)
        archive = self.verify(path, "13.0")
        program = self.verify(self.nvcc("launching", "-arch=sm_80", launcher, "-lcudadevrt"), "13.0")
        for device in ("8.0", "9.0", "10.0", "7.5"):
            self.assertEqual(archive[device]["verdict"], program[device]["verdict"])
        self.assertTrue(archive["9.0"]["linked_at_load"])

    def test_objects(self):
        """PTX in objects counts for linking, as nvlink takes it; an object of functions alone is asked for too."""
        for name, helper in {"both": BOTH, "lacks": ["-gencode", "arch=compute_80,code=sm_80"]}.items():
            objects = self.pair(name, BOTH, helper)
            for device in ("8.0", "8.6", "9.0", "12.0", "7.5"):
                command = [os.path.join(os.path.dirname(self.nvcc_path), "nvlink"), "--arch=sm_" + device.replace(".", ""),
                           *objects, "-o", "linked.cubin"]
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
                verdicts = [subprocess.run([common.options.archguard, "verify", each, "--device", device], cwd=self.folder,
                                           stdout=subprocess.PIPE).returncode for each in objects]
                with self.subTest(name, device=device):
                    linked = done.returncode == 0 and "not found" not in done.stderr
                    self.assertEqual(max(verdicts), 0 if linked else 1, done.stderr)

    def test_objects_that_ld_joined(self):
        """nvlink reads the first fat binary of each object alone, and says nothing."""
        objects = [self.compile("caller.cu", "joined_a.o", *BOTH), self.compile("caller2.cu", "joined_b.o", *BOTH)]
        helpers = [self.compile("helper.cu", "joined_h.o", *BOTH), self.compile("helper2.cu", "joined_h2.o", *BOTH)]
        for linker in ("ld", "g++", "ld.lld"):
            with self.subTest(linker):
                common.run([linker, "-r", *objects, "-o", "joined.o"], cwd=self.folder)
                common.run(["ar", "rcs", "libjoined.a", "joined.o"], cwd=self.folder)
                program = self.nvcc("joined_by_" + linker, "-arch=sm_80", "joined.o", *helpers)
                dumped = common.run([common.cuobjdump(), "-elf", program])
                self.assertIn(".text._Z6callerPi", dumped)
                self.assertNotIn(".text._Z7caller2Pi", dumped)
                results = self.verify(program, None)
                self.assertEqual((results["8.6"]["verdict"], results["8.6"]["kernels"]["missing"]), ("not-covered", ["_Z7caller2Pi"]))
                self.assertEqual(results["9.0"]["verdict"], "covered", "the driver links all objects again")
                for name in ("joined.o", "libjoined.a"):
                    done = subprocess.run([common.options.archguard, "verify", name, "--device", "8.0"], cwd=self.folder,
                                          stdout=subprocess.PIPE, text=True)
                    self.assertEqual(done.returncode, 2, done.stdout)
                    self.assertIn("nvlink reads the first alone", done.stdout)
        # What they were device-linked to before is read by nobody anymore.
        self.nvcc("joined_link.o", "-dlink", "-arch=sm_80", *objects, *helpers)
        common.run(["ld", "-r", *objects, *helpers, "joined_link.o", "-o", "all.o"], cwd=self.folder)
        self.assertEqual(self.verify(os.path.join(self.folder, "all.o"), None)["8.6"]["verdict"], "covered")

    def test_a_static_library_in_a_program_and_its_library(self):
        """Both count its objects by functions of one name, and the loader takes the program's: the library registers nothing. With
        -Bsymbolic it takes its own, and the program, whose linker took the object of the library, none."""
        sources = {"common.cu": "__device__ int plus(int x) { return x + 1; }\n",
                   "plug.cu": "extern __device__ int plus(int); __global__ void plugged(int* p) { *p = plus(*p); }\n"
                              "void plug() { plugged<<<1, 1>>>(nullptr); }\n",
                   "host.cu": "extern __device__ int plus(int); __global__ void hosted(int* p) { *p = plus(*p); }\nvoid plug();\n"
                              "int main() { hosted<<<1, 1>>>(nullptr); plug(); }\n"}
        for name, text in sources.items():
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
            self.nvcc(name[:-3] + ".two.o", "-rdc=true", "-arch=sm_80", "-Xcompiler=-fPIC", "-c", name)
        common.run(["ar", "rcs", "libcommon.a", "common.two.o"], cwd=self.folder)
        for options, both in (([], True), (["-Xlinker=--exclude-libs,ALL"], True), (["-Xlinker=-Bsymbolic"], False),
                              (["-Xlinker=-Bsymbolic-functions"], False)):
            with self.subTest(options):
                for name in ("libplug.so", "two"):
                    if os.path.exists(os.path.join(self.folder, name)):
                        os.remove(os.path.join(self.folder, name))
                self.nvcc("libplug.so", "-shared", "-arch=sm_80", "plug.two.o", "-L.", "-lcommon", "-cudart=shared", *options)
                program = self.nvcc("two", "-arch=sm_80", "host.two.o", "-L.", "-lplug", "-lcommon", "-cudart=shared",
                                    "-Xlinker=-rpath,$ORIGIN")
                done = subprocess.run([common.options.archguard, "verify", program, "--needed", "--device", "8.0"],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.folder)
                said = "libplug.so: registers none of its separately compiled device code beside " + program
                self.assertEqual((done.returncode, said in done.stdout), (2, both), done.stdout)
                elsewhere = "two: its device link counts on an object of another file, __fatbinwrap_"
                self.assertEqual(elsewhere in done.stdout, "--exclude-libs" not in str(options), done.stdout)

    def test_the_device_runtime_in_a_program_and_its_library(self):
        """nvcc adds libcudadevrt to both, of which the program takes the library's objects, and nobody can leave it out of one."""
        source = "__global__ void child_%s(int* p) { *p = 1; }\n__global__ void parent_%s(int* p) { child_%s<<<1, 1>>>(p); }\n"
        for name, text in {"inner": "void inner() { parent_inner<<<1, 1>>>(nullptr); }", "outer": "void inner();\nint main() { parent_outer<<<1, 1>>>(nullptr); inner(); }"}.items():
            with open(os.path.join(self.folder, name + ".cu"), "w") as file:
                file.write(source % ((name,) * 3) + text)
        def said(*options):
            for name in ("libinner.so", "outer"):
                if os.path.exists(os.path.join(self.folder, name)):
                    os.remove(os.path.join(self.folder, name))
            self.nvcc("libinner.so", "-shared", "-rdc=true", "-arch=sm_80", "-Xcompiler=-fPIC", "inner.cu", "-cudart=shared", *options)
            program = self.nvcc("outer", "-rdc=true", "-arch=sm_80", "outer.cu", "-L.", "-linner", "-cudart=shared", "-Xlinker=-rpath,$ORIGIN")
            done = subprocess.run([common.options.archguard, "verify", program, "--needed", "--device", "8.0"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, cwd=self.folder)
            return done.returncode, done.stdout
        code, text = said()
        self.assertEqual(code, 2, text)
        fixes = set(re.findall("to itself: nvcc (.*)", text))
        self.assertEqual(len(fixes), 1, text)
        code, text = said(*fixes.pop().split())
        self.assertEqual(code, 0, text)

    def test_kernels_used(self):
        """nvlink keeps what these options name alone, though host code names the others."""
        with open(os.path.join(self.folder, "used.cu"), "w") as file:
            file.write("__device__ int dv;\n__global__ void one(int* p) { *p = dv; }\n__global__ void two(int* p) { *p = 2; }\n"
                       "template <class T> __global__ void of(T* p) { *p = 3; }\n"
                       "int main() { one<<<1, 1>>>(nullptr); two<<<1, 1>>>(nullptr); of<float><<<1, 1>>>(nullptr); "
                       "cudaMemcpyToSymbol(dv, \"four\", 4); }\n")
        kernels = {"_Z3onePi", "_Z3twoPi", "_Z2ofIfEvPT_"}
        for option, kept in {"": kernels, "--kernels-used=_Z3onePi": {"_Z3onePi"}, "--kernels-used=none": set(),
                             "--variables-used=dv": set()}.items():
            with self.subTest(option):
                path = self.nvcc("used" + option, "-rdc=true", "-arch=sm_80", "used.cu", *(["-Xnvlink", option] if option else []))
                dumped = common.run([common.cuobjdump(), "-symbols", "-arch", "sm_80", path])
                self.assertEqual({name for name in kernels if re.search(r"FUNC .*\b%s\b" % name, dumped)}, kept)
                result = verify_devices(path, ["8.0"], None)["8.0"]
                self.assertEqual(set(result["kernels"]["missing"]), kernels - kept)
                self.assertEqual(result["verdict"], "not-covered" if kernels - kept else "covered")

    def test_ltoir_objects_that_ld_joined(self):
        """Which kernels LTO-IR has is not read: what host code registers, and no image holds, is missing."""
        nvcc = common.nvcc_with_libnvvm()
        objects = [self.nvcc("joined_lto_%d.o" % i, "-dlto", "-arch=sm_80", "-c", source, compiler=nvcc)
                   for i, source in enumerate(("caller.cu", "caller2.cu", "helper.cu", "helper2.cu"))]
        common.run(["ld", "-r", *objects[:2], "-o", "joined_lto.o"], cwd=self.folder)
        apart = self.nvcc("apart_lto", "-dlto", "-arch=sm_80", *objects, compiler=nvcc)
        program = self.nvcc("joined_lto", "-dlto", "-arch=sm_80", "joined_lto.o", *objects[2:], compiler=nvcc)
        for path, missing in ((apart, []), (program, ["_Z7caller2Pi"])):
            result = verify_devices(path, ["8.0"], None)["8.0"]
            self.assertEqual((result["verdict"], result["kernels"]["missing"]), ("not-covered" if missing else "covered", missing))

    def test_kernels_that_device_code_launches_on_some_architectures(self):
        """On others nvlink leaves them out, and libcudadevrt with them: host code names neither."""
        with open(os.path.join(self.folder, "some.cu"), "w") as file:
            file.write("__global__ void child(int* p) { *p = 1; }\n__global__ void other(int* p) { *p = 3; }\n"
                       "__global__ void parent(int* p) {\n#if __CUDA_ARCH__ >= 900\n  child<<<1, 1>>>(p);\n#else\n  *p = 2;\n#endif\n}\n"
                       "#ifdef HOST\nvoid launch() { child<<<1, 1>>>(nullptr); }\n#endif\n"
                       "int main() { parent<<<1, 1>>>(nullptr); other<<<1, 1>>>(nullptr); }\n")
        both = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90"]
        path = self.nvcc("some", "-rdc=true", *both, "some.cu")
        held = {cubin: common.run([common.cuobjdump(), "-symbols", "-arch", cubin, path]) for cubin in ("sm_80", "sm_90")}
        self.assertEqual(["_Z5childPi" in held[cubin] for cubin in held], [False, True])
        results = verify_devices(path, ["8.0", "9.0"], None)
        self.assertEqual([(each["verdict"], each["kernels"]["missing"], each["variables"]["missing"]) for each in results.values()],
                         [("covered", [], [])] * 2)
        self.assertEqual(results["8.0"]["kernels"]["total"], 2)
        # Where host code launches it, nvlink keeps it.
        path = self.nvcc("some-host", "-rdc=true", "-DHOST", *both, "some.cu")
        self.assertEqual(verify_devices(path, ["8.0"], None)["8.0"]["kernels"], {"total": 3, "covered": 3, "missing": [], "hollow": []})

    def test_expectations(self):
        """What was asked for is in a linked program, and nothing more is asked."""
        objects = self.pair("both", BOTH, BOTH)
        path = self.nvcc("both", "-arch=sm_80", *objects)
        for arguments in (["--expect", "80"], ["--require-ptx", "--device", "8.0"],
                          ["--expect", "80", "--require-ptx", "--device", "9.0"]):
            with self.subTest(arguments):
                common.run([common.options.archguard, "verify", path, *arguments])
        ptx = self.nvcc("ptx", "-gencode", "arch=compute_80,code=compute_80",
                        *self.pair("ptx", *[["-gencode", "arch=compute_80,code=compute_80"]] * 2))
        common.run([common.options.archguard, "verify", ptx, "--expect", "80-virtual"])
        # By itself, what nvcc -dlink makes holds SASS alone; PTX is its objects'.
        linked = self.nvcc("linked.o", "-arch=sm_80", "-dlink", *objects)
        for arguments in ([linked, "--expect", "80-real"], [linked, *objects, "--expect", "80"]):
            common.run([common.options.archguard, "verify", *arguments], cwd=self.folder)
        done = subprocess.run([common.options.archguard, "verify", linked, "--expect", "90-real"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("linked.o(.nv_fatbin+0x0): lacks SASS of sm_90", done.stdout)
        for arguments, said in ((["--expect", "80"], "what 'nvcc -dlink' makes is checked for PTX with its objects only"),
                                (["--require-ptx", "--device", "8.0"], "fix: verify the program or library that it is linked into")):
            done = subprocess.run([common.options.archguard, "verify", linked, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 1, done.stdout)  # PTX is not there
            self.assertIn(said, done.stdout)

    def test_expectations_of_a_link_of_ltoir(self):
        """Objects of LTO-IR alone do not tell their kernels; what was linked of them holds SASS."""
        lto = ["-gencode", "arch=compute_80,code=lto_80"]
        objects = self.pair("expected", lto, lto)
        path = self.nvcc("expected_lto", "-dlto", "-gencode", "arch=compute_80,code=sm_80", *objects, compiler=common.nvcc_with_libnvvm())
        for asked, code in (("80-real", 0), ("80-real;90-real", 1), ("80", 1)):
            done = subprocess.run([common.options.archguard, "verify", path, "--expect", asked], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, code, done.stdout)

    def test_a_library_that_is_linked_when_it_is_loaded(self):
        """In scope library its kernels count as those of any other: not those that do nothing."""
        with open(os.path.join(self.folder, "library.cu"), "w") as file:
            file.write("".join("__global__ void k%d(float* x) {\n#if __CUDA_ARCH__ >= 900%s\n  *x = %d;\n#endif\n}\n" % (i, " || defined(ONE)" if i == 0 else "", i)
                               for i in range(60)))
        for kind in ("true", "false"):
            for one, verdict, code in (("-UONE", "not-covered", 209), ("-DONE", "not-covered", None)):
                path = self.nvcc("library%s%s.so" % (kind, one), "-rdc=" + kind, one, "-shared", "-Xcompiler", "-fPIC", "-gencode",
                                 "arch=compute_80,code=compute_80", "-gencode", "arch=compute_90,code=sm_90", "library.cu")
                with self.subTest(kind=kind, one=one):
                    found = verify_devices(path, ["8.6", "9.0"], "13.0", "--scope", "library")
                    self.assertEqual((found["8.6"]["verdict"], [error["code"] for error in found["8.6"]["errors"]]), (verdict, [code]))
                    self.assertEqual(found["9.0"]["verdict"], "covered")

    def test_what_the_ptx_of_an_object_alone_has(self):
        """The device link holds sm_80 alone: of 80-real and 90-virtual, or of objects for more than is linked."""
        newer = "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900\n%s#endif\n"
        with open(os.path.join(self.folder, "newer.cu"), "w") as file:
            file.write(newer % "__device__ float table[4], table_more[4];\n__global__ void fp8(float* x) { *x = table_more[1]; }\n" + "__global__ void common(float* x) {\n" + newer % "  *x = 1;\n" + "}\n" +
                       newer % "void use(float* x) { cudaMemcpyToSymbol(table, x, 16); fp8<<<1, 1>>>(x); }\n" + "int main() { common<<<1, 1>>>(nullptr); }\n")
        sass, ptx, both = (["-gencode", "arch=compute_%s,code=%s" % each] for each in (("80", "sm_80"), ("90", "compute_90"), ("90", "sm_90")))
        self.nvcc("newer.o", "-c", "-rdc=true", *sass, *both, "newer.cu")
        for name, arguments in (("newer_ptx", [*sass, *ptx, "newer.cu"]), ("newer_sass", [*sass, *both, "newer.cu"]), ("newer_link", [*sass, "newer.o"]),
                                ("newer.so", ["-shared", "-Xcompiler", "-fPIC", *sass, *ptx, "newer.cu"])):
            path = self.nvcc(name, "-rdc=true", *arguments)
            with self.subTest(name):
                found = verify_devices(path, ["8.0"], "13.0")["8.0"]
                self.assertEqual([error["code"] for error in found["errors"]], [500, 500])
                self.assertEqual(found["variables"]["missing"], ["table"])  # not what device code names by itself
                self.assertEqual((found["kernels"]["missing"], found["kernels"]["hollow"]), (["_Z3fp8Pf"], ["_Z6commonPf"]))

    def test_what_ltoir_alone_has(self):
        """It shows in what was linked of it; the driver links PTX again, which lacks it."""
        newer = "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900\n%s#endif\n"
        with open(os.path.join(self.folder, "newer_lto.cu"), "w") as file:
            file.write(newer % "__device__ float table[4];\n__global__ void fp8(float* x) { *x = table[1]; }\n" + "__global__ void common(float* x) { *x = 1; }\n" +
                       newer % "void use(float* x) { cudaMemcpyToSymbol(table, x, 16); fp8<<<1, 1>>>(x); }\n" + "int main() { common<<<1, 1>>>(nullptr); }\n")
        nvcc = common.nvcc_with_libnvvm()
        self.nvcc("newer_lto.o", "-c", "-rdc=true", "-gencode", "arch=compute_80,code=compute_80", "-gencode", "arch=compute_90,code=lto_90", "newer_lto.cu", compiler=nvcc)
        path = self.nvcc("newer_lto", "-dlto", "-gencode", "arch=compute_90,code=sm_90", "newer_lto.o", compiler=nvcc)
        for device, found in verify_devices(path, ["8.0", "12.0"], "13.0").items():
            with self.subTest(device):
                self.assertTrue(found["linked_at_load"])
                self.assertEqual([error["code"] for error in found["errors"]], [500, 500])
                self.assertIn("what was linked of their LTO-IR has it", found["errors"][0]["cause"])
                self.assertEqual((found["kernels"]["missing"], found["variables"]["missing"]), (["_Z3fp8Pf"], ["table"]))
        # Nothing is missing where PTX and LTO-IR hold the same.
        objects = [self.compile(source, "same_" + source + ".o", "-gencode", "arch=compute_80,code=compute_80", "-gencode", "arch=compute_90,code=lto_90")
                   for source in ("caller.cu", "helper.cu")]
        path = self.nvcc("same_lto", "-dlto", "-gencode", "arch=compute_90,code=sm_90", *objects, compiler=nvcc)
        self.assertEqual({device: found["verdict"] for device, found in verify_devices(path, ["8.0", "12.0"], "13.0").items()}, {"8.0": "covered", "12.0": "covered"})

    def test_kernels_that_several_objects_of_a_library_hold(self):
        """Each counts once; those of the device runtime are there on each device."""
        new = "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900\n%svoid run(float* x) {\n%s}\n#endif\n" % (
            "".join("__global__ void k%d(float* x) { *x = 1; }\n" % i for i in range(60)), "".join("  k%d<<<1, 1>>>(x);\n" % i for i in range(60)))
        shared = "template <int N> __global__ void shared(float* x) { *x = N; }\nvoid name%d(float* x) { shared<1><<<1, 1>>>(x); shared<2><<<1, 1>>>(x); }\n"
        launches = "__global__ void child(float* x) { *x = 1; }\n__global__ void parent(float* x) { child<<<1, 1>>>(x); }\n"
        flags = ["-rdc=true", "-Xcompiler", "-fPIC", "-gencode", "arch=compute_80,code=compute_80", "-gencode", "arch=compute_90,code=sm_90"]
        objects = []
        for n in range(8):
            with open(os.path.join(self.folder, "several%d.cu" % n), "w") as file:
                file.write(shared % n + (new if n == 0 else ""))
            objects.append(self.nvcc("several%d.o" % n, "-c", *flags, "several%d.cu" % n))
        with open(os.path.join(self.folder, "launches.cu"), "w") as file:
            file.write(launches)
        for name, parts, verdict in (("several.so", objects, "not-covered"), ("launches.so", ["launches.cu"], "covered")):
            path = self.nvcc(name, "-shared", *flags, *parts)
            with self.subTest(name):
                found = verify_devices(path, ["8.6"], "13.0", "--scope", "library")["8.6"]
                self.assertEqual((found["verdict"], found["containers"]["linked_at_load"]), (verdict, 1))

    def test_relocatable_cubin_by_itself(self):
        """As a file and in a fat binary it is the same to a driver."""
        for output, form in (("rel.cubin", "-cubin"), ("rel.fatbin", "-fatbin")):
            path = self.nvcc(output, form, "-rdc=true", "-gencode", "arch=compute_80,code=sm_80", "caller.cu")
            said = [subprocess.run([common.options.archguard, "verify", path, "--device", device], stdout=subprocess.PIPE).returncode
                    for device in ("8.0", "9.0")]
            with self.subTest(output):
                self.assertEqual(said, [2, 1])

    def test_reloc_ptx(self):
        objects = self.pair("both", BOTH, BOTH)
        path = self.nvcc("reloc_ptx", "-reloc-ptx", "-gencode", "arch=compute_80,code=[sm_80,compute_80]", *objects)
        done = subprocess.run([common.options.archguard, "verify", path, "--device", "9.0"], stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("what a driver does with PTX of -reloc-ptx is not known", done.stdout)

    def test_nccl(self):
        """A library of 127 objects, with SASS for all that NVIDIA supports."""
        found = glob.glob(os.path.join(common.options.toolkit, "lib64", "libnccl.so.2"))
        if not found:
            raise unittest.SkipTest("no libnccl in the toolkit")
        results = self.verify(found[0], None, "--scope", "library")
        served = ["7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0", "12.1"]
        self.assertEqual({device: results[device]["verdict"] for device in served}, {device: "covered" for device in served})
        self.assertEqual(results["8.7"]["verdict"], "not-covered")

    def test_clang(self):
        clang = common.clang()
        toolkit = os.path.join(common.options.cache, "cuda-11.8")
        if not os.path.exists(os.path.join(toolkit, "bin", "nvcc")):
            raise unittest.SkipTest("no CUDA 11.8; run tests/support/fetch cuda-11.8")
        with open(os.path.join(self.folder, "clang.h"), "w") as file:
            file.write(CLANG_HEADER)
        flags = ["-x", "cuda", "-include", "clang.h", "-nocudainc", "-nocudalib", "-fgpu-rdc", "--cuda-path=" + toolkit,
                 "--cuda-gpu-arch=sm_80", "--cuda-include-ptx=sm_80", "-fPIC", "-Wno-unknown-cuda-version", "-DNO_MAIN", "-c"]
        objects = []
        for source in ("caller.cu", "helper.cu"):
            objects.append(source + ".clang.o")
            common.run([clang, *flags, source, "-o", objects[-1]], cwd=self.folder)
        self.nvcc("clang_link.o", "-dlink", "-arch=sm_80", "-Xcompiler", "-fPIC", *objects,
                  compiler=os.path.join(toolkit, "bin", "nvcc"))
        path = os.path.join(self.folder, "clang.so")
        common.run(["g++", "-shared", "-o", path, *objects, "clang_link.o"], cwd=self.folder)
        self.compare(path)

    def test_nvcc_11_8(self):
        nvcc = os.path.join(common.options.cache, "cuda-11.8", "bin", "nvcc")
        if not os.path.exists(nvcc):
            raise unittest.SkipTest("no CUDA 11.8; run tests/support/fetch cuda-11.8")
        objects = []
        for source in ("caller.cu", "helper.cu"):
            objects.append(source + ".old.o")
            self.nvcc(objects[-1], "-rdc=true", "-allow-unsupported-compiler", "-DNO_MAIN", "-Xcompiler", "-fPIC", "-c", source, *BOTH, compiler=nvcc)
        self.nvcc("old_link.o", "-dlink", "-allow-unsupported-compiler", "-arch=sm_80", "-Xcompiler", "-fPIC", *objects, compiler=nvcc)
        path = os.path.join(self.folder, "old.so")
        common.run(["g++", "-shared", "-o", path, *objects, "old_link.o"], cwd=self.folder)
        self.compare(path)
        self.compare(path, "12.4")


if __name__ == "__main__":
    common.main()
