"""Each fat binary that a file registers must be there: NVIDIA's own libraries with one of them overwritten by zeros."""
import glob
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import zipfile

import common

LOST = "the file registers a fat binary here, and none can be read: device code was removed or overwritten"


class RegistrationsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def verify(self, path):
        command = [common.options.archguard, "verify", path, "--device", "9.0", "--scope", "library", "--format", "json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        return done.returncode, json.loads(done.stdout)

    def zero_each(self, path, section, spare):
        """All but `spare` of the containers of this section are registered, and missed when they are zeros."""
        containers = [each for each in common.inspect(path) if each["section"] == section]
        self.assertEqual(self.verify(path)[0], 0)
        copy = os.path.join(self.folder, "copy.so")
        shutil.copyfile(path, copy)
        found = 0
        for container in containers:
            with open(copy, "r+b") as file:
                file.seek(container["offset"])
                whole = file.read(container["size"])
                file.seek(container["offset"])
                file.write(bytes(len(whole)))
            code, document = self.verify(copy)
            errors = [error["what"] for error in document["files"][0]["errors"]]
            if code == 2 and errors == [LOST]:
                found += 1
            with open(copy, "r+b") as file:
                file.seek(container["offset"])
                file.write(whole)
        self.assertGreater(found, 0)
        self.assertEqual(found, len(containers) - spare)

    def test_curand(self):
        found = sorted(glob.glob(os.path.join(common.options.toolkit, "lib64", "libcurand.so*")))
        if not found:
            raise unittest.SkipTest("no libcurand in the toolkit")
        self.zero_each(found[0], ".nv_fatbin", spare=1)

    def test_curand_for_windows(self):
        wheels = glob.glob(os.path.join(common.options.cache, "wheel-curand-13.0-windows", "*.whl"))
        if not wheels:
            raise unittest.SkipTest("no wheel; run tests/support/fetch wheel-curand-13.0-windows")
        with zipfile.ZipFile(wheels[0]) as wheel:
            (name,) = [each for each in wheel.namelist() if each.endswith(".dll")]
            path = wheel.extract(name, self.folder)
        self.zero_each(path, ".nv_fatb", spare=0)

    def test_linkers(self):
        source = os.path.join(self.folder, "one.cu")
        with open(source, "w") as file:
            file.write("__global__ void scale(float* x) { *x *= 2; }\nint main() { scale<<<1, 1>>>(nullptr); }\n")
        for name, flags in {"pie": [], "no-pie": ["-no-pie"], "lld": ["-fuse-ld=lld"], "gold": ["-fuse-ld=gold"],
                            "relr": ["-Wl,-z,pack-relative-relocs"]}.items():
            if name in ("lld", "gold") and shutil.which("ld." + name) is None:
                continue
            with self.subTest(name):
                path = os.path.join(self.folder, name)
                options = [option for flag in flags for option in ("-Xcompiler", flag.replace(",", "\\,"))]
                done = subprocess.run([common.nvcc(), "-arch=sm_90", source, "-o", path, *options], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, timeout=300)
                if done.returncode != 0 and name == "relr":
                    continue  # a linker before binutils 2.38
                self.assertEqual(done.returncode, 0, done.stdout)
                self.zero_each(path, ".nv_fatbin", spare=0)


if __name__ == "__main__":
    common.main()
