"""Which driver has which function: the table, against NVIDIA's headers and against libcuda of a driver."""
import os
import re
import subprocess
import unittest

import common

HEADERS = {(11, 8): "cuda-11.8/include", (13, 0): "nvcc-13.0/nvidia/cu13/include", (13, 5): "nvcc-13.5/nvidia/cu13/include"}
LIBRARY = "driver-535/debian/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1"


def text_of(path):
    path = os.path.join(common.options.cache, path)
    if not os.path.exists(path):
        raise unittest.SkipTest("no %s; run tests/support/fetch %s" % (path, os.path.relpath(path, common.options.cache).split("/")[0]))
    with open(path, encoding="utf-8") as file:
        return file.read()


def declared_in(folder):
    """The functions that cuda.h declares, and those that its macros turn names into."""
    text = text_of(folder + "/cuda.h")
    names = set(re.findall(r"CUDAAPI\s+(cu\w+)\s*\(", text))
    return names | set(re.findall(r"^#\s*define\s+cu\w+\s+(?:__CUDA_API_PT(?:SZ|DS)\()?(cu\w+)\)?\s*$", text, re.M))


def firsts_of(names):
    done = subprocess.run([common.options.functions], input="".join(name + "\n" for name in sorted(names)), capture_output=True,
                          text=True, check=True, timeout=60)
    lines = (line.split() for line in done.stdout.splitlines())
    return {name: tuple(map(int, first.split("."))) for name, first in lines if first != "-"}


class DriverFunctions(unittest.TestCase):
    def test_headers(self):
        newest = firsts_of(declared_in(HEADERS[13, 5]))
        self.assertGreater(len(newest), 250)
        for release, folder in HEADERS.items():
            there = declared_in(folder)
            for name, first in newest.items():
                if name.endswith(("_ptsz", "_ptds")):  # some came into the header later than into the drivers
                    continue
                with self.subTest(release=release, name=name):
                    self.assertEqual(name in there, first <= release)

    def test_versions_of_typedefs(self):
        versions = set(re.findall(r"PFN_(cu\w+?_v\d{4,5})(?:_pt[sd][sz])?\)", text_of(HEADERS[13, 5] + "/cudaTypedefs.h")))
        for name, first in firsts_of(declared_in(HEADERS[13, 5])).items():
            with self.subTest(name=name):
                base = re.sub(r"(_v[2-9])?(_pt[sd][sz])?$", "", name)
                self.assertTrue("%s_v%d" % (base, first[0] * 1000 + first[1] * 10) in versions)

    def test_driver(self):
        library = os.path.join(common.options.cache, LIBRARY)
        if not os.path.exists(library):
            raise unittest.SkipTest("no libcuda; run tests/support/fetch driver-535")
        table = common.run(["readelf", "-W", "--dyn-syms", library])
        rows = [line.split() for line in table.splitlines()]
        exported = {row[7].split("@")[0] for row in rows if len(row) >= 8 and row[6] != "UND"}
        self.assertGreater(len(exported), 500)
        for name, first in firsts_of(declared_in(HEADERS[13, 5])).items():
            if name == "cuGetProcAddress_v2_ptsz":  # what a macro makes of a name; no driver has it
                continue
            with self.subTest(name=name):
                self.assertEqual(name in exported, first <= (12, 2))


if __name__ == "__main__":
    common.main()
