"""Runs archguard and arch_probe where little is as it should be: the answer is the same as ever, or an error that says why.

    rough.py --archguard PATH --probe PATH --inputs PATH --fake-driver FOLDER [--times N] [--only TEXT]

What may never happen: the end by a signal that nobody sent, an answer that differs, half a report, a file or a process left behind.
As root it also takes away processes (`ulimit -u` binds no root), /proc and /tmp; elsewhere it says that it did not.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

MACHINE = """driver 580.95.05
cuda 13000
device cc=9.0 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000002 pci=0000:5E:00.0 name=NVIDIA H100
"""
NOBODY = 65534
MB = 1 << 20


class Place:
    """A folder with what is read, and how the programs answer where all is well."""

    def __init__(self, options, folder):
        self.folder, self.options = pathlib.Path(folder), options
        self.folder.chmod(0o755)
        self.cubin, self.big = self.folder / "a.cubin", self.folder / "big.cubin"
        for path, count in ((self.cubin, 20), (self.big, 60000)):
            subprocess.run([options.inputs, "cubin-kernels", str(count), path], check=True)
        (self.folder / "machine").write_text(MACHINE)
        self.fake = pathlib.Path(options.fake_driver)
        self.played = {"PATH": os.environ["PATH"], "LC_ALL": "C", "ARCHGUARD_FAKE_MACHINE": str(self.folder / "machine"),
                       "ARCHGUARD_FAKE_ROOT": str(self.folder / "root"),
                       "LD_PRELOAD": str(self.fake / "files/libfake_files.so.1"),
                       "LD_LIBRARY_PATH": "%s:%s" % (self.fake / "cuda", self.fake / "nvml")}
        self.marked = {"PATH": os.environ["PATH"], "ARCHGUARD_FAKE_MACHINE": str(self.folder / "machine")}
        self.commands = {
            "verify": ([options.archguard, "verify", self.cubin, "--device", "8.0"], self.marked),
            "verify json": ([options.archguard, "verify", self.cubin, "--device", "9.0", "--format", "json"], self.marked),
            "inspect": ([options.archguard, "inspect", "--kernels", self.cubin], self.marked),
            "probe": ([options.probe, "--format", "json", "--timeout", "20"], self.played),
        }
        self.usual = {name: self.run(name) for name in self.commands}
        for name, run in self.usual.items():
            if run.returncode not in (0, 1) or not run.stdout or run.stderr:
                sys.exit("rough: %s: exit %s, %r" % (name, run.returncode, run.stderr))

    def run(self, name, env=None, unset=(), **how):
        command, environment = self.commands[name]
        environment = {**environment, **(env or {})}
        for each in unset:
            environment.pop(each, None)
        how.setdefault("cwd", self.folder)
        return subprocess.run([*how.pop("before", []), *command], env=environment, stdin=subprocess.DEVNULL,
                              stdout=how.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, timeout=60, check=False, **how)

    def left(self):
        """Processes that were started here and are still there."""
        needle, found = b"ARCHGUARD_FAKE_MACHINE=" + os.fsencode(self.folder / "machine"), []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                if needle in pathlib.Path("/proc", entry, "environ").read_bytes():
                    found.append(int(entry))
            except OSError:
                pass
        return found

    def none_left(self):
        deadline = time.monotonic() + 5
        while self.left() and time.monotonic() < deadline:
            time.sleep(0.02)
        return not self.left()

    def parts(self):
        return [path.name for path in self.folder.iterdir() if ".part" in path.name]


def same(place, name, run):
    usual = place.usual[name]
    return [] if (run.returncode, run.stdout, run.stderr) == (usual.returncode, usual.stdout, b"") else [
        "%s: exit %s, stdout %s, stderr %r" % (name, run.returncode, "as ever" if run.stdout == usual.stdout else
                                               "%r" % run.stdout[:200], run.stderr[:200])]


def same_or_said(place, name, run):
    """As ever; or an error in words. What cannot even be loaded is the loader's to say (127)."""
    if not same(place, name, run):
        return []
    if run.returncode in (2, 127) and run.stderr and b"terminate called" not in run.stderr:
        return []
    if name != "probe" and run.returncode == 2 and b": no memory for " in run.stdout:  # a report that says what it lacks
        return []
    if name == "probe" and run.returncode == 4 and b'"failed"' in run.stdout:
        return []
    if name == "probe" and run.returncode == 0:  # NVML may be what had no room: the GPUs are CUDA's
        return [] if b"NVIDIA H100" in run.stdout else ["probe: exit 0 without the GPU"]
    return same(place, name, run)


def same_files(place, name, run):
    """Of a program with another user's rights the loader takes no library from the caller's folders, so no played driver."""
    return [] if name == "probe" and run.returncode == 3 and not run.stderr else same(place, name, run)


def limit(which, value):
    return {"preexec_fn": lambda: resource.setrlimit(which, (value, value))}


def surroundings(program):
    """name -> (how it is run, what must hold)"""
    for locale in ("tr_TR.UTF-8", "C", "POSIX", "xx_XX.nonsense", "ja_JP.SJIS", "../../../etc", "%n%s" * 100, "\xff"):
        yield "LC_ALL=%.20s" % locale, {"env": {"LC_ALL": locale, "LANG": locale, "LANGUAGE": locale}}, same
    yield "no HOME, no LANG", {"unset": ("HOME", "LANG", "LC_ALL")}, same
    yield "no PATH", {"unset": ("PATH",)}, same
    yield "HOME and TMPDIR nowhere", {"env": {"HOME": "/nowhere", "TMPDIR": "/nowhere", "TERM": "\x1b[2J", "COLUMNS": "-1"}}, same
    yield "umask 777", {"umask": 0o777}, same
    yield "a working folder that is gone", {"before": ["sh", "-c", 'mkdir gone; cd gone; rmdir ../gone; exec "$@"', "sh"]}, same
    yield "SIGCHLD ignored", {"preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)}, same
    yield "every signal blocked", {"preexec_fn": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))}, same
    yield "every signal ignored", {"before": ["sh", "-c", "trap '' HUP INT QUIT PIPE ALRM TERM USR1 USR2; exec \"$@\"", "sh"]}, same
    yield "a session of its own", {"start_new_session": True}, same
    for count in (3, 4, 5, 6, 7, 8, 10, 12, 16, 24):
        yield "ulimit -n %d" % count, limit(resource.RLIMIT_NOFILE, count), same_or_said
    # What does not fit with its code is ended by the kernel, before it can say anything. From there in small steps, past the few
    # hundred kB between a loader that lacks memory and a program that has enough; where those lie depends on how it was built.
    fits = os.path.getsize(program) // (MB // 4) + 1
    for size in [each / 4 for each in range(fits, fits + 24)] + [each for each in (16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 512)
                                                                  if each > fits // 4 + 6]:
        yield "ulimit -v of %.2f MB" % size, limit(resource.RLIMIT_AS, int(size * MB)), same_or_said
    for size in (64, 128, 256, 1024):
        yield "ulimit -s %d" % size, limit(resource.RLIMIT_STACK, size << 10), same_or_said
    yield "ulimit -f 0", limit(resource.RLIMIT_FSIZE, 0), same
    yield "ulimit -l 0, -c 0", {"preexec_fn": lambda: [resource.setrlimit(each, (0, 0)) for each in
                                                     (resource.RLIMIT_MEMLOCK, resource.RLIMIT_CORE)]}, same
    if os.geteuid() != 0:
        return
    for count in (0, 1, 2):
        yield "ulimit -u %d" % count, {"preexec_fn": lambda count=count: become_nobody(count)}, same_or_said
    yield "another real user than the effective one", {"preexec_fn": lambda: os.setresuid(NOBODY, 0, 0)}, same_files
    yield "another effective user than the real one", {"preexec_fn": lambda: os.setresuid(0, NOBODY, 0)}, same_files
    yield "a folder that is not one's own", {"preexec_fn": lambda: become_nobody(4096)}, same
    for path in ("/proc", "/tmp"):
        before = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /mnt && mount --bind "$0" /mnt 2>/dev/null; '
                  'mount -t tmpfs -o size=4k,mode=000 none %s && cd / && exec "$@"' % path, "/mnt"]
        if shutil.which("unshare") and subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", path],
                                                      capture_output=True, check=False).returncode == 0:
            yield "no " + path, {"before": before}, same


def become_nobody(processes):
    resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def check_surroundings(place, options):
    for name, how, holds in surroundings(options.archguard):
        wrong = []
        for command in place.commands:
            run = place.run(command, **dict(how))
            wrong += holds(place, command, run)
        if not place.none_left():
            wrong.append("processes left: %s" % place.left())
        yield name, wrong


def big_report(place, form="json"):
    many = place.folder / "many"
    if not many.exists():
        many.mkdir()
        for number in range(400):
            os.link(place.cubin, many / ("%d.cubin" % number))
    return [place.options.archguard, "verify", *sorted(many.iterdir()), "--device", "9.0", "--format", form, "--output", place.folder / "report"]


def start(place, command, env=None, **how):
    return subprocess.Popen(command, env=env or place.marked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, cwd=place.folder, **how)


def check_file_size(place, options):
    """A report that outgrows `ulimit -f` is an error: nothing is left, and what was there stays."""
    report, wrong = place.folder / "report", []
    for old in (None, "old\n"):
        report.unlink(missing_ok=True)
        if old:
            report.write_text(old)
        run = subprocess.run(big_report(place), env=place.marked, capture_output=True, check=False, timeout=60,
                             **limit(resource.RLIMIT_FSIZE, 4096))
        if run.returncode != 2 or b"cannot be written" not in run.stderr:
            wrong.append("exit %s, %r" % (run.returncode, run.stderr[:200]))
        if (report.read_text() if report.exists() else None) != old or place.parts():
            wrong.append("left: %s" % place.parts())
    with open(place.folder / "out", "wb") as out:
        run = subprocess.run(big_report(place)[:-2], env=place.marked, stdout=out, stderr=subprocess.PIPE, check=False, timeout=60,
                             **limit(resource.RLIMIT_FSIZE, 4096))
    if run.returncode != 2 or b"cannot be written" not in run.stderr:
        wrong.append("stdout: exit %s, %r" % (run.returncode, run.stderr[:200]))
    yield "ulimit -f, a report that is longer", wrong
    report.unlink(missing_ok=True)


def check_signals(place, options):
    """At any moment: the old report or the new, no file beside, no process left."""
    report = place.folder / "report"
    began = time.monotonic()
    status = subprocess.run(big_report(place), env=place.marked, check=False, timeout=60).returncode
    usual, whole = time.monotonic() - began, report.read_bytes()
    dice, ends = random.Random(16), {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        wrong = []
        for turn in range(12 * options.times):
            report.write_bytes(b"old\n")
            process = start(place, big_report(place))
            # The end, where the report is written, is tried as often as all that comes before.
            time.sleep(dice.uniform(0, usual) if turn % 2 else usual * dice.uniform(0.8, 1.05))
            process.send_signal(number)
            process.communicate(timeout=60)
            ends[process.returncode] = ends.get(process.returncode, 0) + 1
            if process.returncode not in (status, -number):
                wrong.append("exit %s" % process.returncode)
            text = report.read_bytes()
            if text not in (b"old\n", whole):
                wrong.append("half a report: %d of %d bytes" % (len(text), len(whole)))
            if process.returncode == status and text != whole:
                wrong.append("an exit status without the report")
            if place.parts():
                wrong.append("left: %s" % place.parts())
        yield "%s while a report is made (%s)" % (number.name, ", ".join("%d times exit %d" % (count, end)
                                                                      for end, count in sorted(ends.items()))), wrong
        ends.clear()
    report.unlink()


def is_whole_or_nothing(report):
    try:
        return not report or bool(json.loads(report))
    except ValueError:
        return False


def check_signals_to_probe(place, options):
    cache = place.folder / "cache"
    for trick in ("", "hang cuInit\n", "orphan cuInit 3\nhang cuDeviceGet\n", "fork cuInit 2\nhang cuDeviceGet\n"):
        (place.folder / "machine").write_text(MACHINE + trick)
        wrong, dice = [], random.Random(16)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for _ in range(4 * options.times):
                cache.unlink(missing_ok=True)
                process = start(place, [*place.commands["probe"][0], "--cache", cache], place.played)
                time.sleep(dice.uniform(0, 0.1))
                process.send_signal(number)
                out, _ = process.communicate(timeout=60)
                # The signal may come between the last byte and the exit.
                if process.returncode not in (0, -number) or not is_whole_or_nothing(out):
                    wrong.append("exit %s with %d bytes: %r" % (process.returncode, len(out), out[-60:]))
                if not place.none_left():
                    wrong.append("processes left: %s" % place.left())
                    for left in place.left():
                        os.kill(left, signal.SIGKILL)
                if place.parts():
                    wrong.append("left: %s" % place.parts())
        yield "signals to arch_probe, whose driver does: %s" % (trick.strip().replace("\n", ", ") or "nothing else"), wrong
    (place.folder / "machine").write_text(MACHINE)


def check_changing_files(place, options):
    """What changes while it is read gives an answer or an error."""
    good, file = place.big.read_bytes(), place.folder / "changing"
    other = bytearray(good)
    for at in range(0, len(other), 97):
        other[at] ^= 0x55

    def truncate(dice):
        os.truncate(file, dice.randrange(len(good)))
        file.write_bytes(good)

    def overwrite(dice):
        with open(file, "r+b") as target:
            target.write(other if dice.random() < 0.5 else good)

    def replace(dice):
        beside = place.folder / "beside"
        beside.write_bytes(good if dice.random() < 0.5 else b"no binary")
        beside.rename(file)

    def remove(dice):
        file.unlink(missing_ok=True)
        file.write_bytes(good)

    def grow(dice):
        with open(file, "ab") as target:
            target.write(good[:4096])
        if file.stat().st_size > 2 * len(good):
            file.write_bytes(good)

    for change in (truncate, overwrite, replace, remove, grow):
        file.write_bytes(good)
        stop, wrong, dice = threading.Event(), [], random.Random(16)

        def work():
            while not stop.is_set():
                change(dice)
                time.sleep(0.002)
        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(8 * options.times):
                run = subprocess.run([options.archguard, "verify", file, "--device", "8.0"], env=place.marked, capture_output=True,
                                     check=False, timeout=60)
                if run.returncode not in (0, 1, 2) or (run.returncode == 2 and not run.stdout + run.stderr):
                    wrong.append("exit %s, %r" % (run.returncode, run.stderr[:200]))
                if change in (replace, remove) and run.returncode == 1:
                    wrong.append("a verdict on a file that never was: %r" % run.stdout[:300])
        finally:
            stop.set()
            thread.join()
        yield "a file that is read, and meanwhile: " + change.__name__, wrong


def check_times(place, options):
    for name, when in (("1970", 0), ("2100", 4102444800), ("before 1970", -86400)):
        os.utime(place.cubin, (when, when))
        yield "a file of " + name, [each for command in place.commands for each in same(place, command, place.run(command))]


def check_together(place, options):
    """Many at once with one cache, with one report; some of them are ended."""
    cache, report, wrong = place.folder / "cache", place.folder / "report", []
    cubin = [options.archguard, "verify", place.cubin, "--device", "9.0", "--format", "json"]
    for turn in range(2 * options.times):
        cache.unlink(missing_ok=True)
        runs = [start(place, [*place.commands["probe"][0], "--cache", cache], place.played) for _ in range(6)]
        runs += [start(place, [*cubin, "--output", report]) for _ in range(6)]
        if turn % 2:
            runs[2].send_signal(signal.SIGTERM), runs[8].send_signal(signal.SIGTERM)
        for at, run in enumerate(runs):
            out, err = run.communicate(timeout=60)
            if turn % 2 and at in (2, 8) and run.returncode == -signal.SIGTERM:
                continue
            usual = place.usual["probe" if at < 6 else "verify json"]
            if run.returncode != usual.returncode or err or (at < 6 and b"NVIDIA H100" not in out):
                wrong.append("exit %s, %r, %r" % (run.returncode, out[:100], err[:200]))
        if report.read_bytes() != place.usual["verify json"].stdout:
            wrong.append("another report")
        if place.parts() or not place.none_left():
            wrong.append("left: %s %s" % (place.parts(), place.left()))
    yield "six at once with one cache, and six with one report", wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("archguard", "probe", "inputs", "fake-driver"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    count = failed = 0
    with tempfile.TemporaryDirectory(prefix="ag", dir="/var/tmp") as folder:
        place = Place(options, folder)
        for check in (check_surroundings, check_file_size, check_signals, check_signals_to_probe, check_changing_files, check_times,
                      check_together):
            if options.only not in check.__name__:
                continue
            for name, wrong in check(place, options):
                count, failed = count + 1, failed + bool(wrong)
                if wrong:
                    print("FAILED: %s: %s" % (name, "; ".join(wrong[:4])), flush=True)
    print("%d cases: %d failures%s" % (count, failed, "" if os.geteuid() == 0 else "; without root, so none of users, /proc and /tmp"))
    sys.exit(failed != 0)


main()
