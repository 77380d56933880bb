"""Runs the commands of the CI files in examples/ci: ci.py REPOSITORY PREFIX WORK

Those that install tools and ArchGuard are not run here; those of ArchGuard are in tests/packages/action.py. The others run as they stand in a copy of examples/presets, which must pass, and in one that pins an architecture
which the fleet's newest GPU does not run, which must not.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

root, prefix, work = (pathlib.Path(argument).absolute() for argument in sys.argv[1:4])
try:
    import yaml
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):  # Debian's modules are there
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    print("SKIPPED: no Python module yaml; Debian: apt install python3-yaml")
    sys.exit(77)
for program in ("nvcc", "ninja"):
    if not shutil.which(program):
        print("SKIPPED: no %s on PATH" % program)
        sys.exit(77)

INSTALLS = re.compile(r"^(apt-get |python3 -m venv /opt/archguard|/opt/archguard/bin/pip |export PATH=)")
REPORT = re.compile(r" --report (github|junit)=\S+$")  # each service has its own


def github(document):
    job = document["jobs"]["build"]
    return "\n".join(step["run"] for step in job["steps"] if "run" in step)


def gitlab(document):
    job = document["build"]
    return "\n".join(job["before_script"] + job["script"])


def run(commands, project):
    """Status and output of the commands, each in the shell that stops at the first failure, as both services have it."""
    names = ("CUDA", "CMAKE", "ARCHGUARD", "NVCC", "GITHUB")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    environment["PATH"] = "%s:%s" % (prefix / "bin", environment["PATH"])
    done = subprocess.run(["bash", "-e", "-c", "\n".join(commands)], cwd=project, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def fail(text):
    sys.exit("examples/ci: " + text)


shutil.rmtree(work, ignore_errors=True)
commands = {}
for name, read in (("github-actions.yml", github), ("gitlab-ci.yml", gitlab)):
    script = read(yaml.safe_load((root / "examples/ci" / name).read_text()))
    lines = [line.strip() for line in script.replace("\\\n", " ").split("\n") if line.strip()]
    commands[name] = [line for line in lines if not INSTALLS.match(line)]
    installed = set(" ".join(line for line in lines if line.startswith("apt-get install")).split())
    for package in ("g++", "cmake", "ninja-build", "python3-venv"):
        if package not in installed:
            fail("%s installs no %s" % (name, package))
    if len(commands[name]) != 7:
        fail("%s: these are not the commands that this test knows: %s" % (name, commands[name]))
if len({tuple(REPORT.sub("", line) for line in each) for each in commands.values()}) != 1:
    fail("the two files run different commands")

project = work / "covers"
shutil.copytree(root / "examples/presets", project)
status, output = run(commands["gitlab-ci.yml"], project)
for text in ("build/fleet/scale: 3 of 3 covered", "100% tests passed", "dist/bin/scale: 3 of 3 covered"):
    if status or text not in output:
        fail("exit %d, without '%s':\n%s" % (status, text, output))
if "<testsuites" not in (project / "verify.xml").read_text():
    fail("verify.xml is no JUnit file")
status, output = run(commands["github-actions.yml"], project)
if status or "dist/bin/scale: 3 of 3 covered" not in output:
    fail("GitHub: exit %d:\n%s" % (status, output))
if '"verdict": "covered"' not in (project / "verify.json").read_text().replace('":"', '": "'):
    fail("verify.json does not say covered")

# The last release weighed next to nothing.
released = (project / "baseline.json").read_text()
(project / "released.json").write_text(released)
status, output = run(commands["gitlab-ci.yml"], project)
if status or "nothing lost on " not in output or "nothing lost" not in (project / "diff.md").read_text():
    fail("exit %d against itself:\n%s" % (status, output))
(project / "released.json").write_text(re.sub(r'"(size|uncompressed_size)":\d+', r'"\1":1', released))
status, output = run(commands["gitlab-ci.yml"], project)
if status != 1 or "grew too much" not in output or "grew too much" not in (project / "diff.md").read_text():
    fail("exit %d, and it grew:\n%s" % (status, output))

project = work / "lacks"
shutil.copytree(root / "examples/presets", project)
lists = project / "CMakeLists.txt"
lists.write_text(lists.read_text().replace("find_package(", "set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real)\nfind_package("))
status, output = run(commands["gitlab-ci.yml"], project)
for text in ("error 209: build/fleet/scale", "archguard: error: target 'scale' does not cover every device"):
    if not status or text not in output:
        fail("exit %d, without '%s':\n%s" % (status, text, output))
print("2 files, %d commands each; a project that covers its fleet passes, one that does not fails" % len(commands["gitlab-ci.yml"]))
