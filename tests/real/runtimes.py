"""The CUDA runtime that is linked in: which release it is at least, as its texts tell, in each release that tests/support/fetch
knows; in programs that are linked with it; and what a program for Windows imports, as mingw-w64 writes it.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile

import common

# Release, name for tests/support/fetch, what is in it. A wheel is unpacked.
RUNTIMES = (
    ("11.8", "cuda-11.8", r"lib64/libcudart\.so\.11\.0$"),
    ("11.8", "wheel-cudart-11.8", r"libcudart\.so\.11\.0$"),
    ("12.0", "wheel-cudart-12.0", r"libcudart\.so\.12$"),
    ("12.9", "wheel-cudart-12.9", r"libcudart\.so\.12$|libcudart_static\.a$"),
    ("12.9", "wheel-cudart-12.9-windows", r"cudart64_12\.dll$|x64/cudart_static\.lib$"),
    ("13.0", "nvcc-13.0", r"libcudart\.so\.13$|libcudart_static\.a$"),
    ("13.0", "wheel-cudart-13.0-aarch64", r"libcudart\.so\.13$|libcudart_static\.a$"),
    ("13.0", "wheel-cudart-13.0-windows", r"cudart64_13\.dll$|x64/cudart_static\.lib$"),
    ("13.5", "nvcc-13.5", r"libcudart\.so\.13$|libcudart_static\.a$"),
    ("13.5", "wheel-cudart-13.5-windows", r"cudart64_13\.dll$|x64/cudart_static\.lib$"),
)
QUICK = ("nvcc-13.0",)
# PTX that each driver takes, beside a call of the runtime.
PROGRAM = """
int cudaGetDeviceCount(int*);
const char ptx[] = ".version 6.0\\n.target sm_50\\n.address_size 64\\n.visible .entry k(){ ret; }\\n";
int main(void) { int n = 0; return cudaGetDeviceCount(&n) + ptx[n]; }
"""
LINKS = ([], ["-O2", "-Wl,--gc-sections", "-ffunction-sections"], ["-s"], ["-O2", "-Wl,--gc-sections", "-s"], ["-static-pie", "-s"])


class RuntimesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def files(self, name, pattern):
        top = os.path.join(common.options.cache, name)
        if not os.path.isdir(top):
            raise unittest.SkipTest("no CUDA runtime; run tests/support/fetch " + name)
        for wheel in glob.glob(os.path.join(top, "*.whl")):
            top = os.path.join(self.folder, name)
            with zipfile.ZipFile(wheel) as file:
                file.extractall(top, [member for member in file.namelist() if re.search(pattern, member)])
        paths = [os.path.join(folder, each) for folder, _, names in os.walk(top) for each in names]
        found = sorted(path for path in paths if re.search(pattern, path) and not os.path.islink(path))
        self.assertTrue(found, name)
        return found

    def each(self, check, pattern=""):
        for release, name, files in RUNTIMES:
            if not common.options.full and name not in QUICK:
                continue
            with self.subTest(name):
                try:
                    paths = self.files(name, files)
                except unittest.SkipTest as reason:
                    print("SKIPPED: %s: %s" % (self.id(), reason))
                    continue
                for path in paths:
                    if re.search(pattern, path):
                        print("  %s: %s" % (os.path.basename(path), check(release, path)), flush=True)

    def test_texts_tell_the_major_version(self):
        def check(release, path):
            told = common.run([common.options.runtimes, path]).split("\t")[1].strip()
            major = int(release.split(".")[0])
            self.assertEqual(told, "%d.0" % major if major > 11 else "some", path)
            return told
        self.each(check)

    def test_they_stay_in_linked_programs(self):
        source = os.path.join(self.folder, "p.c")
        with open(source, "w") as file:
            file.write(PROGRAM)

        def check(release, path):
            if "aarch64" in path:
                return "is for another machine"
            major, linked = int(release.split(".")[0]), 0
            for flags in LINKS:
                program = os.path.join(self.folder, "p_%s_%d" % (release, linked))
                common.run(["gcc", *flags, source, path, "-o", program, "-ldl", "-lpthread", "-lrt", "-lm"])
                command = [common.options.archguard, "verify", program, "--format", "json"]
                for driver in ("11.8", "12.4", "13.0"):
                    command += ["--device", "8.0@" + driver]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=100)
                codes = [[error["code"] for error in result["errors"]]
                         for result in json.loads(done.stdout)["files"][0]["results"]]
                self.assertEqual(codes, [[35] if driver < major else [] for driver in (11, 12, 13)], (path, flags))
                linked += 1
            return "%d programs" % linked
        self.each(check, r"libcudart_static\.a$")

    def test_imports_of_a_program_for_windows(self):
        prefix = "x86_64-w64-mingw32-"
        compiler = shutil.which(prefix + "gcc-posix") or shutil.which(prefix + "gcc")
        if not compiler:
            raise unittest.SkipTest("no mingw-w64 (Debian: g++-mingw-w64-x86-64-posix)")

        def write(name, text):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
        write("n.def", "LIBRARY nvrtc64_130_0.dll\nEXPORTS\nnvrtcCompileProgram\nnvrtcVersion\n")
        write("c.def", "LIBRARY nvcuda.dll\nEXPORTS\ncuModuleLoadData\ncuInit @7 NONAME\n")
        write("w.c", "int nvrtcCompileProgram(void), cuModuleLoadData(void), cuInit(void);\n"
                     "int main(void) { return nvrtcCompileProgram() + cuModuleLoadData() + cuInit(); }\n")
        for name in ("n", "c"):
            common.run([prefix + "dlltool", "-d", name + ".def", "-l", "lib%s.a" % name], cwd=self.folder)
        common.run([compiler, "w.c", "libn.a", "libc.a", "-o", "w.exe"], cwd=self.folder)
        document = json.loads(common.run([common.options.archguard, "inspect", "w.exe", "--format", "json"], cwd=self.folder))
        self.assertEqual(document["files"][0]["runtime_code"], ["cuModuleLoadData", "nvrtcCompileProgram"])


if __name__ == "__main__":
    common.main()
