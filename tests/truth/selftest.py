"""The recorder and the replay, tried without a GPU: selftest.py ARCHGUARD FAKE_DRIVER_FOLDER

The recorder must stop with exit 3 and the reason before it writes anything; the replay must agree with a right record
and name a wrong one. Without nvcc the parts that need it are skipped.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

from cases import Maker

HERE = os.path.dirname(os.path.abspath(__file__))
ARCHGUARD, FAKE_DRIVER = sys.argv[1:3]


def run(*command, **environment):
    done = subprocess.run([sys.executable, "-B", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **environment}, timeout=120)
    return done.returncode, done.stdout, done.stderr


class RecorderTest(unittest.TestCase):
    def on_a_machine(self, lines, *arguments):
        with tempfile.NamedTemporaryFile("w") as machine:
            machine.write(lines)
            machine.flush()
            return run(os.path.join(HERE, "record"), *arguments, LD_LIBRARY_PATH=FAKE_DRIVER,
                       ARCHGUARD_FAKE_MACHINE=machine.name)

    def test_no_gpu(self):
        self.assertEqual(self.on_a_machine("driver 580.95.05\ncuda 13000\nfail cuInit 100\n"),
                         (3, "", "record: cuInit says 100\n"))

    def test_a_driver_without_modules(self):
        machine = "driver 580.95.05\ncuda 13000\ndevice cc=9.0 name=Played\n"
        self.assertEqual(self.on_a_machine(machine, "--try", os.devnull),
                         (3, "", "record: this libcuda has no cuDevicePrimaryCtxRetain\n"))

    def test_usage(self):
        self.assertEqual(run(os.path.join(HERE, "record"), "--try")[0], 2)


class ReplayTest(unittest.TestCase):
    def replay(self, results):
        """A record of a played 9.0 with one case for each of `results`, all of the same sm_80 image."""
        nvcc = shutil.which("nvcc")
        if nvcc is None:
            self.skipTest("no nvcc on PATH")
        with tempfile.TemporaryDirectory() as folder:
            maker = Maker(nvcc, folder)
            with open(maker.fatbin([maker.image("elf", "80")]), "rb") as file:
                image = base64.b64encode(zlib.compress(file.read())).decode()
            record = {"device": {"compute_capability": "9.0"}, "driver": {"cuda": "13.0"},
                      "cases": [{"name": "sass 80", "suffix": ".fatbin", "bytes": image, "result": result}
                                for result in results]}
            with open(os.path.join(folder, "played.json"), "w") as file:
                json.dump(record, file)
            return run(os.path.join(HERE, "replay.py"), ARCHGUARD, folder)

    def test_agreement(self):
        self.assertEqual(self.replay([{"load": 209}]), (0, "played.json: 1 cases, 0 disagreements\n", ""))

    def test_disagreement(self):
        code, out, _ = self.replay([{"load": 209}, {"load": 0, "function": 0, "launch": 0, "mark": 1}])
        self.assertEqual((code, out), (1, "played.json: sass 80: the driver gives 0, archguard predicts 209\n"
                                          "played.json: 2 cases, 1 disagreements\n"))

    def test_no_records(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(os.path.join(HERE, "replay.py"), ARCHGUARD, folder)[0], 77)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
