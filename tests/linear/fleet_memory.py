"""Holds the memory that a fleet takes to a bound: 200 MB for a million lines.

    fleet_memory.py --archguard PATH --arch-probe PATH --inputs PATH

Of the lines 40 differ in what a rule reads; every one has another uuid. A second fleet has another name and
driver version on each line.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

LINES = 1_000_000
LEAST_MB, MOST_MB = 60, 200  # a command that did not read the fleet takes less
GPUS = [("T4", "7.5"), ("A100", "8.0"), ("A10", "8.6"), ("L4", "8.9"), ("H100", "9.0"),
        ("B200", "10.0"), ("V100", "7.0"), ("RTX", "12.0"), ("P100", "6.0"), ("Orin", "8.7")]
DRIVERS = ["580.95.05", "550.54.14", "535.104.05", "470.82.01"]


def line(i, distinct):
    name, capability = GPUS[i % 10]
    driver = f"{450 + i % 150}.{i // 150}" if distinct else DRIVERS[i // 10 % 4]
    return f"{name}{f' {i}' if distinct else ''},{capability},{driver},n{i // 8},GPU-{i * 2654435761:014x}\n"


def write_fleet(file, distinct):
    with file.open("w", encoding="utf-8") as out:
        out.write("name,compute_cap,driver_version,host,uuid\n")
        for begin in range(0, LINES, 10000):
            out.write("".join(line(i, distinct) for i in range(begin, begin + 10000)))


def peak_of(command):
    """MB that the command held at once, and its exit status. What it says goes nowhere."""
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.execv(command[0], command)
    _, status, usage = os.wait4(child, 0)
    return usage.ru_maxrss / 1000, os.waitstatus_to_exitcode(status)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--archguard", required=True)
    parser.add_argument("--arch-probe", required=True)
    parser.add_argument("--inputs", required=True)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        file, image = pathlib.Path(name) / "fleet.csv", pathlib.Path(name) / "image"
        subprocess.run([options.inputs, "cubin-kernels", "1", str(image)], check=True)
        select = [options.arch_probe, "select", "--fleet", str(file), "--toolkit", "13.0"]
        verify = [options.archguard, "verify", str(image), "--fleet", str(file)]
        probe = [options.arch_probe, "--fleet", str(file)]
        # verify: 2, since whether a driver of branch 470 knows an L4 cannot be told
        of_kinds = {"select": (select, 0), "select json": ([*select, "--format", "json"], 0),
                    "verify": (verify, 2), "verify json": ([*verify, "--format", "json"], 2),
                    "probe": (probe, 0), "probe csv": ([*probe, "--format", "csv"], 0)}
        of_distinct = {"select": (select, 0), "verify": (verify, 2)}
        for distinct, commands in (False, of_kinds), (True, of_distinct):
            write_fleet(file, distinct)
            for what, (command, expected) in commands.items():
                peak, status = peak_of(command)
                good = LEAST_MB < peak < MOST_MB and status == expected
                failed |= not good
                print(f"{what}, {'all lines distinct' if distinct else '40 kinds'}: {peak:.0f} MB"
                      f"{'' if good else f', exit status {status}: expected {LEAST_MB} to {MOST_MB} MB and {expected}'}")
    return 1 if failed else 0


sys.exit(main())
