"""Plays cases: files that say how inputs are made, what is run, and all that it prints.

    golden.py --program PATH... --fixture PATH --fake-driver FOLDER [--update] FOLDER...

Every file of a folder is a case. With --update what the programs print is written into the cases, else each difference
is shown and the exit status is 1. A case has one directive a line, played in their order in a new folder:

    # TEXT                     what the case shows; its first line
    text FILE                  a file of the lines `| TEXT` that follow
    hex FILE DIGITS            ... of these bytes
    build FILE CUDA WORD...    a file with device code: tests/support/fixture/fixture.cc
    zip FILE MEMBER...         a zip file of files that are there; `archive` the same as `ar` writes it
    append FILE OTHER          adds another file's bytes
    damage ZIP MEMBER          changes the checksum that the zip file tells of a member
    cut FILE SIZE              cuts it to so many bytes, or adds zeros up to that size
    folder DIR, remove FILE, link FILE TARGET, pipe FILE
    machine                    plays the machine that the lines `| TEXT` describe (tests/support/fake_driver/machine.h)
    system PATH                ... with this file of the kernel's, of the lines `| TEXT`
    unplayed cuda|nvml         ... without that library
    env NAME=VALUE
    stdin FILE                 of the commands that follow
    $ COMMAND                  archguard or arch_probe with its arguments, quoted as for a shell
    1| TEXT, 2| TEXT           a line that it prints on standard output, on standard error; 1\\, 2\\ without a newline
    = STATUS                   how it exits

In what is printed, the case's folder reads {folder}, that of the played libraries {driver} and the version {version}.
"""
import argparse
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile

TAKES_LINES = {"text", "machine", "system"}


class Refused(Exception):
    pass


class Step:
    def __init__(self, number, words):
        self.number, self.words, self.lines = number, words, []  # lines: below `text`, or what a command prints


def read(path):
    """The steps of a case, each with the lines that belong to it."""
    steps = []
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines.pop():
        raise Refused("the last line has no end")
    if not lines or not lines[0].startswith("# "):
        raise Refused("line 1: the first line says what the case shows: # TEXT")
    for number, line in enumerate(lines, 1):
        mark = line[:2]
        last = steps[-1] if steps else None
        if not line or mark in ("# ", "#"):
            continue
        if mark == "$ ":
            steps.append(Step(number, ["$", line[2:]]))
        elif mark in ("1|", "2|", "1\\", "2\\", "= "):
            if not last or last.words[0] != "$":
                raise Refused("line %d: is expected of no command: %s" % (number, line))
            if any(other.startswith("= ") for other in last.lines):
                raise Refused("line %d: stands behind the exit status: %s" % (number, line))
            last.lines.append(line)
        elif mark in ("| ", "|"):
            if not last or last.words[0] not in TAKES_LINES:
                raise Refused("line %d: belongs to no file: %s" % (number, line))
            last.lines.append(line[2:])
        else:
            words = shlex.split(line)
            if words[0] not in DIRECTIVES:
                raise Refused("line %d: unknown directive '%s'" % (number, words[0]))
            steps.append(Step(number, words))
    if not any(step.words[0] == "$" for step in steps):
        raise Refused("runs no command")
    return lines, steps


class Play:
    def __init__(self, folder, options):
        self.options, self.folder = options, pathlib.Path(folder) / "case"
        self.machine = pathlib.Path(folder) / "machine"  # beside the case, whose folder may be walked
        self.root = pathlib.Path(folder) / "root"
        self.folder.mkdir()
        self.unplayed, self.env, self.input = set(), {}, None

    def path(self, name):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def text(self, lines, name):
        self.path(name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def hex(self, _, name, digits):
        self.path(name).write_bytes(bytes.fromhex(digits))

    def build(self, _, name, *words):
        done = subprocess.run([self.options.fixture, self.path(name), *words], stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise Refused(done.stderr.strip())

    def zip(self, _, name, *members):
        with zipfile.ZipFile(self.path(name), "w", zipfile.ZIP_DEFLATED) as archive:
            for member in members:
                archive.writestr(zipfile.ZipInfo(member), (self.folder / member).read_bytes(), zipfile.ZIP_DEFLATED)

    def archive(self, _, name, *members):
        content = b"!<arch>\n"
        for member in members:
            data = (self.folder / member).read_bytes()
            content += ("%-16s%-12s%-6s%-6s%-8s%-10d`\n" % (member + "/", 0, 0, 0, 644, len(data))).encode() + data
            content += b"\n" * (len(data) % 2)
        self.path(name).write_bytes(content)

    def cut(self, _, name, size):
        os.truncate(self.path(name), int(size))

    def append(self, _, name, other):
        with open(self.path(name), "ab") as file:
            file.write((self.folder / other).read_bytes())

    def damage(self, _, name, member):
        data = bytearray(self.path(name).read_bytes())
        for begin, checksum, name_at in ((b"PK\3\4", 14, 30), (b"PK\1\2", 16, 46)):
            at = data.find(begin)
            while at >= 0 and data[at + name_at:at + name_at + len(member)] != member.encode():
                at = data.find(begin, at + 1)
            if at < 0:
                raise Refused("%s has no member %s" % (name, member))
            data[at + checksum:at + checksum + 4] = b"\1\0\0\0"
        self.path(name).write_bytes(data)

    def remove(self, _, name):
        self.path(name).unlink()

    def make_folder(self, _, name):
        self.path(name).mkdir()

    def link(self, _, name, target):
        self.path(name).symlink_to(target)

    def pipe(self, _, name):
        os.mkfifo(self.path(name))

    def play(self, lines):
        self.machine.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        self.root.mkdir(exist_ok=True)

    def system(self, lines, name):
        path = self.root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def leave_out(self, _, library):
        self.unplayed.add(library)

    def set(self, _, setting):
        name, _, value = setting.partition("=")
        self.env[name] = value

    def stdin(self, _, name):
        self.input = self.path(name)

    def run(self, command):
        words = shlex.split(command.replace("{folder}", str(self.folder)))
        program = next((path for path in self.options.program if path.stem == words[0]), None)
        if not program:
            raise Refused("runs '%s', which is none of the programs" % words[0])
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", **self.env}
        driver = self.options.fake_driver
        if self.machine.exists():
            libraries = [str(driver / name) for name in ("cuda", "nvml") if name not in self.unplayed]
            environment.update(LD_LIBRARY_PATH=":".join(libraries), LD_PRELOAD=str(driver / "files/libfake_files.so.1"),
                               ARCHGUARD_FAKE_ROOT=str(self.root), ARCHGUARD_FAKE_MACHINE=str(self.machine),
                               ASAN_OPTIONS="verify_asan_link_order=0")
        done = subprocess.run([program, *words[1:]], cwd=self.folder, env=environment, timeout=60, check=False,
                              stdin=open(self.input, "rb") if self.input else subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lines = []
        for mark, output in (("1", done.stdout), ("2", done.stderr)):
            text = self.neutral(output.decode(errors="backslashreplace"))
            whole, _, rest = text.rpartition("\n")
            if whole or text.startswith("\n"):
                lines += [(mark + "| " + line).rstrip(" ") if not line else mark + "| " + line
                          for line in whole.split("\n")]
            if rest:
                lines.append(mark + "\\ " + rest)
        return [*lines, "= %d" % done.returncode]

    def neutral(self, text):
        for path, name in ((self.folder, "{folder}"), (self.options.fake_driver, "{driver}")):
            text = text.replace(str(path), name)
        return re.sub(r"(?m)^((?:archguard|arch_probe) )\d+\.\d+\.\d+$", r"\1{version}", text)


DIRECTIVES = {"text": Play.text, "hex": Play.hex, "build": Play.build, "zip": Play.zip, "archive": Play.archive,
              "append": Play.append, "damage": Play.damage, "cut": Play.cut, "folder": Play.make_folder, "remove": Play.remove, "link": Play.link,
              "pipe": Play.pipe, "machine": Play.play, "system": Play.system, "unplayed": Play.leave_out,
              "env": Play.set, "stdin": Play.stdin}


def replay(steps, options, run=Play.run):
    """Plays the steps in a folder of their own; gives each command's line number, and what run(play, command) returns for it."""
    with tempfile.TemporaryDirectory(prefix="golden") as folder:
        play = Play(os.path.realpath(folder), options)
        for step in steps:
            try:
                if step.words[0] == "$":
                    yield step.number, run(play, step.words[1])
                else:
                    DIRECTIVES[step.words[0]](play, step.lines, *step.words[1:])
            except (Refused, OSError, TypeError, ValueError) as error:
                raise Refused("line %d: %s" % (step.number, error)) from error


def played(path, options):
    """The lines of a case as they are, and as they would be if it expected what is printed now."""
    lines, steps = read(path)
    printed = dict(replay(steps, options))
    now = []
    for number, line in enumerate(lines, 1):
        if line[:2] in ("1|", "2|", "1\\", "2\\", "= "):
            continue
        now.append(line)
        if number in printed:
            now += printed[number]
    return lines, now


def parser_of(text):
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", required=True, type=pathlib.Path)
    parser.add_argument("--fixture", required=True, type=pathlib.Path)
    parser.add_argument("--fake-driver", required=True, type=pathlib.Path)
    return parser


def main(arguments):
    parser = parser_of(__doc__)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("folder", nargs="+", type=pathlib.Path)
    options = parser.parse_args(arguments)
    failed = changed = count = 0
    for folder in options.folder:
        cases = sorted(folder.rglob("*"))
        if not any(case.is_file() for case in cases):
            failed += 1
            print("%s: holds no case" % folder)
        for case in cases:
            if case.is_dir():
                continue
            count += 1
            name = case.relative_to(folder.parent)
            try:
                if case.suffix != ".txt":
                    raise Refused("a case is named NAME.txt")
                lines, now = played(case, options)
            except Refused as error:
                failed += 1
                print("%s: %s" % (name, error))
                continue
            if lines == now:
                continue
            changed += 1
            if options.update:
                case.write_text("\n".join(now) + "\n", encoding="utf-8")
            else:
                print("\n".join(difflib.unified_diff(lines, now, "%s, expected" % name, "%s, printed" % name, lineterm="")))
    if changed and not options.update:
        print("\n%d of %d cases print something else; cmake --build BUILD --target update_golden writes it" % (changed, count))
    elif not failed:
        print("%d cases%s" % (count, ", %d written" % changed if changed else ""))
    return bool(failed or (changed and not options.update))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
