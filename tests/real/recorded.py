"""Where nvJitLink, which is asked for much that no GPU is at hand for, parts from the driver that tests/truth recorded."""
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

import common

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../truth/records/nvidia-h200-580.159.04.tar.xz")
# In a process of its own, since it crashes on some input: prints whether nvJitLink links the file for sm_90.
LINK = """
import ctypes, sys
library, path = sys.argv[1:]
create, add, complete = [ctypes.CDLL(library)["__nvJitLink%s_13_0" % name] for name in ("Create", "AddData", "Complete")]
add.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]
handle, option = ctypes.c_void_p(), ctypes.c_char_p(b"-arch=sm_90")
assert create(ctypes.byref(handle), 1, (ctypes.c_char_p * 1)(option)) == 0
with open(path, "rb") as file:
    data = file.read()
kind = {"cubin": 1, "ptx": 2, "fatbin": 4}[path.rsplit(".", 1)[1]]
data += b"\\0" if kind == 2 else b""
print(add(handle, kind, data, len(data), b"input") == 0 and complete(handle) == 0)
"""
# Why the two part, and which cases do so.
LINKER_ALONE = {
    "it takes a cubin by itself for any architecture": r"^sass (?!90).*, bare$",
    "it does not look for functions that the driver is to have": r"may call cudaDeviceMemcpyAsync",
}
DRIVER_ALONE = {
    "it takes 90a with -arch=sm_90a alone": r"\b90a\b",
    "it refuses PTX of 7.2": r"^ptx 72 of nvcc 11.8$",
    "it wants all functions when it links, the driver when a kernel is looked up": r"^relocatable sass 90 that calls what nobody defines",
}


class RecordedTest(unittest.TestCase):
    def test_the_linker_and_the_driver(self):
        found = glob.glob(os.path.join(common.options.cache, "nvjitlink-13.0", "**", "libnvJitLink.so.*"), recursive=True)
        if not found:
            raise unittest.SkipTest("no nvJitLink; run tests/support/fetch nvjitlink-13.0")
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(RECORD) as archive:
                for member in archive:
                    with open(os.path.join(folder, os.path.basename(member.name)), "wb") as file:
                        file.write(archive.extractfile(member).read())
            with open(os.path.join(folder, "record.json")) as file:
                cases = [case for case in json.load(file)["cases"] if not case["damaged"] and "." in case["file"]]

            def links(case):
                done = subprocess.run([sys.executable, "-c", LINK, found[0], os.path.join(folder, case["file"])], stdout=subprocess.PIPE,
                                      text=True, timeout=100)
                self.assertEqual(done.returncode, 0, case["name"])
                return done.stdout.strip() == "True"

            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                linked = list(pool.map(links, cases))
        parts = {True: [], False: []}
        for case, does in zip(cases, linked):
            (result,) = [run["result"] for run in case["runs"] if run["through"] == "driver" and not run["env"]]
            if does != (result["load"] == 0):
                parts[does].append(case["name"])
        self.assertGreater(len(cases), 500)
        for does, reasons in ((True, LINKER_ALONE), (False, DRIVER_ALONE)):
            with self.subTest("the linker alone takes" if does else "the driver alone takes"):
                told = {reason: [name for name in parts[does] if re.search(pattern, name)] for reason, pattern in reasons.items()}
                self.assertTrue(all(told.values()), told)
                self.assertEqual(set(parts[does]) - set(sum(told.values(), [])), set())


if __name__ == "__main__":
    common.main()
