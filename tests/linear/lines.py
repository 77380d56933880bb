"""Counts the lines that large answers take.

    lines.py --archguard PATH --arch-probe PATH --inputs PATH [--images NUMBER...]

A million images take minutes to make and to judge (--images 1000000). That they are no more lines is shown by two wheels,
of which one has twenty times the images of the other: both print the same number.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zipfile

MODELS = {"served": [("NVIDIA A100-SXM4-80GB", "8.0"), ("NVIDIA H100 80GB HBM3", "9.0"), ("NVIDIA B200", "10.0")],
          "left out": [("Tesla P100", "6.0"), ("Tesla V100-SXM2", "7.0"), ("NVIDIA H100 80GB HBM3", "9.0")]}
DRIVERS = {"new": ["580.95.05"], "old": ["470.82.01"], "of both ages": ["580.95.05", "470.82.01"]}


def write_fleet(file, models, drivers):
    lines = ["name, compute_cap, driver_version, uuid"]
    for i in range(400):
        name, capability = models[i % 3]
        lines.append(f"{name}, {capability}, {drivers[i // 3 % len(drivers)]}, GPU-{i}")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_wheel(file, cubins, count):
    """Cubins by turns, and the RECORD that names them."""
    record = []
    with zipfile.ZipFile(file, "w") as wheel:
        for i in range(count):
            name = f"many/kernel_{i}.cubin"
            wheel.writestr(name, cubins[i % len(cubins)])
            record.append(f"{name},,\n")
        wheel.writestr("many-1.0.dist-info/RECORD", "".join(record))


def lines_of(command, status):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if run.returncode != status:
        print(f"FAILED: {' '.join(command)} exits with {run.returncode}, not {status}")
        print(run.stdout[-2000:])
        sys.exit(1)
    return run.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser()
    for name in ("archguard", "arch-probe", "inputs"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--images", type=int, nargs="+", default=[1000, 20000])
    options = parser.parse_args()
    failed = False

    def check(what, holds, lines):
        nonlocal failed
        print(f"{'ok' if holds else 'FAILED'}: {what}, {len(lines)} lines")
        if not holds:
            print("\n".join(line[:300] for line in lines[:80]))
            failed = True

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fleet = folder / "fleet.csv"
        for kind, models in MODELS.items():
            for age, drivers in DRIVERS.items():
                write_fleet(fleet, models, drivers)
                for toolkit in ("13.0", "12.4"):
                    lines = lines_of([options.arch_probe, "select", "--fleet", str(fleet), "--toolkit", toolkit], 0)
                    check(f"400 devices in 3 classes, {kind}, drivers {age}, CUDA {toolkit}", len(lines) <= 12, lines)
                    once = all(line.count(model) <= 1 for line in lines for model, _ in models)
                    check("  a line names a model once", once, lines)
        # Two kinds of cubins of sm_80, by turns.
        plain = folder / "cubin"
        subprocess.run([options.inputs, "cubin-kernels", "1", str(plain)], check=True)
        first = plain.read_bytes()
        subprocess.run([options.inputs, "cubin-kernels", "2", str(plain)], check=True)
        cubins = [first, plain.read_bytes()]
        printed = {}
        for count in options.images:
            wheel = folder / f"many-{count}.whl"
            write_wheel(wheel, cubins, count)
            devices = ["--device", "7.5", "--device", "8.0", "--device", "9.0"]
            began = time.monotonic()
            lines = lines_of([options.archguard, "verify", str(wheel), *devices], 1)
            print(f"{count} images, {wheel.stat().st_size / 1e6:.0f} MB: {time.monotonic() - began:.1f} s")
            printed[count] = len(lines)
            check(f"{count} images in a wheel", len(lines) <= 60, lines)
            check("  the last line is the verdict", bool(re.fullmatch(rf"{count} files: {count} not covered", lines[-1])), lines)
            check("  before it stands the package", lines[-2].startswith("package many 1.0 (pip): "), lines)
        check("more images are no more lines", len(set(printed.values())) == 1, [])
    sys.exit(1 if failed else 0)


main()
