"""The recorder and the replay, tried without a GPU: selftest.py ARCHGUARD TRUTH_JUDGE FAKE_DRIVER_FOLDER CLAIMS [OPTION OF UNITTEST]...

The recorder must stop with exit 3 and the reason before it writes anything, and make every case that the table of open
claims in CLAIMS (docs/reference/compatibility.md) names; the replay must agree with a right record and name a wrong one.
Without nvcc the parts that need it are skipped.
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

from cases import Maker

HERE = os.path.dirname(os.path.abspath(__file__))
ARCHGUARD, JUDGE, FAKE_DRIVER, CLAIMS = sys.argv[1:5]


def run(*command, **environment):
    done = subprocess.run([sys.executable, "-B", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **environment}, timeout=280)
    return done.returncode, done.stdout, done.stderr


def nvcc_or_skip(test):
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        test.skipTest("no nvcc on PATH")
    return nvcc


MADE = {}  # by kinds, since nvcc takes its time


def fatbin_of(test, kinds):
    if kinds not in MADE:
        with tempfile.TemporaryDirectory() as folder:
            maker = Maker(nvcc_or_skip(test), folder)
            with open(maker.fatbin([maker.image("elf", kind) for kind in kinds]), "rb") as file:
                MADE[kinds] = file.read()
    return MADE[kinds]


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
        self.assertEqual(self.on_a_machine(machine, "--try", "driver", os.devnull, ""),
                         (3, "", "record: this libcuda has no cuDevicePrimaryCtxRetain\n"))

    def test_the_runtime_takes_what_is_registered_and_misses_a_driver(self):
        with tempfile.TemporaryDirectory() as folder:
            maker = Maker(nvcc_or_skip(self), folder)
            image = maker.fatbin([maker.image("elf", "80")])
            code, out, err = run(os.path.join(HERE, "record"), "--try", "runtime", image, maker.libraries)
        if os.path.exists("/proc/driver/nvidia/version"):
            self.skipTest("this machine has a driver")
        self.assertEqual((code, json.loads(out), err), (0, {"launch": 35}, ""))

    def test_no_runtime(self):
        self.assertEqual(run(os.path.join(HERE, "record"), "--try", "runtime", os.devnull, "/nowhere"),
                         (3, "", "record: no libcudart.so in /nowhere\n"))

    def test_usage(self):
        self.assertEqual(run(os.path.join(HERE, "record"), "--try")[0], 2)


class ClaimsTest(unittest.TestCase):
    def test_every_open_claim_has_its_cases(self):
        nvcc_or_skip(self)
        with open(CLAIMS, encoding="utf-8") as file:
            table = file.read().split("## Waiting for a record", 1)[1]
        named = set(re.findall(r"^\| .* \| (.*) \|$", table, re.MULTILINE)[2:])
        named = {name for cell in named for name in re.findall(r"`([^`]+)`", cell)}
        self.assertGreater(len(named), 10)
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = run(os.path.join(HERE, "record"), "--dry-run", "9.0", folder)
        self.assertEqual((code, err), (0, ""))
        made = set(re.findall(r"^[a-z]+\d+(?:\.fatbin)?: (.*)$", out, re.MULTILINE))
        self.assertEqual(named - made, set(), out)


class ReplayTest(unittest.TestCase):
    def replay(self, results, kinds=("80",), env={}):
        """A record of a played 9.0: one run for each of `results`, all of the same cubins."""
        with tempfile.TemporaryDirectory() as folder:
            image = base64.b64encode(zlib.compress(fatbin_of(self, kinds))).decode()
            record = {"device": {"compute_capability": "9.0"}, "driver": {"cuda": "13.0"},
                      "cases": [{"name": "sass", "suffix": ".fatbin", "bytes": image,
                                 "runs": [{"through": "driver", "env": env, "result": result} for result in results]}]}
            with open(os.path.join(folder, "played.json"), "w") as file:
                json.dump(record, file)
            return run(os.path.join(HERE, "replay.py"), ARCHGUARD, JUDGE, folder)

    def test_agreement(self):
        self.assertEqual(self.replay([{"load": 209}]), (0, "played.json: 1 cases, 1 runs, 0 disagreements\n", ""))

    def test_another_error(self):
        code, out, _ = self.replay([{"load": 209}, {"load": 0, "function": 0, "launch": 0, "mark": 1}])
        self.assertEqual((code, out), (1, "played.json: sass, through the driver: the driver gives 0, archguard predicts "
                                          "209\nplayed.json: 1 cases, 2 runs, 1 disagreements\n"))

    def test_another_image(self):
        code, out, _ = self.replay([{"launch": 0, "mark": 1}, {"launch": 0, "mark": 2}], kinds=("80", "90"))
        self.assertEqual((code, out), (1, "played.json: sass, through the driver: the driver takes image 1, archguard "
                                          "predicts 2\nplayed.json: 1 cases, 2 runs, 1 disagreements\n"))

    def test_the_environment_is_replayed(self):
        self.assertEqual(self.replay([{"load": 209}], kinds=("90",), env={"CUDA_FORCE_PTX_JIT": "1"})[:2],
                         (0, "played.json: 1 cases, 1 runs, 0 disagreements\n"))

    def test_no_records(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(os.path.join(HERE, "replay.py"), ARCHGUARD, JUDGE, folder)[0], 77)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
