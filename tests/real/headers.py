"""Files that only include headers of NVIDIA's toolkit ask for no image; files with a variable of their own do.

Every public header of nvcc's toolkit that compiles alone is compiled, many to a file: a file that does not compile is
halved until the headers are found that do not.
"""
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import zipfile

import common

# What may stand alone and does not: each needs another header before it, a library that the toolkit does not bring, or
# is refused by design.
FAMILIES = {
    "toolkit": ("", [""], (".h",)),
    "libcu++ std": ("cccl", ["cuda/std"], ("",)),
    "libcu++": ("cccl", ["cuda"], ("",)),
    "thrust": ("cccl", ["thrust", "thrust/iterator", "thrust/random", "thrust/mr", "thrust/system", "thrust/system/cuda"],
               (".h",)),
    "cub": ("cccl", ["cub"], (".cuh",)),
}
# A file that includes them all would hide what one of them brings, so a few stand alone as well: with the number of
# variables of the toolkit's own that each is known to bring at least.
ALONE = {"curand_kernel.h": 9, "thrust/functional.h": 10, "thrust/sort.h": 1, "cub/cub.cuh": 1, "cuda/std/ranges": 1,
         "cooperative_groups.h": 0, "cuda_fp16.h": 0, "cuda_bf16.h": 0, "cuda_fp8.h": 0, "mma.h": 0,
         "texture_indirect_functions.h": 0, "cuda/barrier": 0}

OWN = {
    "an array": "__device__ int dv[4];",
    "one byte of constant memory": "namespace user { __constant__ char c; }",
    "a large table": "static __constant__ float table[4096];",
    "managed": "__managed__ int mv = 1;",
    "in a namespace without a name": "namespace { __device__ int hidden; }",
    "a template": "template <class T> __device__ T tv = T(3);\nvoid* use() { void* p = 0; cudaGetSymbolAddress(&p, tv<int>); "
                  "return p; }",
    "beside a header's": "#include <curand_kernel.h>\n#include <thrust/functional.h>\n__constant__ char c;",
    "one byte in a namespace cuda": "namespace cuda { __device__ bool flag; }",
}


class HeaderTest(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.include = os.path.join(common.options.toolkit, "include")
        common.nvcc()
        if not os.path.isdir(os.path.join(cls.include, "cccl")):
            raise unittest.SkipTest("no include/cccl beside this nvcc; these tests are written for CUDA 13.0 and later")
        cls.folder = tempfile.mkdtemp()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def compile(self, name, text, *flags):
        """A fat binary of SASS and PTX for 9.0, or nothing where the text does not compile."""
        source, path = (os.path.join(self.folder, name + ending) for ending in (".cu", ".fatbin"))
        with open(source, "w") as file:
            file.write(text)
        done = subprocess.run([common.nvcc(), "-w", "-std=c++17", "--extended-lambda", "-gencode",
                               "arch=compute_90,code=[sm_90,compute_90]", *flags, "-fatbin", source, "-o", path],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        return path if done.returncode == 0 else None

    def verify(self, path):
        """What is said of a device that no image of these files is for."""
        done = subprocess.run([common.options.archguard, "verify", path, "--device", "8.0", "--format", "json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
        return done.returncode, json.loads(done.stdout)

    def variables(self, path):
        return [variable for container in common.inspect(path, kernels=True) for image in container["images"]
                for variable in image["variables"]]

    def headers(self, family):
        below, folders, endings = FAMILIES[family]
        root = os.path.join(self.include, below)
        return [os.path.join(folder, name) for folder in folders if os.path.isdir(os.path.join(root, folder))
                for name in sorted(os.listdir(os.path.join(root, folder)))
                if name.endswith(endings) and os.path.isfile(os.path.join(root, folder, name))]

    def check(self, family, headers):
        """The headers that do not compile, and what was said of the files that did and ask for something."""
        name = "%s_%d_%s" % (family.replace(" ", "_").replace("+", "p"), len(headers),
                             "".join(c if c.isalnum() else "_" for c in headers[0]))
        path = self.compile(name, "".join("#include <%s>\n" % header for header in headers))
        if path is not None:
            status, document = self.verify(path)
            return [], [] if (status, document["verdict"]) == (3, "no-device-code") else [(headers, document)]
        if len(headers) == 1:
            return headers, []
        half = len(headers) // 2
        halves = [self.check(family, part) for part in (headers[:half], headers[half:])]
        return halves[0][0] + halves[1][0], halves[0][1] + halves[1][1]

    def test_headers_ask_for_nothing(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            # The toolkit's own folder holds the headers that do not compile alone: small files are halved less often.
            jobs = [(family, headers[at:at + size]) for family in FAMILIES for headers in [self.headers(family)]
                    for size in [12 if family == "toolkit" else 200] for at in range(0, len(headers), size)]
            results = list(pool.map(lambda job: self.check(*job), jobs))
        compiled = sum(len(headers) for _, headers in jobs) - sum(len(failed) for failed, _ in results)
        self.assertGreater(compiled, 300)
        failed = sorted(header for failed, _ in results for header in failed)
        print("%d headers compiled; not alone: %s" % (compiled, " ".join(failed)))
        self.assertLess(len(failed), 30)
        self.assertEqual([said for _, asking in results for said in asking], [])

    def test_headers_alone(self):
        def check(header):
            path = self.compile("alone_" + header.replace("/", "_"), "#include <%s>\n" % header)
            return header, path and self.verify(path), path and self.variables(path)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for header, said, variables in pool.map(check, ALONE):
                with self.subTest(header=header):
                    self.assertIsNotNone(said, "does not compile")
                    self.assertEqual((said[0], said[1]["verdict"]), (3, "no-device-code"))
                    self.assertEqual([each for each in variables if not each.get("of_toolkit")], [])
                    self.assertGreaterEqual(len(variables), 2 * ALONE[header])  # of SASS and of PTX

    def test_cub_of_another_release(self):
        """CUB of CUDA 13.2 calls the namespace of its empty kernel otherwise."""
        wheels = glob.glob(os.path.join(common.options.cache, "wheel-cccl-13.2", "*.whl"))
        if not wheels:
            raise unittest.SkipTest("no wheel; run tests/support/fetch wheel-cccl-13.2")
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(os.path.join(self.folder, "cccl-13.2"))
        (include,) = glob.glob(os.path.join(self.folder, "cccl-13.2", "nvidia", "*", "include", "cccl"))
        path = self.compile("cub_13_2", "#include <cub/cub.cuh>\n", "-I" + include)
        kernels = {kernel["name"] for container in common.inspect(path, kernels=True) for image in container["images"] for kernel in image["kernels"]}
        self.assertEqual([name[:10] for name in kernels if "EmptyKernel" in name], ["_ZN3cub16_V"[:10]])
        self.assertEqual(self.verify(path)[0], 3)

    def test_linked_separately_they_ask_for_nothing(self):
        path = self.compile("rdc", "#include <curand_kernel.h>\n#include <thrust/functional.h>\n", "-rdc=true")
        self.assertEqual(self.verify(path)[0], 3)

    def test_variables_of_ones_own_ask(self):
        for what, text in OWN.items():
            with self.subTest(what):
                path = self.compile("own_" + "".join(c if c.isalnum() else "_" for c in what), text)
                status, document = self.verify(path)
                self.assertEqual((status, document["verdict"]), (1, "not-covered"))
                own = [each["name"] for each in self.variables(path) if not each.get("of_toolkit")]
                self.assertEqual(len(own), 2)  # of SASS and of PTX
                self.assertEqual(own[0], own[1])


if __name__ == "__main__":
    common.main()
