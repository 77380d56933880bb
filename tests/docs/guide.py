"""Runs the commands of a Markdown page and compares what they print with what the page shows.

    guide.py PAGE --prefix PREFIX --repository ROOT --fake-driver FOLDER --work FOLDER [--aarch64 FOLDER] [--show]

In a page,

    ```cmake file=CMakeLists.txt         a block with file=PATH is written to that file
    ```console run                       each line behind `$ ` is run, and must print the lines that follow it
    ```console run-aarch64               the same, with --aarch64 alone: FOLDER has the wheel of the CUDA runtime for aarch64,
                                         and the toolkit of the page is nvcc's with that as its part for aarch64
    <!-- copy: examples/broken/scale.cu -->      a file of the repository, copied to where the commands run
    <!-- quietly: sed -i /set/d CMakeLists.txt -->     a command that the page does not show
    <!-- needs: cmake 3.24 -->           else the page is skipped; every page shows what nvcc 13.0, and no other, makes
    <!-- machine: driver 580.95.05 | cuda 13000 | device cc=8.6 name=... -->    the simulated machine from here on; with
                                         `nvml | ` in front it has NVML as well

All commands of a page run in one shell, in an empty folder, with archguard and nvcc on PATH. A command must succeed unless
`$ echo $?` comes next. Runs of blanks and line ends count as one blank, since CMake wraps messages by the length of paths
in them; `...` stands for any words, or any part of one. /opt/archguard is where ArchGuard is installed, /src/archguard
its source, and /usr/local/cuda/bin/nvcc the compiler; commands run in /home/me/app. --show prints what they print.
"""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import zipfile

MARK = "\x01"


def steps_of(page):
    """("write", path, text), ("run" or "run-aarch64", command, expected, line), and what a comment names with its text."""
    lines, at, steps = page.read_text(encoding="utf-8").split("\n"), 0, []
    while at < len(lines):
        comment = re.fullmatch(r"<!-- (copy|machine|needs|quietly): (.*) -->", lines[at])
        fence = re.fullmatch(r"(```+)(\w+) (?:file=(\S+)|(run(?:-aarch64)?))", lines[at])
        first = at + 1
        at += 1
        if comment:
            steps.append((comment[1], comment[2]))
        if not fence:
            continue
        while lines[at] != fence[1]:
            at += 1
        block = lines[first:at]
        if fence[3]:
            steps.append(("write", fence[3], "\n".join(block) + "\n"))
            continue
        while block:
            number, command = first + 1, block.pop(0)
            if not command.startswith("$ "):
                sys.exit("%s:%d: expected '$ ' and a command" % (page.name, number))
            command, first = command[2:], first + 1
            while command.endswith("\\") and block:
                command, first = command + "\n" + block.pop(0), first + 1
            expected = []
            while block and not block[0].startswith("$ "):
                expected.append(block.pop(0))
                first += 1
            steps.append((fence[4], command, "\n".join(expected), number))
    return steps


def lacks(program, wanted):
    """Why the program of PATH will not do, or None."""
    try:
        told = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
    except OSError:
        return "no %s on PATH" % program
    version = re.search(r"(?:version |release |^)(\d+)\.(\d+)", told)
    found = version and [int(part) for part in version.groups()]
    asked = [int(part) for part in wanted.split(".")]
    if not version or (found != asked if program == "nvcc" else found < asked):
        return "needs %s %s, this is %s" % (program, wanted, version and ".".join(version.groups()))
    return None


def toolkit_for_aarch64(toolkit, wheel, folder):
    """A toolkit of links to another, and of the wheel's libraries with the same headers as targets/aarch64-linux."""
    for path in (toolkit / "bin").iterdir():
        (folder / "bin").mkdir(parents=True, exist_ok=True)
        (folder / "bin" / path.name).symlink_to(path)
    for path in toolkit.iterdir():
        if path.name not in ("bin", "targets"):
            (folder / path.name).symlink_to(path)
    target = folder / "targets/aarch64-linux"
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if re.search(r"/lib/lib[^/]*$", name):
                (target / "lib").mkdir(parents=True, exist_ok=True)
                (target / "lib" / os.path.basename(name)).write_bytes(archive.read(name))
    (target / "include").symlink_to((toolkit / "include").resolve())
    (folder / "targets/x86_64-linux").symlink_to((toolkit / "targets/x86_64-linux").resolve())
    return str(folder / "bin/nvcc")


def matches(expected, actual):
    """The words of both are the same, where `...` stands for any number of words, and within a word for any part of it."""
    words = [r"(?:.* )?" if word == "..." else re.escape(word).replace(r"\.\.\.", r"\S*") + " " for word in expected.split()]
    return re.fullmatch("".join(words), "".join(word + " " for word in actual.split())) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    for name in ("prefix", "repository", "fake-driver", "work"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    parser.add_argument("--aarch64", type=pathlib.Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()

    steps = steps_of(options.page)
    for program, version in [("nvcc", "13.0")] + [step[1].split() for step in steps if step[0] == "needs"]:
        reason = lacks(program, version)
        if reason:
            print("SKIPPED: " + reason)
            sys.exit(77)
    nvcc = shutil.which("nvcc")
    wheel = next(options.aarch64.glob("*.whl"), None) if options.aarch64 else None
    if options.aarch64 and not (wheel and shutil.which("aarch64-linux-gnu-g++")):
        print("SKIPPED: needs aarch64-linux-gnu-g++ (Debian: g++-aarch64-linux-gnu) and the wheel of "
              "tests/support/fetch %s" % options.aarch64.name)
        sys.exit(77)
    work = options.work.absolute()
    shutil.rmtree(work, ignore_errors=True)
    for folder in ("app", "staged", "driver"):
        (work / folder).mkdir(parents=True)
    shutil.copy(options.fake_driver / "cuda/libcuda.so.1", work / "driver/libcuda.so.1")
    if wheel:
        toolkit = subprocess.check_output([options.repository / "tests/support/toolkit_of", nvcc], text=True).strip()
        nvcc = toolkit_for_aarch64(pathlib.Path(toolkit), wheel, work / "cuda")
    places = [("/opt/archguard", str(options.prefix.absolute())), ("/src/archguard", str(options.repository.absolute()))]

    def here(text):
        for shown, place in places:
            text = text.replace(shown, place)
        return text

    script, runs = ["cd %s" % shlex.quote(str(work / "app"))], []
    for number, (kind, *values) in enumerate(steps):
        staged = work / "staged" / str(number)
        if kind == "machine":
            nvml = values[0].startswith("nvml | ")
            staged.write_text(values[0].replace(" | ", "\n") + "\n")
            libraries = [work / "driver"] + ([options.fake_driver.absolute() / "nvml"] if nvml else [])
            script.append("export LD_LIBRARY_PATH=%s ARCHGUARD_FAKE_MACHINE=%s" % (":".join(map(str, libraries)), staged))
        elif kind == "copy":
            script.append("cp -r %s ." % shlex.quote(str(options.repository.absolute() / values[0])))
        elif kind == "write":
            staged.write_text(here(values[1]))
            script.append("mkdir -p %s && cp %s %s" % (os.path.dirname(values[0]) or ".", staged, values[0]))
        elif kind == "quietly":
            script.append("(%s) >/dev/null 2>&1" % here(values[0]))
        elif kind == "run" or wheel:
            runs.append(values)
            script.append("printf '%s'; (exit ${status:-0})" % MARK)
            script.append("%s\nstatus=$?; printf '%s%%s' $status" % (here(values[0]), MARK))
    names = ("CUDA", "CMAKE", "ARCHGUARD", "NVCC", "CXX", "TORCH", "LD_", "VERBOSE", "MAKE")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    environment.update(PATH="%s:%s:%s" % (options.prefix.absolute() / "bin", os.path.dirname(nvcc), os.environ["PATH"]),
                       HOME=str(work), LC_ALL="C.UTF-8")
    done = subprocess.run(["bash", "-c", "\n".join(script)], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=580, check=False)
    output = done.stdout.decode("utf-8", "replace")
    places += [("/usr/local/cuda/bin/nvcc", nvcc), ("/home/me", str(work))]
    for shown, place in sorted(places, key=lambda pair: -len(pair[1])):  # one may lie within another
        output = output.replace(place, shown)
    parts = output.split(MARK)
    failures = [] if len(parts) == 2 * len(runs) + 1 else ["the shell ended early:\n" + output]
    for at, (command, expected, line) in enumerate(runs):
        if failures:
            break
        actual, status = parts[2 * at + 1], int(re.match(r"\d+", parts[2 * at + 2]).group())
        if options.show:
            print("$ %s\n%s" % (command, actual.rstrip("\n")))
        told = at + 1 < len(runs) and runs[at + 1][0] == "echo $?"
        if status and not told:
            failures.append("%s:%d: exit %d of: %s\n%s" % (options.page.name, line, status, command, actual))
        elif not matches(expected, actual):
            failures.append("%s:%d: %s\n---- the page shows\n%s\n---- it prints\n%s"
                            % (options.page.name, line, command, expected, actual))
        if options.show:
            failures = []
    print("\n".join(failures) or "%d commands of %s" % (len(runs), options.page.name))
    sys.exit(bool(failures) or not runs)


main()
