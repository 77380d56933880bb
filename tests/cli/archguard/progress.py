"""Plays archguard on a terminal, and looks at the line that says how far it is.

    progress.py --archguard PATH

A step is made to take longer than a second: by a pipe that nobody writes to, and by a wheel that is stopped on its way.
"""
import argparse
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import zipfile

SECONDS = 50  # that anything may take


class Terminal:
    """A process whose standard error, and with `output` its standard output, is a terminal of so many columns."""

    def __init__(self, command, columns=100, output=False, env=None):
        self.end, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(command, stderr=other, stdout=other if output else subprocess.DEVNULL,
                                        env={**os.environ, "TERM": "xterm", **(env or {})})
        os.close(other)
        self.text = ""

    def read_until(self, pattern):
        """Reads on until the pattern is there, or to the end. Is it there?"""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if pattern and re.search(pattern, self.text):
                return True
            if not select.select([self.end], [], [], 1)[0]:
                continue
            try:
                read = os.read(self.end, 65536)
            except OSError:  # the other end is closed
                break
            if not read:
                break
            self.text += read.decode(errors="replace")
        return bool(pattern and re.search(pattern, self.text))

    def finish(self):
        self.read_until(None)
        status = self.process.wait()
        os.close(self.end)
        return status


def wait_of(folder):
    """An archguard that waits for its list of files, and who ends that."""
    pipe = folder / "list"
    os.mkfifo(pipe)
    return str(pipe), lambda: pipe.write_text("")


def check(what, holds, text, failures):
    print(f"{'ok' if holds else 'FAILED'}: {what}")
    if not holds:
        print(repr(text[-2000:]))
        failures.append(what)


def screen_of(text):
    """What is left to be seen on the last line, and how long a line was at most."""
    line, longest = "", 0
    for piece in re.split(r"(\r|\n|\x1b\[K)", text):
        if piece in "\r\n":
            line = "" if piece else line
        elif piece != "\x1b[K":
            line += piece
        longest = max(longest, len(line))
    return line, longest


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--archguard", required=True)
    archguard = parser.parse_args().archguard
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pipe, let_go = wait_of(folder)
        waiting = [archguard, "verify", "--device", "8.0", "--files-from", pipe]

        began = time.monotonic()
        run = Terminal(waiting)
        shown = run.read_until(r"looking for files, \d+ s")
        took = time.monotonic() - began
        check("what takes over a second is told while it goes on", shown and took >= 0.9, run.text, failures)
        check("the seconds are counted", run.read_until(r"looking for files, [2-9] s"), run.text, failures)
        threading.Thread(target=let_go).start()
        status = run.finish()
        check("the line is gone at the end", status == 3 and run.text.endswith("\r\x1b[K"), run.text, failures)

        run = Terminal(waiting, env={"TERM": "dumb"})
        time.sleep(1.5)
        threading.Thread(target=let_go).start()
        run.finish()
        check("a dumb terminal is told nothing", run.text == "", run.text, failures)

        with subprocess.Popen(waiting, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as piped:
            time.sleep(1.5)
            let_go()
            said = piped.stderr.read()
        check("a file or pipe is told nothing", said == b"", said, failures)

        began = time.monotonic()
        run = Terminal([archguard, "verify", "--device", "8.0", "--files-from", os.devnull])
        run.finish()
        check("what takes less is not told", run.text == "" or time.monotonic() - began > 1, run.text, failures)

        # Inside of a wheel: members that are each inflated whole. While the process stands still its second ends; how
        # soon it must be stopped depends on the machine.
        long_name = "w" * 150 + ".whl"
        wheel = folder / long_name
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            data = bytes(range(256)) * 65536
            for i in range(60):
                file.writestr(f"data{i}", data)
        verify = [archguard, "verify", "--device", "8.0", str(wheel)]
        began = time.monotonic()
        subprocess.run(verify, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS)
        took = time.monotonic() - began
        for share in (0.3, 0.5, 0.2, 0.7, 0.4, 0.1):
            run = Terminal(verify, columns=60)
            time.sleep(took * share)
            run.process.send_signal(signal.SIGSTOP)
            time.sleep(1.2)
            run.process.send_signal(signal.SIGCONT)
            shown = run.read_until(r"\d+ of 60 members")
            status = run.finish()
            if shown:
                break
        _, longest = screen_of(run.text)
        check("the members of a wheel are counted", shown and status == 3, run.text, failures)
        check("a long name does not fill the line", longest < 60, run.text, failures)
    sys.exit(1 if failures else 0)


main()
