"""The examples of docs/reference/keywords.md, configured: keywords.py REPOSITORY PREFIX WORK

Each example becomes a folder of one project, with a target of its own in place of `app`; the project is then configured with the
installed package. An example that CMake or a command refuses, or warns of, fails.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

root, prefix, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute(), pathlib.Path(sys.argv[3])
if not shutil.which("nvcc"):
    print("SKIPPED: no nvcc on PATH")
    sys.exit(77)
version = re.search(r"(\d+)\.(\d+)", subprocess.check_output(["cmake", "--version"], text=True))
if [int(part) for part in version.groups()] < [3, 25]:
    print("SKIPPED: needs cmake 3.25, this is %s" % version[0])
    sys.exit(77)
FLEET = "name, compute_cap, driver_version\nNVIDIA A100-SXM4-80GB, 8.0, 580.95.05\nNVIDIA H100 80GB HBM3, 9.0, 580.95.05\n"
TOP = """cmake_minimum_required(VERSION 3.25)
project(keywords LANGUAGES CXX)
find_package(ArchGuard REQUIRED)
archguard_select_architectures(FLEET fleet.csv)
enable_language(CUDA)
"""

page = (root / "docs/reference/keywords.md").read_text(encoding="utf-8")
shutil.rmtree(work, ignore_errors=True)
(work / "source").mkdir(parents=True)
(work / "source/fleet.csv").write_text(FLEET)
folders = []
for part in re.split(r"(?m)^## ", page)[1:]:
    command = part.split("\n", 1)[0]
    for keyword, example in re.findall(r"(?ms)^### (\w+)$.*?^```cmake\n(.*?)^```$", part):
        if not re.search(r"\b%s\b" % keyword, example) and keyword != "ALL" or command not in example:
            sys.exit("keywords.md: the example of %s %s has no such word" % (command, keyword))
        name = "%s_%s" % (command, keyword.lower())
        folder = work / "source" / name
        folder.mkdir()
        for file in ("fleet.csv", "lab.csv"):
            (folder / file).write_text(FLEET)
        (folder / "waivers.csv").write_text("kernel,compute_cap,reason\n")
        shutil.copy(root / "examples/broken/scale.cu", folder)
        target = "add_executable(app scale.cu)\n" if re.search(r"\bapp\b", example) or keyword == "ALL" else ""
        checked = "archguard_verify(TARGETS app)\n" if target and command not in ("archguard_verify",) else ""
        (folder / "CMakeLists.txt").write_text(re.sub(r"\bapp\b(?!\*)", "app_" + name, target + example + checked))
        folders.append(name)
(work / "source/CMakeLists.txt").write_text(TOP + "".join("add_subdirectory(%s)\n" % name for name in folders))
names = ("CUDAARCHS", "CMAKE", "ARCHGUARD", "TORCH")
environment = {name: value for name, value in os.environ.items() if not name.startswith(names) and name != "CI"}
done = subprocess.run(["cmake", "-S", work / "source", "-B", work / "build", "-DCMAKE_PREFIX_PATH=%s" % prefix],
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, check=False)
refused = re.findall(r"(?ms)^CMake (?:Error|Warning).*?(?=^-- |^CMake |\Z)", done.stdout)
if done.returncode or refused:
    sys.exit("cmake: %d\n%s" % (done.returncode, "".join(refused) or done.stdout))
print("%d examples of %d commands" % (len(folders), page.count("\n## ")))
sys.exit(not folders)
