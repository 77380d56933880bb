"""A fleet and files whose names are hostile to every format, and what the tests of reports share."""
import argparse
import pathlib
import subprocess
import sys

FLEET = """name, compute_cap, driver_version, count, excluded
Tesla T4, 7.5, 550.54, 10,
"NVIDIA A100, <b>80 GB</b>", 8.0, 550.54, 1,
NVIDIA H100 ]]> %0A ::error::x, 9.0, 550.54, 2,
NVIDIA B200, 10.0, 580.1, 2,
NVIDIA GeForce GT 710, 3.5, 470.1, 1, display card
"""
# Each is a file; `/` cannot stand in a name, so "</script>" is a folder and a file.
HOSTILE = [
    "<img src=x onerror=window.hacked=1>.so",
    "</script><script>window.hacked=1<x>.so",
    "a&b\"c'd]]>.so",
    "100%,x:y\n::error::z.so",
    "|`*_[x](http:y)@me #1.so",
    "\u202eso.gnp.so",
    b"\xff\xfe.so".decode("utf-8", "surrogateescape"),
]
KERNEL = "<img/onerror=window.hacked=1>&\"'"


class Play:
    def __init__(self, folder):
        parser = argparse.ArgumentParser()
        parser.add_argument("--archguard", required=True)
        parser.add_argument("--fixture", required=True)
        parser.add_argument("--readers", required=True)
        self.options = parser.parse_args()
        self.options.archguard = str(pathlib.Path(self.options.archguard).resolve())
        self.folder = pathlib.Path(folder)
        self.bad = 0
        (self.folder / "fleet.csv").write_text(FLEET)

    def check(self, what, holds):
        if not holds:
            print("failed: " + what)
            self.bad += 1

    def build(self, name, *words):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        plain = self.folder / "plain.so"
        subprocess.run([self.options.fixture, str(plain), *words], check=True)
        plain.rename(path)
        return name

    def files(self):
        """Some that all devices run, some that none does, one that cannot be read, and hostile names."""
        made = [self.build("b/lib%02d.so" % i, "13.0", "sm_80") for i in range(5)]
        made += [self.build("whole.so", "12.4", "sm_75", "sm_80", "sm_90", "compute_90")]
        made += [self.build(name, "12.4", "sm_80:kernel=" + KERNEL, "sm_90:kernel=" + KERNEL) for name in HOSTILE]
        cut = self.build("cut.so", "12.4", "sm_80")
        whole = (self.folder / cut).read_bytes()
        (self.folder / cut).write_bytes(whole[:len(whole) // 2])
        return made + [cut]

    def verify(self, *words, env=None):
        done = subprocess.run([self.options.archguard, "verify", *words], cwd=self.folder, capture_output=True,
                              env={"PATH": "/usr/bin:/bin", **(env or {})}, timeout=120, check=False)
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")

    def end(self):
        sys.exit(1 if self.bad else 0)
