"""How CI files install ArchGuard: action.py REPOSITORY WHEELS FIXTURE WORK

The steps of action.yml as GitHub's runner runs them, and those of examples/ci/gitlab-ci.yml. WHEELS has what packaging/wheel/build made.
What the runner does with `uses:` and `if:` is not tried.
"""
import os
import pathlib
import platform
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

repository, wheels, fixture, work = (pathlib.Path(each).resolve() for each in sys.argv[1:])
wheel = next(wheels.glob("archguard_cuda-*_%s.whl" % platform.machine()), None)
if not wheel:
    print("SKIPPED: no wheel for %s in %s" % (platform.machine(), wheels))
    sys.exit(77)
ACTION = yaml.safe_load((repository / "action.yml").read_text())
failures = []


def check(what, holds, found=""):
    if not holds:
        failures.append(what)
        print("FAILED %s\n%s" % (what, found))


def step(name, inputs):
    """Exit status, output and what the step gave to GITHUB_OUTPUT and to the summary."""
    values = {each: told.get("default", "") for each, told in ACTION["inputs"].items()}
    values.update(inputs)

    def fill(text):
        text = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match.group(1)], text)
        return text.replace("${{ runner.temp }}", str(work / "temp"))

    found = next(each for each in ACTION["runs"]["steps"] if each.get("id") == name)
    check("%s: an input stands in the script" % name, "${{" not in found["run"])
    script = work / (name + ".sh")
    script.write_text(found["run"])
    files = {each: work / each for each in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
    for path in files.values():
        path.write_text("")
    environment = {"PATH": os.environ["PATH"], "HOME": str(work / "home"), "RUNNER_TEMP": str(work / "temp"),
                   **{key: str(path) for key, path in files.items()}, **{key: fill(text) for key, text in found["env"].items()}}
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)], cwd=work / "project", env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    output = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return done.returncode, done.stdout, output, files["GITHUB_STEP_SUMMARY"].read_text()


shutil.rmtree(work, ignore_errors=True)
for folder in ("temp", "home", "project/dist"):
    (work / folder).mkdir(parents=True)
project = work / "project"
for name, archs in (("whole.so", ["sm_80", "sm_90"]), ("dist/lacks $(touch hacked).so", ["sm_80"])):
    subprocess.run([fixture, project / "made.so", "12.4", *archs], check=True)
    (project / "made.so").rename(project / name)
(project / "fleet.csv").write_text("name, compute_cap\nNVIDIA A100, 8.0\nNVIDIA H100, 9.0\n")

status, told, output, _ = step("install", {"package": str(wheel)})
check("install", status == 0, told)
check("the CMake package: %s" % output, (pathlib.Path(output.get("cmake-dir", "/nowhere")) / "ArchGuardConfig.cmake").is_file())

status, told, output, summary = step("verify", {"paths": "whole.so\n\n", "fleet": "fleet.csv"})
check("covered", status == 0 and "whole.so: 2 of 2 covered" in told and "::error" not in told, told)
check("the page", pathlib.Path(output["report"]).read_text().lower().startswith("<!doctype html>"))
check("the summary", "| whole.so | S | S |" in summary, summary)

status, told, output, summary = step("verify", {"paths": "whole.so\ndist/lacks $(touch hacked).so\r\n", "fleet": "fleet.csv"})
check("not covered", status == 1 and "\n::error file=" in "\n" + told and "AG209" in told, told)
check("the text behind the annotations", re.search(r"::stop-commands::(\S+)\n(.*\n)*2 files: 1 covered, 1 not covered\n::\1::", told), told)
check("the summary tells the failure", "**209**" in summary, summary)
check("a name is no command", not list(work.rglob("hacked")))

status, told, _, _ = step("verify", {"paths": "whole.so", "devices": "8.0\n10.0", "options": "--scope\nlibrary"})
check("devices and options", status == 1 and "10.0" in told, told)
status, told, _, _ = step("verify", {"paths": "whole.so", "fleet": "none.csv"})
check("no such fleet", status == 2 and "none.csv" in told, told)
status, told, _, _ = step("install", {"package": str(work / "none.whl")})
check("no such package", status != 0 and "none.whl" in told, told)

gitlab = yaml.safe_load((repository / "examples/ci/gitlab-ci.yml").read_text())["build"]
lines = [line for line in gitlab["before_script"] if not line.startswith("apt-get")]
script = "\n".join([*lines, "archguard verify whole.so --fleet fleet.csv", "archguard --cmakedir"]).replace("/opt/archguard", str(work / "opt"))
done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=project, env={"PATH": os.environ["PATH"], "HOME": str(work), "ARCHGUARD": str(wheel)},
                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
check("GitLab", done.returncode == 0 and "2 of 2 covered" in done.stdout and str(work / "opt") in done.stdout, done.stdout)
check("GitLab's lines: %s" % lines, len(lines) == 3 and list(gitlab["variables"]) == ["ARCHGUARD"])

print("%d steps of action.yml" % sum("run" in each for each in ACTION["runs"]["steps"]))
if failures:
    sys.exit(1)
shutil.rmtree(work)
