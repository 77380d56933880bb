"""The wheel for this machine, in use: wheel.py REPOSITORY FOLDER WORK CACHE

FOLDER has what packaging/wheel/build made. Nothing is asked of PyPI: what builds wheels lies in CACHE/python-tools.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

repository, folder, work, cache = (pathlib.Path(each).resolve() for each in sys.argv[1:])
failures = []
VERSION = re.search(r"project\(ArchGuard\s+VERSION ([0-9.]+)", (repository / "CMakeLists.txt").read_text()).group(1)
MACHINE = platform.machine()


def skip(why):
    print("SKIPPED: " + why)
    sys.exit(77)


def check(what, holds, found=""):
    print("%s %s" % ("ok    " if holds else "FAILED", what))
    if not holds:
        failures.append(what)
        print(found)


def run(*command, **more):
    """The exit status, and all that was printed."""
    more.setdefault("env", ENVIRONMENT)
    done = subprocess.run([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, check=False, **more)
    return done.returncode, done.stdout


def must(*command, **more):
    status, output = run(*command, **more)
    if status:
        sys.exit("%s: exit %d\n%s" % (" ".join(map(str, command)), status, output))
    return output


def one(pattern):
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit("%s: expected one %s, found %s" % (folder, pattern, [each.name for each in found]))
    return found[0]


# Nothing of the machine's own but the tools that a build needs; pip looks at these folders alone.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON", "CMAKE_", "ARCHGUARD_"))
               and name not in ("CI", "CUDAARCHS", "VIRTUAL_ENV")}
ENVIRONMENT.update(PIP_NO_INDEX="1", PIP_FIND_LINKS="%s %s" % (folder, cache / "python-tools"), PIP_DISABLE_PIP_VERSION_CHECK="1",
                   PYTHONDONTWRITEBYTECODE="1", ARCHGUARD_DETECT="OFF", HOME=str(work), CUDACXX=shutil.which("nvcc") or "")


def has_needed(program):
    """The libraries that a program is linked with."""
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", must("readelf", "-d", program)))


def check_the_wheel_itself(wheel):
    name = re.fullmatch(r"archguard_cuda-%s-py3-none-((?:manylinux\w+?\.?)+)_%s\.whl" % (re.escape(VERSION), MACHINE), wheel.name)
    glibc = [int(minor) for minor in re.findall(r"manylinux_2_(\d+)_", wheel.name)]
    check("the tag is manylinux for glibc 2.28 or older", name and glibc and min(glibc) <= 28, wheel.name)
    check("at most 4 MB (%.2f)" % (wheel.stat().st_size / 1e6), wheel.stat().st_size <= 4e6)
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        info = "archguard_cuda-%s.dist-info" % VERSION
        points = archive.read(info + "/entry_points.txt").decode()
    wanted = [info + "/licenses/LICENSE", info + "/licenses/packaging/copyright", "archguard_cuda/bin/archguard", "archguard_cuda/bin/arch_probe",
              "archguard_cuda/lib/cmake/ArchGuard/ArchGuardConfig.cmake", "archguard_cuda/lib/cmake/ArchGuard/archguard/detail/json.cmake",
              "archguard_cuda/lib/cmake/ArchGuard/preflight/archguard_preflight.c"]
    data = "archguard_cuda-%s.data/" % VERSION
    wanted += [data + each for each in ("scripts/archguard", "scripts/arch_probe", "data/share/bash-completion/completions/archguard",
                                        "data/share/fish/vendor_completions.d/arch_probe.fish", "data/share/zsh/site-functions/_archguard", "data/share/man/man1/archguard-verify.1")]
    check("it has programs, CMake package, completions, man pages and licences", names.issuperset(wanted), sorted(set(wanted) - names))
    check("its entry points are for scikit-build-core", all("[cmake.%s]\nArchGuard = archguard_cuda" % each in points for each in ("root", "prefix")), points)


def make_environment(name, *packages):
    path = work / name
    must(sys.executable, "-m", "venv", path)
    if packages:
        must(path / "bin/python", "-m", "pip", "install", "-q", *packages)
    return path


def check_in_environment(wheel):
    venv = make_environment("venv", wheel)
    package = next(venv.glob("lib*/python3*/site-packages/archguard_cuda"))
    for program in ("archguard", "arch_probe"):
        path = venv / "bin" / program
        for each in (path, package / "bin" / program):
            check("%s is a program, no script" % each, each.read_bytes()[:4] == b"\x7fELF")
            check("%s is linked with glibc alone" % each,
                  all(re.match(r"(libc|libm|libdl|librt|libpthread|ld-linux.*)\.so\.", name) for name in has_needed(each)), has_needed(each))
            check("%s runs" % each, must(each, "--version").startswith("%s %s\n" % (program, VERSION)))
        check("what is on PATH only starts the one in the package", path.stat().st_size < 50000, path.stat().st_size)
    link = work / "linked"
    link.symlink_to(venv / "bin/archguard")
    check("a link to the program finds it", must(link, "--version") == "archguard %s\n" % VERSION)
    own_info = package.parent / ("archguard_cuda-%s.dist-info" % VERSION)
    own_info.rename(package.parent / "archguard_cuda-0.0.9.dist-info")
    status, output = run(venv / "bin/archguard", "--version")
    check("beside a package of another version it says what to do", status == 2 and output ==
          "archguard_cuda: no package archguard-cuda %s is near the archguard that was started; reinstall it: "
          "python -m pip install --force-reinstall archguard-cuda\n" % VERSION, output)
    (package.parent / "archguard_cuda-0.0.9.dist-info").rename(own_info)
    told = must(venv / "bin/python", "-c", "import archguard_cuda as a; print(a.cmake_dir()); print(a.program('arch_probe'))").split("\n")
    check("cmake_dir() is the CMake package", (pathlib.Path(told[0]) / "ArchGuardConfig.cmake").is_file(), told)
    check("program() is the program", "arch_probe" in must(told[1], "--version"), told)
    check("archguard --cmakedir is cmake_dir()", must(venv / "bin/archguard", "--cmakedir") == told[0] + "\n",
          run(venv / "bin/archguard", "--cmakedir"))
    status, output = run(venv / "bin/archguard", "verify", venv / "bin/archguard", "--device", "8.0")
    check("verify gives a verdict", status == 3, output)

    # Another's program of that name, as `archguard` on PyPI brings one.
    own = (venv / "bin/archguard").read_bytes()
    (venv / "bin/archguard").write_text("#!/bin/sh\necho another tool\n")
    check("python -m archguard_cuda is ours", must(venv / "bin/python", "-m", "archguard_cuda", "--version") == "archguard %s\n" % VERSION)
    check("the CMake package takes ours", "another" not in configure_consumer(told[0], "foreign")[1])
    (venv / "bin/archguard").write_bytes(own)

    moved = work / "moved"
    venv.rename(moved)
    told = must(moved / "bin/archguard", "--cmakedir").strip()
    check("a moved environment finds its own CMake package", told.startswith(str(moved)), told)
    status, output = configure_consumer(told, "moved")
    check("and configures a project", status == 0 and "ArchGuard_DIR %s" % told in output, output)

    target = work / "target"
    must(sys.executable, "-m", "pip", "install", "-q", "--target", target, wheel)
    check("in a folder of pip install --target, too", must(target / "bin/archguard", "--version") == "archguard %s\n" % VERSION)

    package = pathlib.Path(told).parents[2]
    (package / "bin/archguard").chmod(0o644)
    status, output = run(moved / "bin/archguard", "--version")
    check("a program that cannot be started is named", status == 2 and "%s/bin/archguard cannot be run: Permission denied; reinstall it: "
          % package in output, output)
    status, output = run("/bin/sh", "-c", "PYTHONPATH=%s exec %s -m archguard_cuda --version" % (package.parent, sys.executable))
    check("a program that cannot be run is named, with the line to type",
          status == 1 and "%s/bin/archguard cannot be run: Permission denied; reinstall it: python -m pip install --force-reinstall archguard-cuda"
          % package in output, output)
    (package / "bin/archguard").chmod(0o755)
    return package


def configure_consumer(cmake_dir, name):
    """A project that asks for the architectures of two devices, by ArchGuard_DIR."""
    source = work / ("consumer-" + name)
    source.mkdir()
    (source / "fleet.csv").write_text("name, compute_cap, driver_version\nNVIDIA A100, 8.0, 580.95.05\n")
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(consumer LANGUAGES CXX)\nfind_package(ArchGuard REQUIRED)\n"
        "message(STATUS \"ArchGuard_DIR ${ArchGuard_DIR}\")\n"
        "archguard_select_architectures(FLEET fleet.csv)\n")
    return run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja", "-DArchGuard_DIR=" + cmake_dir)


def build_wheel(project, name, **environment):
    """pip wheel, whose build has an environment of its own."""
    source = work / name
    shutil.copytree(repository / "examples" / project, source)
    fleet = environment.pop("fleet", None)
    if fleet:
        (source / "fleet.csv").write_text((source / "fleet.csv").read_text() + fleet)
    return run(work / "builder/bin/python", "-m", "pip", "wheel", "-v", "--no-deps", "--wheel-dir", work / (name + ".out"), source,
               env=dict(ENVIRONMENT, **environment))


MISSED = {"CUDAARCHS": "80-real", "SCALING_GENCODE": "-gencode=arch=compute_80,code=sm_80"}
MESSAGE = ("archguard: error 209: ", "cannot run on NVIDIA H100 80GB HBM3 (9.0, fleet.csv:3)",
           "seen as: no kernel image is available for execution on the device", "found: sm_80 cubin, no PTX")


def check_python_projects(package):
    """The examples: as their CI builds them, by a user who has ArchGuard in `package`, and by one who has none."""
    make_environment("builder")
    system = work / "system/lib/cmake/ArchGuard"  # another copy on the machine
    system.mkdir(parents=True)
    (system / "ArchGuardConfig.cmake").write_text("message(FATAL_ERROR \"the system's copy was taken\")\n")
    for project in ("scikit-build-core", "setuptools"):
        status, output = build_wheel(project, project + "-ci", CI="1", CMAKE_PREFIX_PATH=str(work / "system"))
        check("%s: pip wheel verifies with the wheel of its build environment" % project, status == 0 and "2 of 2 covered" in output, output)
        if status == 0:
            made = next((work / (project + "-ci.out")).glob("*.whl"))
            status, output = run(work / "moved/bin/archguard", "verify", made, "--device", "8.0", "--device", "9.0")
            check("%s: the wheel that came out is covered" % project, status == 0, output)
        status, output = build_wheel(project, project + "-missed", CI="1", **MISSED)
        text = " ".join(output.split())
        check("%s: a list that misses a device fails pip wheel, with the whole message" % project,
              status != 0 and all(each in text for each in MESSAGE), output)
        status, output = build_wheel(project, project + "-user", CMAKE_PREFIX_PATH=str(package), **MISSED)
        check("%s: an end user is warned" % project, status == 0 and "cannot run on NVIDIA H100" in " ".join(output.split()), output)
    status, output = build_wheel("scikit-build-core", "no-wheel", PIP_FIND_LINKS=str(cache / "python-tools"))
    check("without a wheel of ArchGuard an end user builds all the same", status == 0 and "ArchGuard:" not in output, output)


def check_sdist(sdist):
    with tarfile.open(sdist) as archive:
        names = {each.split("/", 1)[-1] for each in archive.getnames()}
    check("the sdist has sources, licences and no tests", {"LICENSE", "pyproject.toml", "packaging/copyright", "src/base/result.h"} <= names
          and not any(each.startswith(("tests", "docs/")) for each in names))


if not (cache / "python-tools").is_dir():
    skip("no python-tools in %s (tests/support/fetch python-tools)" % cache)
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
the_wheel = one("archguard_cuda-*_%s.whl" % MACHINE)
check_the_wheel_itself(the_wheel)
check_sdist(one("archguard_cuda-*.tar.gz"))
installed = check_in_environment(the_wheel)
if shutil.which("nvcc"):
    check_python_projects(installed)
else:
    print("SKIPPED: no nvcc on PATH, for the examples")
print("%d failures" % len(failures))
if failures:
    sys.exit(1)
shutil.rmtree(work)
