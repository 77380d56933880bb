"""What NVIDIA's tools and CMake really say is explained, and errors have the names and texts of CUDA's own runtime."""
import ctypes
import glob
import json
import os
import re
import subprocess
import tempfile
import unittest

import common

PTX = ".version %s\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 p) { %s ret; }\n"
MMA = (".reg .b32 r<4>; .reg .f32 f<5>; mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f1,f2,f3,f4},{r0,r1,r2,r3},"
       "{r0,r1},{f1,f2,f3,f4};")
WGMMA = "wgmma.fence.sync.aligned;"
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def tool(release, name):
    found = glob.glob(os.path.join(common.options.cache, release, "nvidia", "*", "*", name))
    if not found:
        raise unittest.SkipTest("no %s; run tests/support/fetch %s" % (name, release))
    return found[0]


def said(command, cwd=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd)
    return done.stdout


def explained(text):
    done = subprocess.run([common.options.archguard, "explain", "-", "--format", "json"], input=text, stdout=subprocess.PIPE, text=True)
    document = json.loads(done.stdout)
    assert (done.returncode == 0) == document["known"], done.returncode
    return document["explanations"]


class ExplainTest(unittest.TestCase):
    def check(self, text, wanted, here=""):
        found = explained(text)
        self.assertTrue(found, text)
        self.assertEqual(found[0]["id"], wanted, text)
        self.assertIn(here, " ".join(found[0]["here"]), text)

    def test_ptxas(self):
        with tempfile.TemporaryDirectory() as folder:
            def ptxas(release, arch, version, target, body=""):
                with open(os.path.join(folder, "a.ptx"), "w") as file:
                    file.write(PTX % (version, target, body))
                return said([tool(release, "ptxas"), "-arch=" + arch, "a.ptx"], folder)

            self.check(ptxas("nvcc-13.0", "sm_120", "9.3", "sm_120"), "ptx-version", "CUDA 13.3 writes PTX 9.3")
            self.check(ptxas("nvcc-13.0", "sm_61", "8.0", "sm_61"), "ptxas-unknown-arch", "up to CUDA 12.9")
            self.check(ptxas("ptxas-12.6", "sm_121a", "8.0", "sm_90"), "ptxas-unknown-arch", "sm_121a from CUDA 12.9 on")
            self.check(ptxas("nvcc-13.0", "sm_100", "8.0", "sm_90a"), "ptx-other-arch", "for 9.0 alone")
            self.check(ptxas("nvcc-13.0", "sm_80", "8.0", "sm_90"), "ptx-higher-target")
            self.check(ptxas("nvcc-13.0", "sm_90", "9.0", "sm_199"), "ptx-unknown-target", "no known CUDA release has sm_199")
            self.check(ptxas("nvcc-13.0", "sm_75", "9.0", "sm_75", MMA), "ptx-feature")
            self.check(ptxas("nvcc-13.0", "sm_120", "9.0", "sm_120", WGMMA), "ptx-feature")
            self.assertEqual(ptxas("nvcc-13.0", "sm_80", "8.0", "sm_80"), "")
            fine = said([tool("nvcc-13.0", "ptxas"), "-v", "-arch=sm_80", "a.ptx"], folder)
            self.assertIn("ptxas info", fine)
            self.assertEqual(explained(fine), [])

    def test_nvcc(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "k.cu"), "w") as file:
                file.write("__global__ void k() {}\n")
            nvcc = tool("nvcc-13.0", "nvcc")
            self.check(said([nvcc, "-arch=sm_61", "-c", "k.cu"], folder), "nvcc-unsupported-arch", "sm_61 up to CUDA 12.9")
            self.check(said([nvcc, "-gencode", "arch=compute_70,code=sm_70", "-c", "k.cu"], folder), "nvcc-unsupported-arch",
                       "sm_70 up to CUDA 12.9")
            self.check(said([nvcc, "-arch=native", "-c", "k.cu"], folder), "nvcc-no-native")
            self.assertEqual(explained(said([nvcc, "--version"])), [])

    def test_cmake(self):
        nvcc = tool("nvcc-13.0", "nvcc")
        for value, wanted in (("61", "nvcc-unsupported-arch"), ("", "cmake-empty-architectures"), ("8.6", "cmake-bad-architectures")):
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "CMakeLists.txt"), "w") as file:
                    file.write("cmake_minimum_required(VERSION 3.20)\nproject(x LANGUAGES CUDA)\n")
                self.check(said(["cmake", "-S", folder, "-B", os.path.join(folder, "b"), "-DCMAKE_CUDA_COMPILER=" + nvcc,
                                 "-DCMAKE_CUDA_ARCHITECTURES=" + value]), wanted)

    def test_nvrtc(self):
        name = "libnvrtc.so.13"
        beside_nvcc = os.path.join(common.options.toolkit, "lib64", name)
        nvrtc = ctypes.CDLL(beside_nvcc if os.path.exists(beside_nvcc) else tool("nvrtc-13.0", name))
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", b"k.cu", 0, None, None)
        status = nvrtc.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_61"))
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        self.check(log.value.decode(), "nvrtc-arch")
        self.check(nvrtc.nvrtcGetErrorString(status).decode(), "nvrtc-arch")

    def test_loader(self):
        for library, wanted in (("libcudart.so.12", "cuda-library-missing"), ("libcuda.so.1", "libcuda-missing")):
            try:
                ctypes.CDLL("/nowhere/" + library)
            except OSError as error:
                self.check(str(error), wanted)

    def test_names_of_the_runtime(self):
        runtime = ctypes.CDLL(tool("nvcc-13.0", "libcudart.so.13"))
        runtime.cudaGetErrorName.restype = runtime.cudaGetErrorString.restype = ctypes.c_char_p
        with open(os.path.join(REPOSITORY, "src", "compat", "error_codes.cc")) as file:
            rows = re.findall(r'\{(\d+),\s*"(\w*)",\s*"\w*",\s*"([^"]*)"\}', file.read())
        self.assertGreater(len(rows), 30)
        for code, name, message in rows:
            self.assertIn(name, ("", runtime.cudaGetErrorName(int(code)).decode()))
            self.assertIn(message, ("", runtime.cudaGetErrorString(int(code)).decode()))
            for text in (name, message):
                if text and explained(code):
                    self.assertEqual(explained(text)[0]["code"], int(code), text)

    def test_names_of_the_driver(self):
        with open(tool("nvcc-13.0", "cuda.h")) as file:
            named = {code: name for name, code in re.findall(r"(CUDA_ERROR_\w+)\s*=\s*(\d+)", file.read())}
        with open(os.path.join(REPOSITORY, "src", "compat", "error_codes.cc")) as file:
            for code, name in re.findall(r'\{(\d+),\s*"\w*",\s*"(\w+)"', file.read()):
                self.assertEqual(name, named[code])


common.main()
