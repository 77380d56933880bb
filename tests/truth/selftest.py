"""The recorder and the replay, tried without a GPU: selftest.py ARCHGUARD TRUTH_JUDGE FAKE_DRIVER_FOLDER CLAIMS [OPTION OF UNITTEST]...

The recorder must stop with exit 3 and the reason before it writes anything, and go on where it was stopped; what the table in CLAIMS
(docs/reference/compatibility.md) calls recorded must be in a record, and be made anew; the replay must agree with a right record and name a wrong one.
Without nvcc the parts that need it are skipped.
"""
import glob
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

from maker import Maker

HERE = os.path.dirname(os.path.abspath(__file__))
ARCHGUARD, JUDGE, FAKE_DRIVER, CLAIMS = sys.argv[1:5]


def run(*command, **environment):
    done = subprocess.run([sys.executable, "-B", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **environment}, timeout=800)
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
        self.assertEqual(self.on_a_machine(machine, "--try", "driver", "", os.devnull),
                         (3, "", "record: this libcuda has no cuDevicePrimaryCtxRetain\n"))

    def test_the_runtime_takes_what_is_registered_and_misses_a_driver(self):
        with tempfile.TemporaryDirectory() as folder:
            maker = Maker(nvcc_or_skip(self), folder)
            image = maker.fatbin([maker.image("elf", "80")])
            code, out, err = run(os.path.join(HERE, "record"), "--try", "runtime", os.path.join(folder, maker.toolkit.libraries), image)
        if os.path.exists("/proc/driver/nvidia/version"):
            self.skipTest("this machine has a driver")
        self.assertEqual((code, json.loads(out), err), (0, {"launch": 35}, ""))

    def test_no_runtime(self):
        self.assertEqual(run(os.path.join(HERE, "record"), "--try", "runtime", "/nowhere", os.devnull),
                         (3, "", "record: no libcudart.so\n"))

    def test_a_run_that_was_stopped_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.tar.xz")
            for name in "ab":
                with open(os.path.join(folder, name + ".cubin"), "w") as file:
                    file.write(name)
            rows = [{"name": name, "file": name + ".cubin", "damaged": False, "runs": [["driver", {}]]} for name in "ab"]
            with open(os.path.join(folder, "cases.json"), "w") as file:
                json.dump({"number": 90, "nvcc": "13.0", "skipped": [], "cases": rows}, file)
            with open(path + ".part", "w") as file:
                file.write(json.dumps([json.dumps([hashlib.sha256(b"a").hexdigest(), "driver", {}]), {"load": 209}]) + "\n[\"cut")
            code, out, err = self.on_a_machine("driver 580.95.05\ncuda 13000\ndevice cc=9.0 name=Played\n", "--run", folder, path)
            self.assertEqual((code, out, err), (0, "2 cases, 2 runs: %s\n" % path, ""))
            self.assertFalse(os.path.exists(path + ".part"))
            with tarfile.open(path) as archive:
                self.assertEqual(archive.getnames(), ["record.json", "a.cubin", "b.cubin"])
                record = json.load(archive.extractfile("record.json"))
        self.assertEqual([case["runs"][0]["result"] for case in record["cases"]],
                         [{"load": 209}, {"no": "this libcuda has no cuDevicePrimaryCtxRetain"}])
        self.assertEqual((record["device"], record["driver"]["cuda"]), ({"name": "Played", "compute_capability": "9.0"}, "13.0"))

    def test_usage(self):
        self.assertEqual(run(os.path.join(HERE, "record"), "--try")[0], 2)

    def test_a_case_that_there_is_not(self):
        nvcc_or_skip(self)
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = run(os.path.join(HERE, "record"), "--make", "9.0", folder, "sass 80", "damage")
            self.assertEqual((code, out), (2, ""))
            self.assertRegex(err, r"^record: no group and no case is named 'damage'; the groups are architectures, .*, damaged\n$")
            self.assertFalse(os.path.exists(os.path.join(folder, "cases.json")))


class ClaimsTest(unittest.TestCase):
    def test_what_is_called_recorded_is(self):
        with open(CLAIMS, encoding="utf-8") as file:
            table = file.read().split("| recorded | cases |", 1)[1].split("\n\n", 1)[0]
        named = {name for row in table.splitlines() if row.startswith("| ") for name in re.findall(r"`([^`]+)`", row.rsplit("|", 2)[1])}
        self.assertGreater(len(named), 40)
        recorded = set()
        for path in glob.glob(os.path.join(HERE, "records", "*.tar.xz")):
            with tarfile.open(path) as archive:
                recorded |= {case["name"] for case in json.load(archive.extractfile("record.json"))["cases"]}
        self.assertEqual(named - recorded, set())
        nvcc_or_skip(self)
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = run(os.path.join(HERE, "record"), "--make", "9.0", folder, *sorted(named))
        self.assertEqual((code, err), (0, ""))
        made = set(re.findall(r"^case\d+(?:\.\w+)?: (.*)$", out, re.MULTILINE))
        missing = [line for line in out.splitlines() if line.startswith("skipped: what")]
        if missing:
            self.skipTest(missing[0])
        self.assertEqual(named - made, set(), out)

    def test_a_record_holds_no_folders_of_its_machine(self):
        for path in glob.glob(os.path.join(HERE, "records", "*.tar.xz")):
            with tarfile.open(path) as archive:
                for member in archive:
                    found = re.search(rb"/(home|root|work|tmp|Users)/[\w.-]+|GPU-[0-9a-f]{8}", archive.extractfile(member).read())
                    self.assertIsNone(found, "%s: %s" % (member.name, found))


def summary(runs, disagreements):
    return "played.tar.xz: 1 cases, %d runs, 0 of them unknown; of damaged files 0 cases, 0 runs, 0 unknown; 0 not tried; %d disagreements\n" % (
        runs, disagreements)


class ReplayTest(unittest.TestCase):
    def replay(self, results, kinds=("80",), env={}, name="sass", capability="9.0"):
        """A record of a played 9.0: one run for each of `results`, all of the same cubins."""
        with tempfile.TemporaryDirectory() as folder:
            record = {"device": {"compute_capability": capability}, "driver": {"cuda": "13.0"},
                      "cases": [{"name": name, "file": "case1.fatbin", "damaged": False,
                                 "runs": [{"through": "driver", "env": env, "result": result} for result in results]}]}
            with tarfile.open(os.path.join(folder, "played.tar.xz"), "w:xz") as archive:
                for file, content in (("record.json", json.dumps(record).encode()), ("case1.fatbin", fatbin_of(self, kinds))):
                    entry = tarfile.TarInfo(file)
                    entry.size = len(content)
                    archive.addfile(entry, io.BytesIO(content))
            return run(os.path.join(HERE, "replay.py"), ARCHGUARD, JUDGE, folder)

    def test_agreement(self):
        self.assertEqual(self.replay([{"load": 209}]), (0, summary(1, 0), ""))

    def test_another_error(self):
        code, out, _ = self.replay([{"load": 209}, {"load": 0, "function": 0, "launch": 0, "mark": 1}])
        self.assertEqual((code, out), (1, "played.tar.xz: sass, through the driver: not covered (209), and it "
                                          "runs\n" + summary(2, 1)))

    def test_another_image(self):
        code, out, _ = self.replay([{"launch": 0, "mark": 1}, {"launch": 0, "mark": 2}], kinds=("80", "90"))
        self.assertEqual((code, out), (1, "played.tar.xz: sass, through the driver: the driver takes image 1, archguard "
                                          "predicts 2\n" + summary(2, 1)))

    def test_what_differs_on_purpose_must_differ(self):
        name = "unused variable of sm_80 alone"
        self.assertEqual(self.replay([{"launch": 0, "mark": 1}], name=name), (0, summary(1, 0), ""))
        code, out, _ = self.replay([{"load": 209}], name=name)
        self.assertEqual((code, out), (1, "played.tar.xz: %s: no longer differs; take it off the list of those that do\n" % name + summary(1, 1)))

    def test_covered_that_fails(self):
        code, out, _ = self.replay([{"load": 209}, {"exit": -11}], kinds=("90",))
        self.assertEqual((code, out), (1, "played.tar.xz: sass, through the driver: covered, and the driver gives 209\n"
                                          "played.tar.xz: sass, through the driver: covered, and the driver gives exit -11\n" + summary(2, 2)))

    def test_hidden_devices(self):
        env = {"CUDA_VISIBLE_DEVICES": "-1"}
        self.assertEqual(self.replay([{"launch": 100}, {"no": "cuInit says 100"}], env=env)[:2], (0, summary(2, 0)))
        self.assertEqual(self.replay([{"launch": 0}], kinds=("90",), env=env)[0], 1)

    def test_the_environment_is_replayed(self):
        self.assertEqual(self.replay([{"load": 209}], kinds=("90",), env={"CUDA_FORCE_PTX_JIT": "1"})[:2],
                         (0, summary(1, 0)))

    def test_on_another_device_nothing_has_to_differ(self):
        name = "unused variable of sm_80 alone"
        self.assertEqual(self.replay([{"launch": 0, "mark": 1}], name=name, capability="8.0"), (0, summary(1, 0), ""))

    def test_what_was_not_tried_is_counted(self):
        self.assertEqual(self.replay([{"no": "no libcudart.so"}])[:2], (0, summary(1, 0).replace("0 not tried", "1 not tried")))

    def test_a_file_that_leads_out_of_its_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(os.path.join(folder, "bad.tar.xz"), "w:xz") as archive:
                archive.addfile(tarfile.TarInfo("../out"), io.BytesIO(b""))
            code, _, err = run(os.path.join(HERE, "replay.py"), ARCHGUARD, JUDGE, folder)
        self.assertEqual(code, 1)
        self.assertIn("no record: it holds '../out'", err)

    def test_no_records(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(os.path.join(HERE, "replay.py"), ARCHGUARD, JUDGE, folder)[0], 77)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
