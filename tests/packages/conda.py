"""The recipe of packaging/conda and the one of examples/conda, built by rattler-build: conda.py REPOSITORY WORK CACHE

conda-forge is not asked: what the recipes take from it, compilers and libraries, is left out, and the machine's own are taken. So what is
tried is all but the names of those packages.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

try:
    import yaml
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):  # Debian's modules are there
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    print("SKIPPED: no Python module yaml; Debian: apt install python3-yaml")
    sys.exit(77)

repository, work, cache = (pathlib.Path(each).resolve() for each in sys.argv[1:])
RATTLER = cache / "rattler-build"
BUILD = """
import sys
import rattler_build as rattler
folder, output, channel = sys.argv[1:]
made = rattler.Stage0Recipe.from_file(folder + "/recipe.yaml").run_build(
    tool_config=rattler.ToolConfiguration(test_strategy="skip"), output_dir=output, channels=[channel], no_build_id=True,
    env_isolation=rattler.EnvironmentIsolation.NONE)
for package in made[0].packages:
    for told in rattler.Package.from_file(package).run_tests(channel=[channel]):
        print("\\n".join(told.output))
        if not told.success:
            sys.exit("a test of the package failed")
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


def recipe(original, name, **changes):
    """The recipe without what it takes from conda-forge, in a folder of its own."""
    folder = work / name
    shutil.copytree(original, folder)
    told = yaml.safe_load((folder / "recipe.yaml").read_text())
    check("%s: compilers come from conda-forge" % name, "${{ compiler('cxx') }}" in told["requirements"]["build"], told)
    for group in ("build", "host"):
        told["requirements"].pop(group, None)
    told.update(changes)
    (folder / "recipe.yaml").write_text(yaml.safe_dump(told))
    return folder


def build(folder, **more):
    """Exit status and output of rattler-build, and the packages that it made."""
    channel = work / "channel"
    done = subprocess.run([sys.executable, "-c", BUILD, str(folder), str(channel), channel.as_uri()], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False,
                          env=dict(os.environ, PYTHONPATH=str(RATTLER), HOME=str(work), **more))
    return done.returncode, re.sub(r"\x1b\[[\d;]*m", "", done.stdout), sorted(each.name for each in channel.glob("linux-64/*.conda"))


if not RATTLER.is_dir():
    skip("no %s (tests/support/fetch rattler-build)" % RATTLER)
if not shutil.which("nvcc"):
    skip("no nvcc on PATH")
shutil.rmtree(work, ignore_errors=True)
(work / "channel").mkdir(parents=True)

# ArchGuard itself.
tree = work / "tree"
tree.mkdir()
for each in (repository / "packaging/sources").read_text().split():
    (shutil.copytree if (repository / each).is_dir() else shutil.copy)(repository / each, tree / each)
status, output, made = build(recipe(repository / "packaging/conda", "archguard", source={"path": str(tree)}), CMAKE_ARGS="-DCMAKE_UNITY_BUILD=ON")
check("the package of ArchGuard is built, and its tests pass", status == 0 and len(made) == 1, output)
print(*made)

status, output, made = build(recipe(repository / "examples/conda", "libscale"))
check("a library whose bound is true", status == 0 and "7 of 7 covered" in output and len(made) == 2, output)
status, output, made = build(recipe(repository / "examples/conda", "libscale-missed"), CUDAARCHS="80-real;90-real")
check("a bound that is not true is an error, with the whole message",
      status != 0 and "error 209" in output and "on: B200 (10.0, from_8.0.csv:7)" in output and "add 100-real;103-real;120-real to" in output, output)
if failures:
    sys.exit("%d failed" % len(failures))
shutil.rmtree(work)
