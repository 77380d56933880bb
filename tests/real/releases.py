"""What two releases of cuFFT run on, and what their kernels cost: `archguard diff` and `inspect --by kernel`, on NVIDIA's own
libraries. CUDA 13.0 ended the support of devices before 7.5 (its release notes)."""
import collections
import glob
import json
import os
import subprocess
import unittest

import common

LOST = ["3.5", "3.7", "5.0", "5.2", "6.0", "6.1", "7.0"]  # that cuFFT of CUDA 11.8 served
SERVED = {"7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "12.0"}


def library(pattern, *folders):
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, pattern))):
            return os.path.realpath(path)
    raise unittest.SkipTest("no %s; run tests/support/fetch libraries-11.8 libraries-13.0" % pattern)


def document(*command, status=0):
    done = subprocess.run([common.options.archguard, *command, "--format", "json"], stdout=subprocess.PIPE, text=True, timeout=300)
    if done.returncode != status:
        raise AssertionError("%s: exit %d, expected %d" % (" ".join(command), done.returncode, status))
    return json.loads(done.stdout)


class ReleasesTest(unittest.TestCase):
    def setUp(self):
        cache = common.options.cache
        self.old = library("libcufft.so.10.*", os.path.join(cache, "libraries-11.8/lib"))
        self.new = library("libcufft.so.12*", os.path.join(cache, "libraries-13.0/nvidia/cu13/lib"),
                           os.path.join(common.options.toolkit, "lib64"))

    def test_cufft_of_13_0_loses_what_nvidia_dropped(self):
        found = document("diff", self.old, self.new, "--scope", "library", status=1)
        verdicts = {each["compute_capability"]: each["verdict"] for each in found["devices"]}
        self.assertEqual(LOST, [device for device, verdict in verdicts.items() if verdict == "lost"])
        self.assertEqual({"kept"}, {verdicts[device] for device in SERVED})
        document("diff", self.new, self.new, status=0)
        document("diff", self.old, self.old, status=0)

    def test_what_kernels_cost_is_what_the_images_weigh(self):
        for path in (self.old, self.new):
            found = document("inspect", path, "--by", "kernel", "--sort", "size", "--top", "10")
            costs, listed, headers = found["costs"], collections.Counter(), 0
            for container in (each for file in found["files"] for each in file["containers"]):
                headers += container["size"]
                for image in container["images"]:
                    headers -= image["size"]
                    for key in ("size", "uncompressed_size"):
                        listed[key] += image[key]
            parts = collections.Counter()
            for part in [*costs["largest"], costs["others"], costs["shared"], costs["without_kernels"]]:
                parts.update({key: part[key] for key in ("size", "uncompressed_size")})
            self.assertEqual(listed, parts)
            self.assertEqual(listed, {key: costs[key] for key in listed})
            self.assertEqual(headers, costs["headers"])
            self.assertLess(costs["size"] + costs["headers"], os.path.getsize(path))
            self.assertEqual(10, len(costs["largest"]))


if __name__ == "__main__":
    common.main()
