"""archguard on the libraries of CUDA 11.8 as Debian has them, for SM 3.5 … 9.0: what it reads against cuobjdump 11.8, the last
that takes such files, and against a scan by signature; and that each device of that toolkit is served."""
import glob
import os
import subprocess
import unittest

import common

FOLDERS = ("libraries-11.8", "cublaslt-11.8")  # of the last, whoever wants to may fetch it
DEVICES = ("3.5", "5.0", "5.2", "6.0", "6.1", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0")


def libraries():
    found = sorted(path for folder in FOLDERS
                   for path in glob.glob(os.path.join(common.options.cache, folder, "lib", "*.so.*")))
    if not found:
        raise unittest.SkipTest("no library of CUDA 11.8; run tests/support/fetch " + FOLDERS[0])
    return found


class OlderTest(unittest.TestCase):
    maxDiff = 4000

    def each(self, check):
        for path in libraries():
            with self.subTest(os.path.basename(path)):
                print("  %s: %s" % (os.path.basename(path), check(path)), flush=True)

    def test_images_are_those_of_cuobjdump(self):
        """Kind, arch, PTX version and compression of every entry, in order; and by signature, where each container is."""
        def check(path):
            containers = common.inspect(path)
            with open(path, "rb") as file:
                self.assertEqual(common.scan(file.read(), 8), [each["offset"] for each in common.fat_binaries(containers)])
            named = [each for each in containers if each["section"] in (".nv_fatbin", "__nv_relfatbin")]
            ours = common.images(sorted(named, key=lambda each: each["relocatable"]))
            self.assertTrue(common.dumped_images(path, "-all", release="11.8") == ours)
            return "%d entries in %d containers, %d in all" % (len(ours), len(named), len(containers))
        common.cuobjdump("11.8")
        self.each(check)

    def test_kernels_are_those_of_cuobjdump_and_nothing_is_damaged(self):
        def check(path):
            containers = [each for each in common.inspect(path, kernels=True)
                          if each["section"] in (".nv_fatbin", "__nv_relfatbin")]
            if any(not each["relocatable"] for each in containers):
                containers = [each for each in containers if not each["relocatable"]]  # cuobjdump without -all
            ours = [sorted(kernel["name"] for kernel in image["kernels"])
                    for container in containers for image in container["images"] if image["kind"] == "sass"]
            self.assertTrue(common.dumped_kernels(path, "11.8") == ours)
            return "%d kernels in %d cubins" % (sum(map(len, ours)), len(ours))
        common.cuobjdump("11.8")
        self.each(check)

    def test_each_device_of_that_toolkit_is_covered(self):
        def check(path):
            command = [common.options.archguard, "verify", path, "--scope", "library", "--brief"]
            for device in DEVICES:
                command += ["--device", device]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=500)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)
            self.assertRegex(done.stdout, r"%d of %d covered\n$" % (len(DEVICES), len(DEVICES)))
            return "%d devices" % len(DEVICES)
        self.each(check)


if __name__ == "__main__":
    common.main()
