"""Plays every machine of *.machines to arch_probe and writes down what it says.

    play.py --probe PATH --fake-driver FOLDER [--update] DOCUMENT

Fails where DOCUMENT is not what the machines make the probe say; with --update writes it instead. A file of machines
is a heading, a paragraph, and machines in brackets with lines `key: value`:

    source           where it is written down that a driver behaves so; mandatory
    arguments        of arch_probe, beside the format
    play             a line of the fake driver's script (tests/support/fake_driver/machine.h)
    driver           the version that NVML tells and that the libraries' file names carry (580.95.05; empty: none)
    kernel           the version in /proc/driver/nvidia/version; without it there is no such file
    libcuda, nvml    the path of the library, or `none`; outside the loader's path it is found by its own path alone
    libcuda kind     forward: with the note of the forward-compatibility package; nvml: the other library; text: no library
    libcuda version, nvml version    in the file name, where it is not that of the driver
    env              NAME = VALUE
    file             PATH = CONTENT
    socket           a path that exists and cannot be opened
    gpu              PCI-ADDRESS CLASS KERNEL-DRIVER (or -), as /sys/bus/pci shows it
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
ORDER = ["works", "hidden", "none", "fails", "nvml"]
ELSEWHERE = ("/usr/lib/wsl/", "/run/opengl-driver/")  # not on the loader's path
DEFAULT = {"driver": "580.95.05", "libcuda": "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
           "nvml": "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"}
LISTS = ("play", "env", "file", "socket", "gpu")
KEYS = {"source", "arguments", "kernel", "libcuda kind", "libcuda version", "nvml version", *DEFAULT, *LISTS}


def read_machines(path):
    """The heading, the paragraph and the machines of a file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    heading, intro, machines = lines[0].removeprefix("# "), [], []
    for number, line in enumerate(lines[1:], 2):
        name = re.fullmatch(r"\[(.*)\]", line)
        if name:
            machines.append({"name": name.group(1), **DEFAULT, **{key: [] for key in LISTS}})
        elif not machines:
            intro.append(line)
        elif line:
            key, colon, value = line.partition(":")
            if key not in KEYS or not colon:
                sys.exit("%s:%d: not 'key: value' with a known key: %s" % (path, number, line))
            if key in LISTS:
                machines[-1][key].append(value.strip())
            else:
                machines[-1][key] = value.strip()
    for machine in machines:
        if not machine.get("source"):
            sys.exit("%s: [%s] has no source" % (path, machine["name"]))
    return heading, "\n".join(intro).strip(), machines


def put_library(root, path, made_from, version):
    """Installs a library as drivers do: libcuda.so.1 links to libcuda.so.VERSION."""
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"\.so.*", ".so", place.name)
    target = place.parent / ("%s.%s" % (stem, version)) if version else place
    if made_from is None:
        target.write_text("This is a text, long enough to be read as the header of a library, were it one at all.\n")
    else:
        shutil.copy(made_from, target)
    if target != place:
        place.symlink_to(target.name)


def build(machine, root, fake):
    """Makes the files of the machine below `root`; returns the environment of the probe."""
    script = list(machine["play"])
    if not any(line.startswith("cuda ") for line in script):
        script.insert(0, "cuda 13000")
    if machine["driver"]:
        script.insert(0, "driver " + machine["driver"])
    text = "\n".join(script) + "\n"
    (root / "machine").write_bytes(re.sub(rb"\\x(..)", lambda match: bytes([int(match.group(1), 16)]), text.encode()))
    folders = []
    kinds = {"cuda": fake / "cuda/libcuda.so.1", "forward": fake / "forward/libcuda.so.1",
             "nvml": fake / "nvml/libnvidia-ml.so.1", "text": None}
    for name, kind in (("libcuda", machine.get("libcuda kind", "cuda")), ("nvml", "nvml")):
        path = machine[name]
        if path == "none":
            continue
        put_library(root, path, kinds[kind], machine.get(name + " version", machine["driver"]))
        if not path.startswith(ELSEWHERE):
            folders.append(str(root / os.path.dirname(path).lstrip("/")))
    files = [entry.partition("=")[::2] for entry in machine["file"]]
    if machine.get("kernel"):
        files.append(("/proc/driver/nvidia/version",
                      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Release Build" % machine["kernel"]))
    for gpu in machine["gpu"]:
        address, kind, driver = gpu.split()
        folder = "/sys/bus/pci/devices/%s/" % address
        files += [(folder + "vendor", "0x10de"), (folder + "class", kind + "00"[: 8 - len(kind)])]
        if driver != "-":
            place = root / folder.lstrip("/")
            place.mkdir(parents=True)
            (place / "driver").symlink_to("../../../../bus/pci/drivers/" + driver)
    for path, content in files:
        place = root / path.strip().lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content.strip() + "\n" if content.strip() else "")
    for path in machine["socket"]:
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(str(place))
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "LD_PRELOAD": str(fake / "files/libfake_files.so.1"),
                   "LD_LIBRARY_PATH": ":".join(dict.fromkeys(folders)), "ARCHGUARD_FAKE_ROOT": str(root),
                   "ARCHGUARD_FAKE_MACHINE": str(root / "machine"), "ASAN_OPTIONS": "verify_asan_link_order=0"}
    for entry in machine["env"]:
        name, _, value = entry.partition("=")
        environment[name.strip()] = value.strip()
    return environment


def play(machine, probe, fake):
    """What the probe prints on this machine, and its exit status."""
    with tempfile.TemporaryDirectory(prefix="ag") as folder:
        root = pathlib.Path(folder)
        environment = build(machine, root, fake)
        arguments = machine.get("arguments", "").split()
        runs = [subprocess.run([probe, *arguments, "--format", kind], env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
                for kind in ("table", "json")]
        text, document = (run.stdout.decode("utf-8").replace(folder, "") for run in runs)
        check(machine["name"], runs, text, json.loads(document))
        return runs[0].returncode, text, json.loads(document)


def check(name, runs, text, document):
    """What must hold on every machine."""
    status = {"ok": 0, "none": 3, "failed": 4}[document["status"]]
    wrong = []
    if any(run.returncode != status or run.stderr for run in runs):
        wrong.append("exit %s, %r" % ([run.returncode for run in runs], runs[0].stderr))
    if status and not document["diagnostics"]:
        wrong.append("no diagnostic")
    for each in document["diagnostics"]:
        if not each["stage"] or not each["cause"] or "%s" % each["cause"] not in text:
            wrong.append("no stage, no cause, or not the same in both formats: %s" % each)
    if status and not document["diagnostics"][0]["fix"]:
        wrong.append("no fix")
    if status and any(device["visible"] for device in document["devices"]):
        wrong.append("a device is usable though the status is %s" % document["status"])
    if any(set(device["source"].values()) - {"cuda", "nvml", "proc", "sys"} for device in document["devices"]):
        wrong.append("a source that is none")
    if wrong:
        sys.exit("[%s] %s" % (name, "; ".join(wrong)))


def document_text(probe, fake):
    summary, chapters, count = [], [], 0
    for group in ORDER:
        heading, intro, machines = read_machines(HERE / (group + ".machines"))
        chapters += ["## " + heading, "", intro, ""]
        for machine in machines:
            status, text, document = play(machine, probe, fake)
            count += 1
            head = "%d of %d usable" % (sum(device["visible"] for device in document["devices"]), len(document["devices"]))
            if document["diagnostics"]:
                first = document["diagnostics"][0]
                head = " ".join(str(part) for part in (first["stage"], first["code"], first["name"]) if part is not None)
            summary.append("| %s | %d | %s |" % (machine["name"], status, head))
            # Lines that are shown are shown whole, but for the paths' temporary beginning.
            said = [line.rstrip() for line in text.rstrip("\n").split("\n")]
            chapters += ["### %s" % machine["name"], "", "Source: %s." % machine["source"]]
            if machine["env"]:
                chapters.append("Environment: `%s`." % "`, `".join(re.sub(" *= *", "=", entry) for entry in machine["env"]))
            chapters += ["", "```", *said, "```", ""]
    return "\n".join([
        "# What arch_probe says on %d simulated machines" % count, "",
        "Written by `tests/machines/play.py --update`; the test `machines` fails where it is not what the program prints.",
        "The machines are *simulated*: libraries of the tests answer in the place of libcuda and NVML, with the codes that the",
        "sources name, and a preloaded library in the place of `/proc`, `/sys` and `/dev`. What real drivers answer is in",
        "[the records of tests/truth](../../tests/truth).", "",
        "| machine | exit | devices, or stage, code and name of the first diagnostic |", "|---|---|---|", *summary, "",
        *chapters]).rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--fake-driver", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("document", type=pathlib.Path)
    options = parser.parse_args()
    text = document_text(options.probe, options.fake_driver)
    if options.update:
        options.document.write_text(text, encoding="utf-8")
        return
    committed = options.document.read_text(encoding="utf-8") if options.document.exists() else ""
    if text != committed:
        sys.stdout.writelines(difflib.unified_diff(committed.splitlines(True), text.splitlines(True), "committed", "played"))
        sys.exit("%s is not what the machines make arch_probe say; cmake --build BUILD --target update_machines writes it"
                 % options.document)
    print("%d machines, each says what %s says" % (text.count("\n### "), options.document.name))


if __name__ == "__main__":
    main()
