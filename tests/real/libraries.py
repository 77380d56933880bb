"""`archguard verify --scope library` on the toolkit's own libraries, which choose among their images: what NVIDIA says of a
device (release notes of CUDA 13.0: 7.5 and newer; on x86-64 no Jetson) is what archguard says."""
import json
import os
import subprocess
import unittest

import common

SERVED = ("7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0", "12.1")
LEFT_OUT = ("6.1", "7.0", "8.7", "11.0")


class LibrariesTest(unittest.TestCase):
    def results(self, name, *more):
        """What is said of each device, by its capability. Devices that serve nothing are asked for, too."""
        path = os.path.join(common.options.toolkit, "lib64", name)
        if not os.path.exists(path):
            self.skipTest("no %s in the toolkit" % name)
        command = [common.options.archguard, "verify", path, "--scope", "library", "--format", "json", *more]
        for device in SERVED + LEFT_OUT:
            command += ["--device", device]
        document = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300).stdout)
        results = {document["devices"][each["device"]]["compute_capability"]: each for each in document["files"][0]["results"]}
        for device, each in results.items():
            self.assertLessEqual(each["kernels"]["covered"], each["kernels"]["total"], device)
        return results

    def check(self, name, partly):
        """`partly`: how many kernels the devices get that are left out and get any."""
        results = self.results(name)
        best = max(each["kernels"]["covered"] for each in results.values())
        for device in SERVED:
            self.assertEqual(("covered", None), (results[device]["verdict"], results[device]["partly"]), device)
        for device in LEFT_OUT:
            each = results[device]
            self.assertEqual("not-covered", each["verdict"], device)
            if device in partly:
                self.assertEqual((partly[device], best), (each["partly"]["kernels"], each["partly"]["best"]), device)
            else:
                self.assertEqual((0, None), (each["kernels"]["covered"], each["partly"]), device)
        print("  %s: best %d, partly %s" % (name, best, partly), flush=True)

    def test_cublaslt_has_a_probe_for_jetson_and_no_more(self):
        self.check("libcublasLt.so.13", {"8.7": 1, "11.0": 1})

    def test_cusparse(self):
        self.check("libcusparse.so.12", {"11.0": 56})

    def test_cusolver(self):
        self.check("libcusolver.so.12", {"8.7": 169, "11.0": 241})

    def test_cublas(self):
        self.check("libcublas.so.13", {})

    def test_cufft_serves_jetson_through_ptx(self):
        results = self.results("libcufft.so.12")
        for device in SERVED + ("8.7", "11.0"):
            self.assertEqual(("covered", None), (results[device]["verdict"], results[device]["partly"]), device)
        self.assertEqual("not-covered", results["7.0"]["verdict"])

    def test_engines_that_are_compiled_at_run_time_are_warned_of(self):
        results = self.results("libcudnn_engines_runtime_compiled.so.9")
        self.assertEqual(("covered", 43), (results["7.5"]["verdict"], results["7.5"]["partly"]["kernels"]))
        for device in SERVED[1:]:
            self.assertEqual(("covered", None), (results[device]["verdict"], results[device]["partly"]), device)

    def test_the_policy(self):
        for policy in ("warn", "off"):
            each = self.results("libcusolver.so.12", "--partly", policy)["11.0"]
            self.assertEqual(("covered", policy == "off"), (each["verdict"], each["partly"] is None), policy)
        probe = self.results("libcublasLt.so.13", "--partly", "off")["11.0"]
        self.assertEqual("not-covered", probe["verdict"])


if __name__ == "__main__":
    common.main()
