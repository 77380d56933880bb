"""The libraries that a file needs, against the loader itself: the same names at the same paths.

LD_TRACE_LOADED_OBJECTS makes glibc's loader print what it would load. A program is run with it, as a user would run it;
ldd is not asked, since it hands a program to the loader by the name of a link, and $ORIGIN is then the link's folder.
"""
import glob
import json
import os
import re
import subprocess
import tempfile
import unittest

import common

FETCHED = ("libraries-13.0", "nvjpeg-13.0")
NAMES = ("libcublas.so.13", "libcufft.so.12", "libcurand.so.10", "libnvjpeg.so.13")
LOADER = "/lib64/ld-linux-x86-64.so.2"


def traced(path, environment=None):
    """{name: path} of what the loader loads; None for what it loads nothing for (static programs, other machines)."""
    command = [path] if has_interpreter(path) and os.access(path, os.X_OK) else [LOADER, path]
    done = subprocess.run(command, env=dict(environment or os.environ, LD_TRACE_LOADED_OBJECTS="1"), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    found = dict(re.findall(r"^\t(\S+) => (.*?)(?: \(0x[0-9a-f]+\))?$", done.stdout, re.MULTILINE))
    return found if done.returncode == 0 and done.stdout.startswith("\t") else None


def has_interpreter(path):
    with open(path, "rb") as file:
        start = file.read(4096)
    return start[:4] == b"\x7fELF" and b"/ld-linux" in start


def ours(paths, environment=None):
    """{file: {name: path}}; what is passed over and the loader itself are left out."""
    done = subprocess.run([common.options.needed, *paths], env=environment, text=True, stdout=subprocess.PIPE, timeout=300,
                          check=True)
    found, current = {}, None
    for line in done.stdout.splitlines():
        if not line.startswith("\t"):
            current = found.setdefault(line, {})
        elif " => " in line:
            name, where = line.strip().split(" => ")
            current[name] = where
        elif not line.endswith(" passed over"):
            raise AssertionError(line)
    return found


def comparable(libraries):
    return {name: path for name, path in libraries.items() if not re.match("ld-linux|libcuda.so|libnvidia-", name)}


class NeededTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if not os.path.exists(LOADER):
            self.skipTest("no " + LOADER)

    def compare(self, paths, environment=None):
        """How many files were compared."""
        count = 0
        for path, found in ours(paths, environment).items():
            expected = traced(path, environment)
            if expected is None:
                continue
            count += 1
            self.assertEqual(comparable(found), comparable(expected), path)
        return count

    def test_programs_of_this_system(self):
        """Each file with --full, else some of them."""
        paths = [path for pattern in ("/usr/bin/*", "/usr/sbin/*", "/usr/lib/x86_64-linux-gnu/**/*.so*",
                                      os.path.join(common.options.toolkit, "lib64/*.so*"),
                                      os.path.join(common.options.toolkit, "bin/*"))
                 for path in sorted(glob.glob(pattern, recursive=True)) if is_elf(path)]
        if not common.options.full:
            paths = paths[::len(paths) // 50 + 1]
        count = self.compare(paths + ["/bin/sh", common.options.archguard])
        self.assertGreater(count, 2)
        print("%d files compared" % count, flush=True)

    def test_a_program_with_nvidia_libraries(self):
        libraries, names = nvidia_libraries()
        files = [os.path.join(libraries, name) for name in names]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a.c"), "w", encoding="utf-8") as file:
                file.write("int main(void) { return 0; }\n")
            for tag, flags, variable in (
                    ("RPATH", ["-Wl,--disable-new-dtags,-rpath," + libraries], ""),
                    ("RUNPATH", ["-Wl,--enable-new-dtags,-rpath," + libraries], ""),
                    ("LD_LIBRARY_PATH", [], libraries), ("nowhere", [], "")):
                path = os.path.join(folder, tag)
                common.run(["gcc", "a.c", "-o", path, "-Wl,--no-as-needed,--allow-shlib-undefined", *files, *flags],
                           cwd=folder)
                environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
                if variable:
                    environment["LD_LIBRARY_PATH"] = variable
                self.assertEqual(self.compare([path], environment), 1, tag)
                status, judged = self.judge(path, environment)
                if "not found" in traced(path, environment).values():
                    self.assertEqual((tag, status), ("nowhere", 2))
                else:
                    self.assertEqual(status, 0, tag)
                    self.assertLessEqual(set(names), set(map(os.path.basename, judged)), tag)

    def judge(self, path, environment):
        """Exit status, and the needed libraries with device code."""
        done = subprocess.run([common.options.archguard, "verify", path, "--needed", "--device", "8.0@13.0", "--format",
                               "json"], env=environment, text=True, stdout=subprocess.PIPE, timeout=300)
        document = json.loads(done.stdout)
        return done.returncode, [file["path"] for file in document["files"]
                                 if file["needed_by"] and file["verdict"] != "no-device-code"]


def nvidia_libraries():
    """A folder, and names of libraries with device code in it."""
    for root in [common.options.toolkit] + [os.path.join(common.options.cache, name, "nvidia/cu13") for name in FETCHED]:
        for folder in (os.path.join(root, "lib64"), os.path.join(root, "lib")):
            names = [name for name in NAMES if os.path.exists(os.path.join(folder, name))]
            if names:
                return os.path.realpath(folder), names
    raise unittest.SkipTest("no library of the toolkit; run tests/support/fetch " + FETCHED[0])


def is_elf(path):
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


if __name__ == "__main__":
    common.main()
