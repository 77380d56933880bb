"""What the nvcc of 11.8, of the toolkit on PATH and of 13.5 make, in every kind and compression mode: archguard reads what
cuobjdump reads, and the kernels of every image are those that the source has."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import common

SOURCE = """
__global__ void scale(float* x) { x[threadIdx.x] *= 2.0f; }
__global__ void empty() {}
"""
KERNELS = {"_Z5scalePf": "real", "_Z5emptyv": "empty"}
COMPILERS = {"11.8": "cuda-11.8/bin/nvcc", "13.5": "nvcc-13.5/nvidia/cu13/bin/nvcc"}
OLD_MODES = {"default": [], "all": ["-Xfatbin=-compress-all"], "none": ["-Xfatbin=--compress=false"]}
NEW_MODES = {mode: ["--compress-mode=" + mode] for mode in ("default", "size", "speed", "balance", "none")}


def gencode(*pairs):
    return ["-gencode=arch=compute_%s,code=%s" % pair for pair in pairs]


# What nvcc is asked for.
KINDS = {
    "sass and PTX": gencode(("75", "sm_75"), ("80", "sm_80"), ("80", "compute_80")),
    "relocatable": ["-rdc=true"] + gencode(("80", "sm_80"), ("80", "compute_80")),
    "LTO-IR": ["-rdc=true"] + gencode(("80", "lto_80"), ("90", "lto_90")),
    "line numbers": ["-lineinfo"] + gencode(("80", "sm_80"), ("80", "compute_80")),
    "debug": ["-G"] + gencode(("80", "sm_80")),
}
NEW_KINDS = {
    "suffix": gencode(("90a", "sm_90a"), ("90", "sm_90")),
    "family suffix": gencode(("100f", "sm_100f"), ("120a", "sm_120a"), ("100f", "compute_100f")),
}


class CompilersTest(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        with open(os.path.join(cls.folder, "one.cu"), "w") as file:
            file.write(SOURCE)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def check_compiler(self, nvcc, name):
        version = re.search(r"release (\d+\.\d+)", common.run([nvcc, "--version"])).group(1)
        new = int(version.split(".")[0]) >= 13
        oracle = "13.5" if new else "11.8"
        common.cuobjdump(oracle)
        checked = 0
        for kind, flags in dict(KINDS, **(NEW_KINDS if new else {})).items():
            for mode, compress in (NEW_MODES if new else OLD_MODES).items():
                with self.subTest("%s: %s, %s" % (name, kind, mode)):
                    out = os.path.join(self.folder, "one.fatbin")
                    # 11.8 does not know the system's GCC
                    common.run([nvcc, "-fatbin", "-allow-unsupported-compiler", "one.cu", "-o", out] + flags + compress,
                               cwd=self.folder)
                    containers = common.inspect(out, kernels=True)
                    self.assertEqual(common.dumped_images(out, release=oracle), common.images(containers))
                    for image in (image for each in containers for image in each["images"] if "kernels" in image):
                        states = {kernel["name"]: kernel["state"] for kernel in image["kernels"]}
                        if kind != "debug":
                            self.assertEqual(states, KERNELS)
                        self.assertEqual(set(states), set(KERNELS))
                    checked += len(common.images(containers))
        print("  %s (%s): %d images" % (name, version, checked), flush=True)

    def test_of_path(self):
        self.check_compiler(common.nvcc(), "nvcc on PATH")

    def fetched(self, release):
        path = os.path.join(common.options.cache, COMPILERS[release])
        if not os.path.exists(path):
            self.skipTest("no nvcc; run tests/support/fetch " + COMPILERS[release].split("/")[0])
        self.check_compiler(path, "nvcc " + release)

    def test_11_8(self):
        self.fetched("11.8")

    def test_13_5(self):
        self.fetched("13.5")

    def test_concatenated(self):
        nvcc = os.path.join(common.options.cache, COMPILERS["13.5"])
        if not os.path.exists(nvcc):
            self.skipTest("no nvcc; run tests/support/fetch nvcc-13.5")
        out = os.path.join(self.folder, "concatenated.fatbin")
        common.run([nvcc, "-fatbin", "--concat", "one.cu", "-o", out] + gencode(("80", "sm_80"), ("90", "sm_90")), cwd=self.folder)
        self.assertIn("concatenated entry code:", common.run([common.cuobjdump(), out]))
        verify = subprocess.run([common.options.archguard, "verify", out, "--device", "9.0@13.5"], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, timeout=500)
        self.assertEqual(verify.returncode, 2)
        self.assertIn("several images compressed as one (nvcc --concat), which are not read\n  fix: build it without --concat\n",
                      verify.stdout)


if __name__ == "__main__":
    common.main()
