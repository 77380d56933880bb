"""The wheel for aarch64, in a Python for aarch64 that qemu runs: wheel_aarch64.py WHEELS PROGRAM WORK CACHE

WHEELS has what packaging/wheel/build made; PROGRAM is archguard for this machine, which must give the same answers.
"""
import pathlib
import re
import shutil
import subprocess
import sys

wheels, program, work, cache = (pathlib.Path(each).resolve() for each in sys.argv[1:])
root = cache / "python-arm64/debian"
nvjpeg = cache / "wheel-nvjpeg-12.3-aarch64"
failures = []


def skip(why):
    print("SKIPPED: " + why)
    sys.exit(77)


def check(what, holds, found=""):
    print("%s %s" % ("ok    " if holds else "FAILED", what))
    if not holds:
        failures.append(what)
        print(str(found)[:4000])


def run(*command, **more):
    done = subprocess.run([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, check=False, **more)
    return done.returncode, done.stdout


def emulated(*command, **more):
    return run(qemu, "-L", root, *command, **more)


qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64") or skip("no qemu-aarch64 (Debian: apt-get install qemu-user-static)")
for folder in (root, nvjpeg):
    if not folder.is_dir():
        skip("no %s (tests/support/fetch %s)" % (folder, folder.relative_to(cache).parts[0]))
found = list(wheels.glob("archguard_cuda-*_aarch64.whl"))
if len(found) != 1:
    skip("no wheel for aarch64 in %s" % wheels)
wheel = found[0]
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)

glibc = [int(minor) for minor in re.findall(r"manylinux_2_(\d+)_aarch64", wheel.name)]
check("the tag is manylinux for glibc 2.28 or older", glibc and min(glibc) <= 28, wheel.name)
check("at most 4 MB (%.2f)" % (wheel.stat().st_size / 1e6), wheel.stat().st_size <= 4e6)

# pip is Python alone: the one of this machine serves.
status, output = run(sys.executable, "-m", "venv", work / "host")
if status:
    skip("python3 has no venv (Debian: apt-get install python3-venv)")
pip = next((work / "host/lib").glob("python3*/site-packages/pip")).parent
venv = work / "venv"
status, output = emulated(root / "usr/bin/python3.11", "-m", "venv", "--without-pip", venv)
check("an environment of aarch64", status == 0, output)
python = venv / "bin/python3.11"
environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(pip), "PIP_NO_INDEX": "1", "PIP_NO_COMPILE": "1"}
status, output = emulated(python, "-m", "pip", "install", "-q", wheel, env=environment)
check("pip takes the wheel", status == 0, output)
status, output = emulated(python, "-m", "pip", "install", "-q", next(wheels.glob("archguard_cuda-*_x86_64.whl")), env=environment)
check("and not the one for x86_64", status != 0 and "not a supported wheel" in output, output)

package = next(venv.glob("lib/python3*/site-packages/archguard_cuda"))
archguard, probe = package / "bin/archguard", package / "bin/arch_probe"
for each in (archguard, probe):  # Linux starts a program of aarch64 only where qemu is registered for it
    status, output = emulated(venv / "bin" / each.name, "--version")
    check("the %s on PATH starts that of the package" % each.name,
          output.startswith(each.name + " ") or "%s cannot be run: Exec format error" % each in output, output)
check("archguard runs", emulated(archguard, "--version")[1].startswith("archguard "))
check("arch_probe runs", emulated(probe, "--version")[1].startswith("arch_probe "))
status, output = emulated(python, "-c", "import archguard_cuda as a; print(a.cmake_dir()); print(a.program('archguard'))")
told = output.split("\n")
check("cmake_dir() is the CMake package", (pathlib.Path(told[0]) / "ArchGuardConfig.cmake").is_file(), output)
check("program() is the program", emulated(told[1], "--version")[1].startswith("archguard "), output)
check("archguard --cmakedir is cmake_dir()", emulated(archguard, "--cmakedir")[1].strip() == told[0], emulated(archguard, "--cmakedir"))

for question in (("verify", nvjpeg, "--device", "8.7", "--device", "9.0", "--device", "5.0"), ("inspect", nvjpeg, "--kernels"),
                 ("verify", nvjpeg, "--device", "9.0", "--format", "json"), ("verify", work / "none", "--device", "9.0")):
    ours, theirs = emulated(archguard, *question), run(program, *question)
    check("%s: the same answer as on this machine" % " ".join(map(str, question[:1] + question[2:])), ours == theirs, (ours, theirs))
(work / "fleet.csv").write_text("name, compute_cap, driver_version\nNVIDIA GH200, 9.0, 580.95.05\nOrin, 8.7,\n")
status, output = emulated(probe, "select", "--fleet", work / "fleet.csv", "--toolkit", "13.0", "--format", "gencode")
check("arch_probe chooses architectures", status == 0 and "sm_87" in output and "sm_90" in output, (status, output))
status, output = emulated(probe)
check("arch_probe says that there is no driver", status != 0 and "driver" in output, (status, output))
if failures:
    sys.exit("%d failed" % len(failures))
shutil.rmtree(work)
