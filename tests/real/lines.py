"""How many lines an answer takes: NVIDIA's libraries of CUDA 11.8 for forty devices, of which they lack three classes."""
import glob
import os
import subprocess
import tempfile
import unittest

import common

MODELS = [("Tesla P100", "6.0"), ("Tesla V100", "7.0"), ("NVIDIA H100", "9.0"), ("NVIDIA A100", "8.0"),
          ("Tesla M2090", "2.0"), ("Tesla K10", "3.0"), ("GRID K520", "3.0"), ("GeForce GT 520", "2.1")]


class LinesTest(unittest.TestCase):
    def test_forty_devices(self):
        folder = os.path.join(common.options.cache, "libraries-11.8/lib")
        count = len(glob.glob(os.path.join(folder, "*.so.*")))
        if count < 10:
            self.skipTest("no ten libraries of CUDA 11.8; run tests/support/fetch libraries-11.8")
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as fleet:
            fleet.write("name, compute_cap\n" + "".join("%s, %s\n" % MODELS[i % len(MODELS)] for i in range(40)))
            fleet.flush()
            done = subprocess.run([common.options.archguard, "verify", folder, "--fleet", fleet.name, "--scope", "library"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
        lines = done.stdout.splitlines()
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertLessEqual(len(lines), 40, done.stdout)
        causes = [line.split(": ")[1] for line in lines if line.startswith("archguard: error")]
        self.assertEqual(["error 35", "error 209"], causes)
        self.assertEqual("%d files: %d not covered" % (count, count), lines[-1])


common.main()
