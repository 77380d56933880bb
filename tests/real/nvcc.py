"""What nvcc was asked for, against what archguard reads from its output, and the verdicts that follow.

Everything here is built by the nvcc on PATH. Expectations are written for CUDA 13.0 and later (the default
compression is zstd; sm_75 is the default arch).
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import common

ONE = """
__global__ void scale(float* x) { x[threadIdx.x] *= 2.0f; }
int main() { scale<<<1, 1>>>(nullptr); }
"""
UNUSED = """
__global__ void unused(int* x) { *x = 4; }
void launch_unused() { unused<<<1, 1>>>(nullptr); }
"""
HOLLOW = """
__global__ void needs_90(float* x) {
#if __CUDA_ARCH__ >= 900
  x[threadIdx.x] *= 2.0f;
#endif
}
int main() { needs_90<<<1, 1>>>(nullptr); }
"""
# What FlashAttention and CUTLASS compile a kernel to for an arch that it is not written for.
PRINTS = """
#include <cassert>
#include <cstdio>
__global__ void needs_90(float* x) {
#if __CUDA_ARCH__ >= 900
  x[threadIdx.x] *= 2.0f;
#else
  printf("FATAL: needs sm_90, was built for less!\\n");
#endif
}
__global__ void asserts(float* x) {
#if __CUDA_ARCH__ >= 900
  x[threadIdx.x] *= 2.0f;
#else
  assert(0 && "built for sm_90");
#endif
}
__global__ void says(int n) { printf("%d\\n", n); }
__global__ void says_more(int n) {
#if __CUDA_ARCH__ >= 900
  for (int i = 0; i < n; ++i) printf("%d of %d\\n", i, n);
#else
  printf("%d\\n", n);
#endif
}
__global__ void says_and_writes(float* x) {
  printf("%f\\n", *x);
  x[threadIdx.x] *= 2.0f;
}
int main() {
  needs_90<<<1, 1>>>(nullptr);
  asserts<<<1, 1>>>(nullptr);
  says<<<1, 1>>>(1);
  says_more<<<1, 1>>>(1);
  says_and_writes<<<1, 1>>>(nullptr);
}
"""
VARIABLES = """
__device__ int dv[4];
__constant__ float cv;
int use_variables() { int x[4] = {}; return cudaMemcpyToSymbol(dv, x, sizeof x) + cudaMemcpyToSymbol(cv, x, 4); }
"""
ABSENT = """
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ != 860
__global__ void absent(int* x) { *x = 4; }
void launch_absent() { absent<<<1, 1>>>(nullptr); }
#endif
"""
SOURCES = {"variables.cu": VARIABLES, "absent.cu": ABSENT, "one.cu": ONE, "unused.cu": UNUSED, "hollow.cu": HOLLOW, "prints.cu": PRINTS, "plain.cc": "int main() {}\n"}


def gencode(*codes):
    """gencode("sm_80", "compute_90"): one -gencode for each, of the virtual arch of the same number."""
    flags = []
    for code in codes:
        flags += ["-gencode", "arch=compute_%s,code=%s" % (code.split("_")[1], code)]
    return flags


class NvccTest(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        release = re.search(r"release (\d+)\.(\d+)", common.run([common.nvcc(), "--version"]))
        if int(release.group(1)) < 13:
            raise unittest.SkipTest("nvcc %s.%s; these tests are written for 13.0 and later" % release.groups())
        cls.release = "%s.%s" % release.groups()
        cls.isa = "9." + release.group(2)  # CUDA 13.x writes PTX 9.x
        cls.folder = tempfile.mkdtemp()
        for name, text in SOURCES.items():
            with open(os.path.join(cls.folder, name), "w") as file:
                file.write(text)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def nvcc(self, output, *arguments):
        """Runs nvcc in the folder of the sources, unless an earlier test made this very output."""
        path = os.path.join(self.folder, output)
        if not os.path.exists(path):
            common.run([common.nvcc(), "-o", output, *arguments], cwd=self.folder)
        return path

    @staticmethod
    def texts(containers):
        """Texts like "sass 90a none" or "ptx 90 zstd 9.0", of all images in order."""
        return [" ".join([image["kind"], image["arch"], image["compression"]] +
                         ([image["ptx_isa"]] if image["ptx_isa"] else []))
                for container in containers for image in container["images"]]

    def holds(self, path, *expected, section=None):
        self.assertEqual(self.texts(each for each in common.inspect(path) if section in (None, each["section"])),
                         list(expected))

    def verify(self, path, *arguments, expect):
        command = [common.options.archguard, "verify", path, "--format", "json", *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, expect, " ".join(command) + "\n" + done.stdout + done.stderr)
        return json.loads(done.stdout)

    def result(self, path, device, expect, *arguments):
        """The one result of one device."""
        document = self.verify(path, "--device", device, *arguments, expect=expect)
        (file,) = document["files"]
        (result,) = file["results"]
        self.assertEqual(result["verdict"], document["verdict"])
        return result

    def covered(self, path, device, how, *arguments):
        result = self.result(path, device, 0, *arguments)
        self.assertEqual(result["verdict"], "covered")
        self.assertGreater(result["containers"][how], 0)
        self.assertEqual(result["containers"]["uncovered"], 0)
        self.assertEqual(result["errors"], [])
        return result

    def fails(self, path, device, code, *arguments):
        result = self.result(path, device, 1, *arguments)
        self.assertEqual(result["verdict"], "not-covered")
        self.assertEqual([error["code"] for error in result["errors"]], [code])
        self.assertTrue(result["fix"])
        return result


class InspectTest(NvccTest):
    def test_every_linked_and_unlinked_form(self):
        """What was asked for, once; linking adds a container whose cubins hold no kernel."""
        wanted = gencode("sm_80", "sm_90", "compute_90")
        asked = ["ptx 90 zstd " + self.isa, "sass 80 none", "sass 90 none"]
        for output, form, stubs in (("one", [], 1), ("one.o", ["-c"], 0), ("libone.a", ["-lib"], 0),
                                    ("libone.so", ["-shared", "-Xcompiler", "-fPIC"], 1)):
            with self.subTest(output):
                path = self.nvcc(output, *wanted, *form, "one.cu")
                containers = common.inspect(path, kernels=True)
                with_kernels = [each for each in containers if any(image["kernels"] for image in each["images"])]
                self.assertEqual(len(with_kernels), 1)
                self.assertEqual(sorted(self.texts(with_kernels)), asked)
                self.assertEqual(len(containers), 1 + stubs)
                self.assertTrue((with_kernels[0]["member"] or "").endswith("one.o" if output == "libone.a" else ""))

    def test_device_files(self):
        self.holds(self.nvcc("one.fatbin", "-fatbin", *gencode("sm_80", "compute_80"), "one.cu"),
                   "ptx 80 zstd " + self.isa, "sass 80 none")
        self.holds(self.nvcc("one.cubin", "-cubin", "-arch=sm_90a", "one.cu"), "sass 90a none")
        self.holds(self.nvcc("one.ptx", "-ptx", "-arch=compute_90a", "one.cu"), "ptx 90a none " + self.isa)

    def test_suffixes(self):
        path = self.nvcc("suffix.fatbin", "-fatbin",
                         *gencode("sm_90", "sm_90a", "sm_100f", "sm_120a", "compute_100f"), "one.cu")
        self.assertEqual(sorted((image.kind, image.arch) for image in common.images(common.inspect(path))),
                         [("ptx", "100f"), ("sass", "100f"), ("sass", "120a"), ("sass", "90"), ("sass", "90a")])

    def test_compression(self):
        wanted = gencode("sm_80", "compute_80")
        for mode, sass, ptx in (("none", "none", "none"), ("speed", "none", "lz4"), ("balance", "none", "zstd"),
                                ("default", "none", "zstd"), ("size", "zstd", "zstd")):
            with self.subTest(mode):
                path = self.nvcc("mode-%s.fatbin" % mode, "-fatbin", "--compress-mode=" + mode, *wanted, "one.cu")
                self.holds(path, "ptx 80 %s %s" % (ptx, self.isa), "sass 80 " + sass)

    def test_separate_compilation(self):
        path = self.nvcc("rdc.o", "-dc", *gencode("sm_80", "compute_80"), "one.cu")
        (container,) = common.inspect(path)
        self.assertTrue(container["relocatable"])
        self.assertEqual(container["section"], "__nv_relfatbin")
        self.holds(path, "ptx 80 zstd " + self.isa, "sass 80 zstd")
        linked = self.nvcc("rdc", *gencode("sm_80", "compute_80"), "rdc.o")
        self.holds(linked, "sass 80 none", section=".nv_fatbin")
        with_ptx = self.nvcc("reloc_ptx", "-reloc-ptx", *gencode("sm_80", "compute_80"), "rdc.o")
        self.holds(with_ptx, "sass 80 none", "reloc-ptx 80 zstd " + self.isa, section=".nv_fatbin")

    def test_lto(self):
        path = self.nvcc("lto.o", "-dc", *gencode("lto_90"), "one.cu")
        self.holds(path, "ltoir 90 zstd")
        (container,) = common.inspect(path)
        self.assertTrue(container["images"][0]["obfuscated"])
        try:
            linked = self.nvcc("lto", "-dlto", "-arch=sm_90", "lto.o")
        except AssertionError as error:
            if "library load error" not in str(error):
                raise
            # This toolkit was put together without libnvvm, which nvlink needs for LTO-IR.
            with_libnvvm = common.nvcc_with_libnvvm()
            for output, flags in (("lto_13.0.o", ["-dc", *gencode("lto_90"), "one.cu"]),
                                  ("lto", ["-dlto", "-arch=sm_90", "lto_13.0.o"])):
                common.run([with_libnvvm, "-o", output, *flags], cwd=self.folder)
            linked = os.path.join(self.folder, "lto")
        self.holds(linked, "sass 90 none", section=".nv_fatbin")

    def test_kernels(self):
        path = self.nvcc("hollow.fatbin", "-fatbin", *gencode("sm_80", "sm_90"), "hollow.cu")
        (container,) = common.inspect(path, kernels=True)
        kernels = [(image["arch"], kernel) for image in container["images"] for kernel in image["kernels"]]
        self.assertEqual([(arch, kernel["name"], kernel["state"]) for arch, kernel in kernels],
                         [("80", "_Z8needs_90Pf", "empty"), ("90", "_Z8needs_90Pf", "real")])
        for arch, kernel in kernels:
            symbols = common.run(["readelf", "-sW", self.nvcc("hollow%s.cubin" % arch, "-cubin", "-arch=sm_" + arch,
                                                              "hollow.cu")])
            sizes = [line.split()[2] for line in symbols.splitlines() if line.endswith(" " + kernel["name"])]
            self.assertEqual(sizes, [str(kernel["code_size"])])


class VerifyTest(NvccTest):
    def test_sass(self):
        path = self.nvcc("sass80", *gencode("sm_80"), "one.cu")
        self.covered(path, "8.0", "sass")
        self.covered(path, "8.6", "sass")
        self.fails(path, "7.5", 209)
        self.fails(path, "9.0", 209)
        self.fails(path, "8.7", 209)  # Orin: an integrated chip takes no desktop SASS

    def test_code_for_compute_sanitizer(self):
        """Instrumented by ptxas, linked or not: covered, with a warning; `nvcc --help` has no more of it."""
        for name, flags in (("sanitized", ()), ("sanitized_rdc", ("-rdc=true",))):
            path = self.nvcc(name, *flags, *gencode("sm_90"), "-Xptxas", "-sanitize=memcheck", "one.cu")
            (file,) = self.verify(path, "--device", "9.0", expect=0)["files"]
            self.assertIn("instrumented for compute-sanitizer", "".join(file["warnings"]))

    def test_suffixes_reach_no_further(self):
        path = self.nvcc("sass90a", *gencode("sm_90a"), "one.cu")
        self.covered(path, "9.0", "sass")
        self.fails(path, "10.0", 209)
        path = self.nvcc("sass100f", *gencode("sm_100f"), "one.cu")
        self.covered(path, "10.3", "sass")
        self.fails(path, "11.0", 209)

    def test_ptx(self):
        path = self.nvcc("ptx90", *gencode("compute_90"), "one.cu")
        self.covered(path, "9.0@13.9", "jit")
        self.covered(path, "12.0@13.9", "jit")
        self.covered(path, "9.0", "jit")
        self.fails(path, "9.0@12.8", 35)  # the runtime fails before any image is looked at
        self.fails(self.nvcc("ptx90.fatbin", "-fatbin", *gencode("compute_90"), "one.cu"), "9.0@12.8", 222)
        self.fails(path, "8.0@13.9", 209)
        self.assertEqual(self.result(path, "9.0", 2, "--require-driver")["verdict"], "unknown")

    def test_zstd_needs_a_driver_that_inflates_it(self):
        path = self.nvcc("zstd.fatbin", "-fatbin", "--compress-mode=size", *gencode("sm_90"), "one.cu")
        self.covered(path, "9.0@13.0", "sass")
        self.fails(path, "9.0@12.2", 200)

    def test_the_runtime_needs_a_driver_of_its_major_version(self):
        """nvcc's three ways to link it, stripped too; without a runtime of its own nobody knows which one there will be."""
        old, new = "9.0@12.9", "9.0@13.0"
        for kind in ("static", "shared", "none"):
            path = self.nvcc("%s.so" % kind, "-cudart", kind, "-shared", "-Xcompiler", "-fPIC", *gencode("sm_90"), "one.cu")
            common.run(["strip", "-s", path, "-o", path + ".stripped"])
            for each in (path, path + ".stripped"):
                self.covered(each, new, "sass")
                if kind == "none":
                    self.assertEqual(self.result(each, old, 2)["driver_too_old_for_toolkit"], self.release)
                else:
                    self.fails(each, old, 35)
                    self.covered(each, old, "sass", "--driver", "warn")
        for name, flags in (("one.o", ["-c"]), ("one.dc.o", ["-dc"])):
            self.fails(self.nvcc(name, *flags, *gencode("sm_90"), "one.cu"), old, 35)
        for name, flags in (("one.fatbin", ["-fatbin", *gencode("sm_90")]), ("one.cubin", ["-cubin", "-arch=sm_90"])):
            path = self.nvcc(name, *flags, "one.cu")
            self.assertEqual(self.result(path, old, 2)["verdict"], "unknown")
            self.fails(path, "9.0@12.4", 200)  # which does not know the format of its cubin
            self.covered(path, new, "sass")

    def test_a_stub_of_the_link_covers_nothing(self):
        """Linking without -arch adds a container with an sm_75 cubin that has no kernel."""
        self.nvcc("stub.o", "-c", *gencode("sm_90"), "one.cu")
        path = self.nvcc("stub", "-rdc=true", "stub.o")
        archs = {image.arch for image in common.images(common.inspect(path))}
        self.assertIn("75", archs, "this nvcc adds no stub: the trap is not there")
        self.covered(path, "9.0", "sass")
        self.fails(path, "7.5", 209)

    def test_separate_compilation_drops_kernels(self):
        """unused.cu lacks sm_90 and nothing refers to it: nvlink drops its kernel there and exits with 0."""
        self.nvcc("both.o", "-dc", *gencode("sm_80", "sm_90"), "one.cu")
        self.nvcc("unused.o", "-dc", *gencode("sm_80"), "unused.cu")
        path = self.nvcc("dropped", *gencode("sm_80", "sm_90"), "both.o", "unused.o")
        self.assertEqual(self.covered(path, "8.0", "sass")["kernels"]["missing"], [])
        self.assertEqual(self.fails(path, "9.0", 500)["kernels"]["missing"], ["_Z6unusedPi"])

    def test_relocatable_ptx_is_linked_when_it_is_loaded(self):
        self.nvcc("rdc.o", "-dc", *gencode("sm_80", "compute_80"), "one.cu")
        path = self.nvcc("rdc", *gencode("sm_80", "compute_80"), "rdc.o")
        self.covered(path, "8.6", "sass")
        self.assertTrue(self.covered(path, "9.0@13.9", "jit")["linked_at_load"])
        self.result(path, "9.0@13.9", 1, "--require", "sass")

    def test_a_kernel_that_is_in_no_linked_image(self):
        """The link for sm_90 alone leaves out a kernel whose object has nothing for it, and no image tells."""
        self.nvcc("both.o", "-dc", *gencode("sm_80", "sm_90"), "one.cu")
        self.nvcc("unused.o", "-dc", *gencode("sm_80"), "unused.cu")
        path = self.nvcc("left_out", *gencode("sm_90"), "both.o", "unused.o")
        self.assertEqual(self.fails(path, "9.0", 500)["kernels"]["missing"], ["_Z6unusedPi"])

    def test_hollow(self):
        path = self.nvcc("hollow", *gencode("sm_80", "sm_90"), "hollow.cu")
        self.assertEqual(self.covered(path, "9.0", "sass")["kernels"]["hollow"], [])
        self.assertEqual(self.covered(path, "8.0", "sass")["kernels"]["hollow"], ["_Z8needs_90Pf"])
        self.assertEqual(self.result(path, "8.0", 1, "--hollow", "error")["kernels"]["hollow"], ["_Z8needs_90Pf"])

    def test_kernels_that_only_print_are_hollow(self):
        for codes in (("sm_75", "sm_80", "sm_90"), ("sm_80", "sm_90", "sm_120"), ("compute_75", "sm_90")):
            path = self.nvcc("prints_%s" % "_".join(codes), *gencode(*codes), "prints.cu")
            hollow = self.covered(path, "%s.%s" % tuple(codes[0].split("_")[1]), "jit" if "compute" in codes[0] else "sass")["kernels"]["hollow"]
            self.assertEqual(hollow, ["_Z7assertsPf", "_Z8needs_90Pf"])
            self.assertEqual(self.covered(path, "9.0", "sass")["kernels"]["hollow"], [])

    def test_calls_that_only_a_relocation_tells_print_as_well(self):
        """Of nvlink, and of CUDA 11.8."""
        compilers = [(common.nvcc(), "-rdc=true")]
        older = os.path.join(common.options.cache, "cuda-11.8", "bin", "nvcc")
        if os.path.exists(older):
            compilers += [(older, "-rdc=true"), (older, "-rdc=false")]
        for compiler, option in compilers:
            path = os.path.join(self.folder, "relocated")
            common.run([compiler, "-allow-unsupported-compiler", option, "-o", path, *gencode("sm_75", "sm_80", "sm_90"), "prints.cu"], cwd=self.folder)
            with self.subTest(compiler=compiler, option=option):
                self.assertEqual(self.covered(path, "8.0", "sass")["kernels"]["hollow"], ["_Z7assertsPf", "_Z8needs_90Pf"])
                self.assertEqual(self.covered(path, "9.0", "sass")["kernels"]["hollow"], [])

    def test_expect(self):
        path = self.nvcc("one", *gencode("sm_80", "sm_90", "compute_90"), "one.cu")
        for asked in ("80-real;90", "90-virtual", "8.0;9.0+PTX"):
            self.verify(path, "--expect", asked, expect=0)
        for asked in ("80", "86-real", "80-real;90a-real"):
            self.verify(path, "--expect", asked, expect=1)
        specific = self.nvcc("sass90a.o", "-c", *gencode("sm_90a"), "one.cu")
        self.verify(specific, "--expect", "80", expect=1)  # exempt, and nothing else is there

    def test_archive_members_count_whatever_their_names(self):
        """`ar P` keeps paths, so that names begin with "/"; one like that of BSD's symbol table is still an object."""
        good = self.nvcc("sass90.o", "-c", *gencode("sm_90"), "one.cu")
        bad = self.nvcc("sass80.o", "-c", *gencode("sm_80"), "one.cu")
        odd = os.path.join(self.folder, "__.SYMDEFb.o")
        shutil.copy(bad, odd)
        for archive, flags, members in (("libpath.a", "rcsP", [good, bad]), ("libodd.a", "rcs", [good, odd])):
            with self.subTest(archive):
                path = os.path.join(self.folder, archive)
                common.run(["ar", flags, path, *members])
                self.fails(path, "9.0", 209)

    def test_code_that_was_removed_from_an_object_is_missed(self):
        for flags in (["-c"], ["-dc"]):
            path = self.nvcc("whole%s.o" % flags[0], *flags, *gencode("sm_90"), "one.cu")
            self.covered(path, "9.0", "sass")
            stripped = path + ".stripped.o"
            common.run(["strip", "-R", ".nv_fatbin", "-R", "__nv_relfatbin", path, "-o", stripped])
            document = self.verify(stripped, "--device", "9.0", expect=2)
            self.assertIn("registers 1 fat binary, and the file holds 0", document["files"][0]["errors"][0]["what"])

    def test_code_in_objects_of_lto_is_not_judged(self):
        wanted = gencode("sm_90")
        both = self.nvcc("fatlto.o", "-c", "-Xcompiler", "-flto,-ffat-lto-objects", *wanted, "one.cu")
        self.covered(both, "9.0", "sass")
        for flags in (["-c"], ["-dc"]):
            path = self.nvcc("slim%s.o" % flags[0], *flags, "-Xcompiler", "-flto", *wanted, "one.cu")
            document = self.verify(path, "--device", "9.0", expect=2)
            self.assertIn("device code in what -flto left", document["files"][0]["errors"][0]["what"])
        plain = os.path.join(self.folder, "plainlto.o")
        common.run(["g++", "-flto", "-c", os.path.join(self.folder, "plain.cc"), "-o", plain])
        self.verify(plain, "--device", "9.0", expect=3)

    def test_code_that_was_never_device_linked_is_not_covered(self):
        relocatable = self.nvcc("pic.o", "-dc", "-Xcompiler", "-fPIC", *gencode("sm_90"), "one.cu")
        linked = self.nvcc("dlink.o", "-dlink", "-Xcompiler", "-fPIC", *gencode("sm_90"), "pic.o")
        unlinked = os.path.join(self.folder, "libunlinked.so")
        common.run(["g++", "-shared", relocatable, "-o", unlinked])
        document = self.verify(unlinked, "--device", "9.0", expect=2)
        self.assertIn("was not device-linked", document["files"][0]["errors"][0]["what"])
        whole = os.path.join(self.folder, "liblinked.so")
        common.run(["g++", "-shared", relocatable, linked, "-o", whole])
        self.covered(whole, "9.0", "sass")

    def test_an_archive_within_an_archive_is_not_judged(self):
        good = self.nvcc("sass90.o", "-c", *gencode("sm_90"), "one.cu")
        inner, outer = (os.path.join(self.folder, name) for name in ("libinner.a", "libouter.a"))
        common.run(["ar", "rcs", inner, self.nvcc("rdc80.o", "-dc", *gencode("sm_80", "compute_80"), "one.cu")])
        common.run(["ar", "rc", outer, good, inner])
        document = self.verify(outer, "--device", "9.0", expect=2)
        self.assertIn("archive within an archive", document["files"][0]["errors"][0]["what"])

    def test_lto_ir_that_fits_nothing_is_not_forgotten(self):
        good = self.nvcc("sass80.o", "-c", *gencode("sm_80"), "one.cu")
        lto = self.nvcc("lto90.o", "-dc", "-gencode", "arch=compute_90,code=lto_90", "one.cu")
        self.fails(lto, "8.0", 209)
        self.covered(lto, "9.0", "sass")
        done = subprocess.run([common.options.archguard, "verify", good, lto, "--device", "8.0"],
                              stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 1)

    def test_a_stripped_program_and_what_was_stripped_of_it(self):
        path = self.nvcc("sass80", *gencode("sm_80"), "one.cu")
        common.run(["strip", "-o", path + ".stripped", path])
        common.run(["objcopy", "--only-keep-debug", path, path + ".debug"])
        self.covered(path + ".stripped", "8.0", "sass")
        self.fails(path + ".stripped", "9.0", 209)
        document = self.verify(path + ".debug", "--device", "8.0", expect=2)
        self.assertIn("has a size but no bytes", document["files"][0]["errors"][0]["what"])

    def test_variables_ask_for_an_image(self):
        for what, flags in (("whole", ["-c"]), ("rdc", ["-dc"])):
            with self.subTest(what):
                variables = self.nvcc("variables_%s.o" % what, *flags, *gencode("sm_80"), "variables.cu")
                kernels = self.nvcc("kernels_%s.o" % what, *flags, *gencode("sm_80", "sm_90"), "one.cu")
                document = self.verify(variables, "--device", "8.0", "--device", "9.0", expect=1)
                self.assertEqual([each["verdict"] for each in document["files"][0]["results"]], ["covered", "not-covered"])
                if what == "whole":
                    program = self.nvcc("variables_%s" % what, *gencode("sm_80", "sm_90"), variables, kernels)
                    document = self.verify(program, "--device", "8.0", "--device", "9.0", expect=1)
                    results = document["files"][0]["results"]
                    self.assertEqual([each["verdict"] for each in results], ["covered", "not-covered"])
                    self.assertEqual([error["code"] for error in results[1]["errors"]], [209])

    def test_variables_that_a_link_drops_are_missing(self):
        variables = self.nvcc("variables_80.o", "-dc", *gencode("sm_80"), "variables.cu")
        kernels = self.nvcc("one_both.o", "-dc", *gencode("sm_80", "sm_90"), "one.cu")
        program = self.nvcc("dropped_variables", *gencode("sm_80", "sm_90"), variables, kernels)
        document = self.verify(program, "--device", "8.0", "--device", "9.0", expect=1)
        results = document["files"][0]["results"]
        self.assertEqual([each["verdict"] for each in results], ["covered", "not-covered"])
        self.assertEqual([error["code"] for error in results[1]["errors"]], [500])
        self.assertEqual(results[1]["variables"]["missing"], ["cv", "dv"])

    def test_a_kernel_that_one_arch_lacks_is_missing_there(self):
        path = self.nvcc("absent.o", "-c", *gencode("sm_80", "sm_86", "sm_89"), "absent.cu")
        document = self.verify(path, "--device", "8.0", "--device", "8.6", "--device", "8.9", expect=1)
        self.assertEqual([each["verdict"] for each in document["files"][0]["results"]],
                         ["covered", "not-covered", "covered"])
        self.assertEqual([error["code"] for error in document["files"][0]["results"][1]["errors"]], [500])

    def test_no_device_code(self):
        path = os.path.join(self.folder, "plain")
        common.run([common.nvcc(), "-o", path, "-cudart=none", "plain.cc"], cwd=self.folder)
        self.assertEqual(self.verify(path, "--device", "9.0", expect=3)["verdict"], "no-device-code")


if __name__ == "__main__":
    common.main()
