"""The launcher of a wheel finds the program of its version near it, in each place where pip puts a package.

    launcher.py LAUNCHER VERSION
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LAUNCHER, VERSION = sys.argv.pop(1), sys.argv.pop(1)


class Launcher(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="launcher")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(os.path.realpath(folder.name))

    def package(self, site, version=VERSION):
        (self.folder / site / ("archguard_cuda-%s.dist-info" % version)).mkdir(parents=True)
        program = self.folder / site / "archguard_cuda/bin/archguard"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho \"%s $*\"\nexit 7\n" % site)
        program.chmod(0o755)
        return program

    def launch(self, at="bin/archguard"):
        program = self.folder / at
        program.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(LAUNCHER, program)
        done = subprocess.run([program, "verify", "a b"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def starts(self, site, at="bin/archguard"):
        self.assertEqual(self.launch(at), (7, site + " verify a b\n", ""))

    def test_environment(self):
        self.package("lib/python3.12/site-packages")
        self.starts("lib/python3.12/site-packages")

    def test_debian(self):
        self.package("lib/python3/dist-packages")
        self.starts("lib/python3/dist-packages")

    def test_target(self):
        self.package("target")
        self.starts("target", "target/bin/archguard")

    def test_unpacked(self):
        self.package("wheel")
        self.starts("wheel", "wheel/archguard_cuda.data/scripts/archguard")

    def test_the_version_decides_between_two_pythons(self):
        self.package("lib/python3.11/site-packages", "0.0.1")
        self.package("lib/python3.12/site-packages")
        self.starts("lib/python3.12/site-packages")

    def refuses(self, says):
        status, out, err = self.launch()
        self.assertEqual((status, out), (2, ""))
        self.assertIn(says, err)
        self.assertIn("reinstall it: python -m pip install", err)

    def test_another_version(self):
        self.package("lib/python3.12/site-packages", "0.0.1")
        self.refuses("no package archguard-cuda %s is near the archguard" % VERSION)

    def test_no_package(self):
        self.refuses("no package archguard-cuda %s is near the archguard" % VERSION)

    def test_program_that_cannot_be_run(self):
        self.package("lib/python3.12/site-packages").write_bytes(b"\0")
        self.refuses("lib/python3.12/site-packages/archguard_cuda/bin/archguard cannot be run: ")


unittest.main()
