"""Counts the instructions that reading takes: twice the input may take at most 2.5 times as many.

    linear.py --archguard PATH --arch-probe PATH --inputs PATH [KIND...]

inputs.cc makes the files: one for each kind of table and string, and hostile ones. valgrind counts, so that no clock
and no other process has a say. What a file of one entry takes is taken off: the programs' own start. And what `inspect`
allocates at once does not grow with the device code.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 2.5
LEAST = 5_000_000  # less is hidden behind what differs between two starts, and is not asked further
MOST_MEMORY = 1.2
DEVICES = ["--device", "8.0", "--device", "9.0"]


def commands(kind, program, probe, file, image):
    """What reads a file of this kind, as name -> command."""
    if kind.startswith("fleet"):
        return {"verify": [program, "verify", image, "--fleet", file],
                "verify json": [program, "verify", image, "--fleet", file, "--format", "json"],
                "select": [probe, "select", "--fleet", file, "--toolkit", "13.0"],
                "probe": [probe, "--fleet", file, "--format", "csv"]}
    if kind.startswith(("import", "hostile-yaml")):
        return {"import": [program, "fleet", "import", file]}
    if kind == "waivers":
        return {"verify": [program, "verify", image, *DEVICES, "--waivers", file]}
    if kind == "paths":
        return {"verify": [program, "verify", image, *DEVICES, "--files-from", file]}
    found = {"verify": [program, "verify", file, *DEVICES],
             "inspect": [program, "inspect", "--kernels", "--format", "json", file]}
    if kind == "elf-dynamic":
        found["needed"] = [program, "inspect", "--needed", file]
    return found


def instructions(command, folder):
    """How many there are, and whether the file holds device code: what is asked of such a file alone is a start of its own."""
    log = folder / "log"
    done = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                           "--trace-children=no", f"--log-file={log}.%p", *command],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=500)
    counts = []
    for each in folder.glob("log.*"):
        counts += [int(count.replace(",", "")) for count in re.findall(r"I\s+refs:\s+([\d,]+)", each.read_text())]
        each.unlink()
    if not counts or done.returncode < 0 or "valgrind" in done.stderr:
        sys.exit(f"linear: {' '.join(map(str, command))}: {done.stderr[-500:]}")
    return max(counts), done.returncode != 3  # a child process goes on counting from what its parent had


def allocated(command, folder):
    """The most bytes at once."""
    log, out = folder / "log", folder / "massif"
    subprocess.run(["valgrind", "--tool=massif", f"--massif-out-file={out}", f"--log-file={log}", *command],
                   stdout=subprocess.DEVNULL, check=True, timeout=500)
    return max(int(size) for size in re.findall(r"^mem_heap_B=(\d+)", out.read_text(), re.MULTILINE))


def check_memory(program, make, folder):
    """Past the images that it keeps in memory."""
    few, many = (allocated([program, "inspect", make("fatbins", count, folder / "file")], folder)
                 for count in (60_000, 180_000))
    bad = many > few * MOST_MEMORY
    print(f"{'FAILED' if bad else 'ok':6} memory of inspect: {few / 1e6:.1f} MB, thrice the fatbins: {many / 1e6:.1f} MB")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--archguard", required=True)
    parser.add_argument("--arch-probe", required=True)
    parser.add_argument("--inputs", required=True)
    parser.add_argument("kinds", nargs="*")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("SKIPPED: no valgrind, which counts the instructions")
        return 0
    known = subprocess.run([options.inputs, "--list"], check=True, capture_output=True, text=True).stdout.split()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        image = folder / "image"

        def make(kind, count, file):
            subprocess.run([options.inputs, kind, str(count), str(file)], check=True)
            return file

        make("cubin-kernels", 1, image)
        start = {}  # by command, and whether there is device code
        if not options.kinds:
            failed |= check_memory(options.archguard, make, folder)
        for kind in options.kinds or known:
            size = 4000 if kind.startswith("hostile-") else 1000

            def count(name, entries):
                file = make(kind, entries, folder / "file")
                return instructions(commands(kind, options.archguard, options.arch_probe, file, image)[name], folder)

            for name in commands(kind, options.archguard, options.arch_probe, image, image):
                twice, has_code = count(name, 2 * size)
                if (name, has_code) not in start:
                    start[name, has_code], _ = count(name, 1)
                twice -= start[name, has_code]
                if twice <= LEAST:
                    print(f"ok     {kind:26} {name:12} twice: {twice / 1e6:8.1f} M", flush=True)
                    continue
                once = count(name, size)[0] - start[name, has_code]
                ratio = twice / max(once, 1)
                bad = ratio > MOST
                failed |= bad
                print(f"{'FAILED' if bad else 'ok':6} {kind:26} {name:12} {once / 1e6:8.1f} M, "
                      f"twice: {twice / 1e6:8.1f} M, ratio {ratio:.2f}", flush=True)
    return 1 if failed else 0


sys.exit(main())
