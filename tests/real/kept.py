"""verify --cache on NVIDIA's own libraries: what is taken from the folder is reported as what was read, to the letter, and
costs next to nothing. The smaller ones of a toolkit; with --full all of them, and those that tests/support/fetch fetched."""
import glob
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

import common

DEVICES = ("7.0", "8.0@12.4", "8.7", "9.0@11.8", "12.0")


def machine_of(path):
    """The ELF header up to e_machine, without what differs between a program and a library; nothing for other files."""
    with open(path, "rb") as file:
        header = file.read(20)
    return header[:7] + header[18:] if header[:4] == b"\x7fELF" else None


def libraries_in(folder):
    """Those that a program of this machine can be linked with."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "**", "lib*.so*"), recursive=True)):
        if os.path.isfile(path) and "/stubs/" not in path and machine_of(path) == machine_of(sys.executable):
            found.setdefault(os.path.realpath(path), path)
    return list(found)


class KeptTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def program_of(self, libraries):
        """One that needs them all, beside links that are named as it names them."""
        compiler = shutil.which(os.environ.get("CC", "cc")) or self.skipTest("no C compiler")
        path = os.path.join(self.folder, "program.so")
        common.run([compiler, "-shared", "-nostdlib", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", "-o", path, *libraries])
        names = re.findall(r"\(NEEDED\).*\[(.*)\]", common.run(["readelf", "-d", path]))
        self.assertEqual(len(libraries), len(names))
        for name, library in zip(names, libraries):
            os.symlink(library, os.path.join(self.folder, name))
        return path

    def verify(self, program, *more):
        """The report, and the CPU seconds that it took."""
        command = [common.options.archguard, "verify", program, "--needed-only", *more]
        for device in DEVICES:
            command += ["--device", device]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=500,
                              env={**os.environ, "LD_LIBRARY_PATH": self.folder})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_what_is_taken_is_what_was_read(self):
        folders = [os.path.join(common.options.toolkit, "lib64")]
        if common.options.full:
            folders += sorted(glob.glob(os.path.join(common.options.cache, "*")))
        checked = 0
        for folder in folders:
            libraries = [path for path in libraries_in(folder) if common.options.full or os.path.getsize(path) < 100 << 20]
            names = [os.path.basename(each) for each in libraries]
            if not libraries or len(set(names)) != len(names):  # of several machines
                continue
            self.check(folder, libraries)
            checked += 1
            self.setUp()
        if checked == 0:
            self.skipTest("no library in %s" % ", ".join(folders))

    def check(self, folder, libraries):
        program, cache = self.program_of(libraries), ["--cache", os.path.join(self.folder, "cache")]
        fresh = self.verify(program)[0]
        made, reading = self.verify(program, *cache)
        self.assertEqual(fresh, made)
        kept, taking = self.verify(program, *cache)
        self.assertEqual(fresh, kept)
        self.assertEqual(self.verify(program, "--format", "json")[0], self.verify(program, "--format", "json", *cache)[0])
        print("  %s: %d libraries, read in %.2f s of CPU, taken in %.3f" % (
            os.path.basename(folder), len(libraries), reading, taking), flush=True)
        self.assertLess(taking, max(0.1, reading / 10))


if __name__ == "__main__":
    common.main()
