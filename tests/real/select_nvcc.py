"""What arch_probe selects, really compiled by nvcc, against archguard verify and against NVIDIA's own tools.

Each case is a fleet and a policy. The list of `select` is compiled; `verify` must find every device covered that
select did not leave out; and so must the judge here, which knows no rule of compatibility itself: a device is
served where a cubin is of its own arch, where nvlink accepts SASS of a cubin's arch for it, or where ptxas
assembles the PTX for it. These two come from a release newer than nvcc, which knows newer devices.
"""
import collections
import concurrent.futures
import functools
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

import common

SEED = 20251121
CASES = 200
WORKERS = 2
KERNEL = "__global__ void scale(float* x) { x[threadIdx.x] *= 2.0f; }\n"
OLDER = ["5.2", "6.1", "7.0", "7.2"]  # CUDA 13 makes nothing for them

Case = collections.namedtuple("Case", "devices sass suffix ptx")


def capability(number):
    return number[:-1] + "." + number[-1]


def arch(capability_text):
    return capability_text.replace(".", "")


def runs(command, cwd=None):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, cwd=cwd)


def later_tool(name):
    path = os.path.join(common.options.cache, "nvcc-13.5/nvidia/cu13/bin", name)
    if not os.path.exists(path):
        raise unittest.SkipTest("no %s of CUDA 13.5; run tests/support/fetch nvcc-13.5" % name)
    return os.path.abspath(path)


def sampled_cases(known, newer):
    """Fleets of one to four devices, the first of which nvcc has SASS for; mostly known ones, a few others."""
    dice = random.Random(SEED)
    cases = []
    for _ in range(CASES):
        devices = [dice.choice(known)]
        for _ in range(dice.randrange(4)):
            devices.append(dice.choice(dice.choices([known, OLDER, newer], [8, 1, 1])[0]))
        cases.append(Case(devices, dice.choice(["exact", "minimal"]),
                          dice.choice(["none", "none", "a", "f"]), dice.choice(["newest", "oldest", "none"])))
    return cases


class Judge:
    """NVIDIA's tools, asked once for each question."""

    def __init__(self, folder):
        self.folder = folder
        self.ptxas, self.nvlink = later_tool("ptxas"), later_tool("nvlink")
        self.source = os.path.join(folder, "judge.ptx")
        self.links = functools.lru_cache(None)(self.links)
        self.assembles = functools.lru_cache(None)(self.assembles)
        common.run([common.nvcc(), "-ptx", "-arch=compute_75", "-o", self.source, "kernel.cu"], cwd=folder)

    def scratch(self, name):
        return os.path.join(self.folder, "%s.%d" % (name, threading.get_ident()))

    def links(self, made_for, device):
        """Does nvlink take SASS of that arch into an image for the device?"""
        part = self.scratch("part") + ".o"
        common.run([self.ptxas, "-c", "-arch=sm_" + made_for, self.source, "-o", part])
        # 90a for 9.0: a device answers to its names with a suffix, too.
        for name in (device, device + made_for[-1] if made_for[-1] in "af" else device):
            done = runs([self.nvlink, "-arch=sm_" + name, part, "-o", self.scratch("linked")])
            if done.returncode == 0:
                return True
            said = done.stdout + done.stderr
            if not re.search(r"does not match target|cannot link accelerated|not defined|nknown", said):
                raise AssertionError("nvlink: " + said)
        return False

    def assembles(self, ptx, device):
        path = self.scratch("asked") + ".ptx"
        with open(path, "w") as file:
            file.write(ptx)
        return runs([self.ptxas, "-arch=sm_" + device, path, "-o", self.scratch("assembled")]).returncode == 0

    def serves(self, cubins, ptx, device):
        return (device in cubins or any(self.links(each, device) for each in cubins) or
                any(self.assembles(each, device) for each in ptx))


class SelectTest(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        release = re.search(r"release (\d+)\.(\d+)", common.run([common.nvcc(), "--version"]))
        if int(release.group(1)) < 13:
            raise unittest.SkipTest("nvcc %s.%s; these tests are written for 13.0 and later" % release.groups())
        common.cuobjdump()
        later_tool("ptxas")
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        with open(os.path.join(cls.folder, "kernel.cu"), "w") as file:
            file.write(KERNEL)
        cls.judge = Judge(cls.folder)

    def select(self, case, form):
        devices = [part for device in case.devices for part in ("--device", device)]
        return common.run([common.options.arch_probe, "select", *devices, "--nvcc", common.nvcc(), "--sass", case.sass,
                           "--suffix", case.suffix, "--ptx", case.ptx, "--format", form])

    def compile(self, name, flags):
        """The archs of its cubins and its PTX texts, as cuobjdump tells both."""
        common.run([common.nvcc(), "-fatbin", "-o", name + ".fatbin", *flags, "kernel.cu"], cwd=self.folder)
        fatbin, own = os.path.join(self.folder, name + ".fatbin"), os.path.join(self.folder, name)
        os.mkdir(own)
        tool = os.path.abspath(common.cuobjdump())
        # `-lelf` would drop the suffix f.
        cubins = re.findall(r"^Fatbin elf code:\n=+\narch = sm_(\w+)$", runs([tool, "-all", fatbin]).stdout,
                            re.MULTILINE)
        runs([tool, "-xptx", "all", fatbin], cwd=own)
        ptx = []
        for path in sorted(os.listdir(own)):
            with open(os.path.join(own, path)) as file:
                ptx.append(file.read())
        return fatbin, cubins, ptx

    def verify(self, number, case, fatbin, selected):
        excluded = os.path.join(self.folder, "excluded-%d.json" % number)
        with open(excluded, "w") as file:
            file.write(selected)
        devices = [part for device in case.devices for part in ("--device", device)]
        return runs([common.options.archguard, "verify", fatbin, *devices, "--excluded", excluded, "--format", "json"])

    def test_what_is_selected_serves_the_fleet(self):
        listed = re.findall(r"^sm_(\d+)$", common.run([common.nvcc(), "--list-gpu-code"]), re.MULTILINE)
        every = set(re.findall(r"'sm_(\d+)'", common.run([self.judge.ptxas, "--help"])))
        newer = sorted(every - set(listed), key=int)
        self.assertTrue(newer, "ptxas knows no device that nvcc does not")
        cases = sampled_cases([capability(each) for each in listed], [capability(each) for each in newer])

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            selected = list(pool.map(lambda case: self.select(case, "json"), cases))
            lists = list(pool.map(lambda case: self.select(case, "cmake").strip(), cases))
            wanted = {}
            for case, text in zip(cases, lists):
                wanted.setdefault(text, case)
            built = dict(zip(wanted, pool.map(
                lambda numbered: self.compile("list%d" % numbered[0], self.select(numbered[1], "gencode").split()),
                enumerate(wanted.values()))))
            verified = list(pool.map(lambda i: self.verify(i, cases[i], built[lists[i]][0], selected[i]),
                                     range(len(cases))))

        counts = collections.Counter(lists=len(wanted))
        for text, (_, cubins, ptx) in built.items():
            asked = collections.Counter(re.findall(r"-(real|virtual)", text))
            self.assertEqual((len(cubins), len(ptx)), (asked["real"], asked["virtual"]), text)
        for case, text, choice, done in zip(cases, lists, selected, verified):
            with self.subTest(devices=case.devices, sass=case.sass, suffix=case.suffix, ptx=case.ptx, selected=text):
                choice = json.loads(choice)
                self.assertEqual(";".join(choice["architectures"]), text)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                excluded = {each["index"] for each in choice["excluded"]}
                _, cubins, ptx = built[text]
                for index, device in enumerate(case.devices):
                    served = self.judge.serves(tuple(cubins), tuple(ptx), arch(device))
                    self.assertEqual(served, index not in excluded, device)
                    counts["served" if served else "left out"] += 1
                    counts["served with a suffix"] += served and any(
                        each[-1] in "af" and each[:-1] == arch(device) for each in cubins)
                    counts["without its own cubin"] += served and arch(device) not in cubins
        print("%d cases, %s" % (len(cases), ", ".join("%d %s" % (n, what) for what, n in counts.items())))
        for what in ("served", "left out", "served with a suffix", "without its own cubin"):
            self.assertGreater(counts[what], CASES // 10, what)


if __name__ == "__main__":
    common.main()
