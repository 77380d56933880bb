"""The preflight in programs that nvcc makes, with the real runtime, on played machines: whole programs, -rdc, two device links,
and lazy loading, which all register as the preflight expects."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import played
from played import H100, T4, WRAP, WRAP_FATBIN, driver, options

NEWER = "cc=10.3 uuid=GPU-33333333-2222-2222-2222-222222222222 pci=0000:4B:00.0 name=NVIDIA B300"

ASK = """
#include <cstdio>
#include "archguard_preflight.h"
int main() {
  static archguard_preflight_report report;
  archguard_preflight_check(&report);
  std::printf("%d %d %u %d.%d|%s|%s\\n", report.answer, report.code, report.fatbins, report.runtime_major, report.runtime_minor, report.sentence,
              report.devices[0].sentence);
}
"""
ONE = "__global__ void one(float* x) { *x = 1; }\nvoid launch_one() { one<<<1, 1>>>(nullptr); }\n"
CALLED = "__device__ float called() { return 2; }\n"
CALLS = "extern __device__ float called();\n__global__ void calls(float* x) { *x = called(); }\nvoid launch_calls() { calls<<<1, 1>>>(nullptr); }\n"
ARCHS = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=[sm_90,compute_90]"]


class Compiled(played.Played):
    """Programs that nvcc makes of the sources above."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, text in (("ask.cc", ASK), ("one.cu", ONE), ("called.cu", CALLED), ("calls.cu", CALLS)):
            (cls.folder / name).write_text(text)
        told = re.search(r"release (\d+\.\d+)", subprocess.check_output([options.nvcc, "--version"], text=True))
        cls.release = options.runtime or told.group(1)
        major, minor = map(int, cls.release.split("."))
        cls.cuda = major * 1000 + minor * 10

    def setUp(self):
        if not (self.folder / "preflight.o").exists():
            self.run_tool("gcc", "-std=c11", "-O1", "-fPIC", '-DARCHGUARD_PREFLIGHT_PROGRAM="app 2.1"', "-c", options.preflight / "archguard_preflight.c", "-o", "preflight.o")

    def nvcc(self, output, *arguments, wrap=WRAP):
        wrap = [word for option in wrap for word in ("-Xlinker", option[len("-Wl,"):])]
        self.run_tool(options.nvcc, "-I", options.preflight, "-o", output, *arguments, "preflight.o", *wrap)
        return self.folder / output

    def ask(self, program, device, **more):
        out, err = self.start([program], driver(self.cuda, "580.1", device), **more)
        self.assertEqual(err, "")
        return out.strip()


class Nvcc(Compiled):
    def test_whole_program_stripped_and_shared_runtime(self):
        program = self.nvcc("whole", *ARCHS, "ask.cc", "one.cu")
        self.run_tool("strip", program)
        self.assertEqual(self.ask(program, H100), "1 0 1 %s||" % self.release)
        sentence = "app 2.1 holds code for 8.0, 9.0 and PTX 9.0; this machine has a Tesla T4 (7.5), driver CUDA %s: it needs a build with 75-real" % self.release
        self.assertEqual(self.ask(program, T4), "4 209 1 %s|%s|%s" % (self.release, sentence, sentence))
        for loading in ("LAZY", "EAGER"):
            self.assertEqual(self.ask(program, H100, CUDA_MODULE_LOADING=loading), "1 0 1 %s||" % self.release)

    def test_asking_the_runtime_for_its_number_loads_no_driver(self):
        program = self.nvcc("silent", *ARCHS, "ask.cc", "one.cu")
        out, err = self.start([program], driver(self.cuda, "580.1", H100) + "crash cuInit\ncrash cuDeviceGetName\n")
        self.assertEqual((out, err), ("1 0 1 %s||\n" % self.release, ""))

    def test_separate_compilation(self):
        program = self.nvcc("separate", "-rdc=true", *ARCHS, "ask.cc", "called.cu", "calls.cu")
        self.run_tool("strip", program)
        self.assertEqual(self.ask(program, H100), "1 0 1 %s||" % self.release)
        self.assertIn("|app 2.1 holds code for 8.0, 9.0; this machine has a Tesla T4 (7.5)", self.ask(program, T4))
        self.assertEqual(self.ask(program, T4).split(" 1 ")[0], "4 0")
        # Linked again, as archguard verify says of it: each object has PTX for it.
        self.assertTrue(self.ask(program, NEWER).startswith("2 0 1 "))
        self.assertIn("the driver links it again from its objects, so the first start is slow", self.ask(program, NEWER))

    def test_sources_without_kernels(self):
        """Each registers a fat binary that nothing is asked of; a variable asks, as a kernel does."""
        (self.folder / "device.cu").write_text("__device__ float helper() { return 2; }\n")
        (self.folder / "constant.cu").write_text("__constant__ float held[4];\nvoid set() { cudaMemcpyToSymbol(held, \"\", 1); }\n")
        for name in ("device", "constant"):
            self.run_tool(options.nvcc, "-gencode", "arch=compute_80,code=sm_80", "-c", name + ".cu")
        self.assertEqual(self.ask(self.nvcc("beside", *ARCHS, "ask.cc", "one.cu", "device.o"), H100), "1 0 1 %s||" % self.release)
        self.assertIn("4 209 2 ", self.ask(self.nvcc("asked", *ARCHS, "ask.cc", "one.cu", "constant.o"), H100))
        self.assertTrue(self.ask(self.nvcc("unseen", *ARCHS, "ask.cc", "one.cu", "device.o", wrap=WRAP_FATBIN), H100).startswith("3 0 2 "))

    def test_two_device_links(self):
        self.run_tool(options.nvcc, "-rdc=true", *ARCHS, "-Xcompiler", "-fPIC", "-dc", "called.cu", "calls.cu")
        self.run_tool(options.nvcc, *ARCHS, "-Xcompiler", "-fPIC", "-dlink", "called.o", "calls.o", "-o", "first.o")
        (self.folder / "alone.cu").write_text(ONE.replace("one", "alone"))
        self.run_tool(options.nvcc, "-rdc=true", "-gencode", "arch=compute_80,code=sm_80", "-Xcompiler", "-fPIC", "-dc", "alone.cu")
        self.run_tool(options.nvcc, "-gencode", "arch=compute_80,code=sm_80", "-Xcompiler", "-fPIC", "-dlink", "alone.o", "-o", "second.o")
        self.run_tool(options.nvcc, "-I", options.preflight, "-c", "ask.cc", "-o", "ask.o")
        toolkit = pathlib.Path(subprocess.check_output([played.HERE.parent / "support/toolkit_of", options.nvcc], text=True).strip())
        library = next((path for path in (toolkit / "lib64", toolkit / "lib") if (path / "libcudart_static.a").exists()), None)
        if library is None and not options.runtime:
            self.skipTest("this toolkit has no runtime")
        self.run_tool("g++", "ask.o", "called.o", "calls.o", "first.o", "alone.o", "second.o", "preflight.o",
                      *(["-L", library] if library else []), "-lcudadevrt", "-lcudart_static", *WRAP, "-ldl", "-lrt", "-lpthread", "-o", "two")
        self.assertTrue(self.ask(self.folder / "two", "cc=8.0 name=NVIDIA A100").startswith("1 0 2 "))
        self.assertIn("app 2.1 holds code for 8.0 (1 of 2 fat binaries);", self.ask(self.folder / "two", H100))


def main():
    if not options.nvcc or shutil.which(options.nvcc) is None:
        print("SKIPPED: no nvcc at '%s' (tests/support/fetch cuda-11.8 nvcc-13.5)" % options.nvcc)
        sys.exit(77)
    played.main()


if __name__ == "__main__":
    main()
