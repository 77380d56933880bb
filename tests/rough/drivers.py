"""Drivers that harm whoever asks them: each mode with its exit status, in bounded time, with bounded output, and no process left.

    drivers.py --probe PATH --fake-driver FOLDER [--times N] [--only TEXT]

Each mode is a machine (tests/support/fake_driver/machine.h) whose libraries do the harm; arch_probe asks both of them.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

GPUS = """driver 580.95.05
cuda 13000
device cc=9.0 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000002 pci=0000:5E:00.0 nvml=2 name=NVIDIA H100
device cc=8.0 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000001 pci=0000:3B:00.0 nvml=1 name=NVIDIA A100
"""
ONE = "driver 580.95.05\ncuda 13000\ndevice cc=%s uuid=GPU-aaaaaaaa-0000-0000-0000-000000000001 pci=0000:3B:00.0 name=%s\n"
CUDA = ("cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
        "cuDeviceGetUuid", "cuDeviceGetUuid_v2", "cuDeviceGetPCIBusId")
NVML = ("nvmlInit_v2", "nvmlSystemGetDriverVersion", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2",
        "nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetCudaComputeCapability",
        "nvmlDeviceGetMigMode")
USABLE, NONE, FAILED = 0, 3, 4
SECONDS = 1.0  # of --timeout
OUTPUT_MOST = 64 << 10


def call_modes():
    """What ends or stops the process, at each call: libcuda's end is a failure, NVML's is not."""
    for trick in ("crash %s", "raise %s 6", "exit %s 0", "quit %s 7", "hang %s"):
        for functions, status in ((CUDA, FAILED), (NVML, USABLE)):
            for function in functions:
                yield "at each call: " + trick % function, GPUS + trick % function, status


def device(capability="9.0", name="forged"):
    return r"device\t%s\t%s\tGPU-x\t\t00000000:5E:00.0\t\n" % (name, capability.replace(".", r"\t"))


# name, machine, exit status (a tuple: any of these)
MODES = [
    ("SIGKILL to itself", GPUS + "raise cuInit 9", FAILED),
    ("SIGSTOP to itself", GPUS + "raise cuInit 19", FAILED),
    ("SIGTERM to its group", GPUS + "signal cuInit 15", FAILED),
    ("SIGHUP to its group", GPUS + "signal cuInit 1", FAILED),
    ("SIGALRM to itself", GPUS + "raise cuInit 14", FAILED),
    ("SIGXFSZ to itself", GPUS + "raise cuInit 25", FAILED),
    ("an exception through C", GPUS + "throw cuInit", FAILED),
    ("another program in its place", GPUS + "become cuInit /bin/true", FAILED),
    ("a handler of crashes that never returns", GPUS + "loop cuInit", FAILED),
    ("deaf to every signal, then works", GPUS + "deaf cuInit", USABLE),
    ("deaf to every signal, then hangs", GPUS + "deaf cuInit\nhang cuDeviceGet", FAILED),
    ("10 MB of output", GPUS + "flood cuInit 10000000", USABLE),
    ("10 MB of output, NVML", GPUS + "flood nvmlInit_v2 10000000", USABLE),
    ("output without end", GPUS + "flood cuInit 1000000000000", FAILED),
    ("closes every stream and pipe", GPUS + "close cuInit", FAILED),
    ("closes every stream and pipe, NVML", GPUS + "close nvmlInit_v2", USABLE),
    ("closes all, then hangs", GPUS + "close cuInit\nhang cuDeviceGetCount", FAILED),
    ("forges the end, then hangs", GPUS + r"forge cuInit 1 \.\n" + "\nhang cuInit", FAILED),
    ("forges the end, then works", GPUS + r"forge cuInit 1 \.\n", (USABLE, FAILED)),
    ("forges a GPU without initialising", GPUS + "forge cuInit 1 " + device() + "\nfail cuInit 999", FAILED),
    ("forges half a record, then ends", GPUS + r"forge cuInit 1 device\tA" + "\nexit cuInit 0", FAILED),
    ("forges records that are none", GPUS + r"forge cuDriverGetVersion 1000 \t\t\n\ndevice\nstage\ncuda\t99999999999999999999\n",
     USABLE),
    ("forges numbers out of bounds", GPUS + "forge cuDeviceGetCount 1 "
     + device("99999999999999999999.-99999999999999999999") + "\nhang cuDeviceGet", FAILED),
    ("forges a GPU 100,000 times", GPUS + "forge cuDeviceGetCount 100000 " + device(), FAILED),
    ("forges a GPU 100,000 times, both", GPUS + "forge cuDeviceGetCount 100000 " + device()
     + "\nforge nvmlDeviceGetCount_v2 100000 " + device(), FAILED),
    ("forges failures 100,000 times", GPUS + r"forge cuDeviceGetCount 50000 failure\ta\t1\nfailure\tb\t2\n", USABLE),
    ("forges failures 100,000 times, NVML", GPUS + r"forge nvmlDeviceGetCount_v2 50000 failure\ta\t1\nfailure\tb\t2\n", USABLE),
    ("forges 8 MB of one line", GPUS + "forge cuDeviceGetCount 8000000 x", FAILED),
    ("forges a name of 3 MB", GPUS + r"forge cuDeviceGetCount 1 device\t" + "n" * 3000000 + r"\t9\t0\tGPU-y\t\t\t\n", USABLE),
    ("children that print without end", GPUS + "fork cuInit 10", USABLE),
    ("children that print without end, then crashes", GPUS + "fork cuInit 10\ncrash cuDeviceGet", FAILED),
    ("double forks, deaf", GPUS + "orphan cuInit 10", USABLE),
    ("double forks, deaf, then hangs", GPUS + "orphan cuInit 10\nhang cuDeviceGet", FAILED),
    ("double forks at NVML, then crashes", GPUS + "orphan nvmlInit_v2 10\ncrash nvmlInit_v2", USABLE),
    ("a thread that crashes later", GPUS + "thread cuInit 500\nhang cuDeviceGetCount", FAILED),
    ("a thread that would crash after the end", GPUS + "thread cuInit 5000", USABLE),
    ("a thread that holds stdout for ever", GPUS + "lock cuInit", USABLE),
    ("ends the calling thread, and leaves another", GPUS + "leave cuInit", FAILED),
    ("another folder, umask 777, limits of nothing", GPUS + "spoil cuInit", USABLE),
    ("the same in both", GPUS + "spoil cuInit\nspoil nvmlInit_v2", USABLE),
    ("a name without a NUL", GPUS + "unended cuDeviceGetName", USABLE),
    ("a bus id without a NUL", GPUS + "unended cuDeviceGetPCIBusId", USABLE),
    ("NVML's texts without a NUL", GPUS + "unended nvmlDeviceGetName\nunended nvmlDeviceGetUUID\n"
     "unended nvmlSystemGetDriverVersion", USABLE),
    ("64 KiB into the place of a name", GPUS + "overrun cuDeviceGetName", FAILED),
    ("64 KiB into the place of NVML's name", GPUS + "overrun nvmlDeviceGetName", USABLE),
    *[("counts %s GPUs" % count, GPUS + "count " + count, FAILED)
      for count in ("-2147483648", "-1", "1025", "2147483647")],
    ("a compute capability of -1.0", ONE % ("-1.0", "NVIDIA"), USABLE),
    ("a compute capability of 2147483647.2147483647", ONE % ("2147483647.2147483647", "NVIDIA"), USABLE),
    ("a CUDA version of -1", GPUS.replace("13000", "-1"), USABLE),
    ("a CUDA version of 2147483647", GPUS.replace("13000", "2147483647"), USABLE),
    ("a driver version of 4 KB", GPUS.replace("580.95.05", "9" * 4096), USABLE),
    ("a name that erases the line", ONE % ("9.0", "\x1b[2K\r\u202eok\x07"), USABLE),
    ("a name that is not UTF-8", ONE % ("9.0", "\udcff\udcfe"), USABLE),
]
# Nothing holds these: they leave what ArchGuard can end. What is promised is less.
ESCAPES = [
    ("a session of its own holds nobody up", GPUS + "session cuInit 3", USABLE),
    ("SIGTERM to its parent", GPUS + "parent cuInit 15\nhang cuDeviceGet", -signal.SIGTERM),
    ("SIGHUP to its parent, with output without end", GPUS + "parent cuInit 1\nflood cuInit 1000000000000", -signal.SIGHUP),
    ("SIGINT to its parent, with children", GPUS + "orphan cuInit 5\nparent cuInit 2\nhang cuDeviceGet", -signal.SIGINT),
]


def left_of(machine):
    """The processes that were started on this machine and are still there."""
    found = []
    needle = b"ARCHGUARD_FAKE_MACHINE=" + os.fsencode(machine)
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and needle in pathlib.Path("/proc", entry, "environ").read_bytes():
                found.append(int(entry))
        except OSError:
            pass
    return found


def wait_for_none_left(machine, seconds):
    """What was sent SIGKILL may take a moment."""
    deadline = time.monotonic() + seconds
    while left := left_of(machine):
        if time.monotonic() > deadline:
            return left
        time.sleep(0.02)
    return []


def no_device_is_wrong(document, status):
    """A device that is said to be usable has a capability that a GPU may have, or none."""
    for each in document["devices"]:
        capability = each["compute_capability"]
        if status != USABLE and each["visible"]:
            return "usable, though the driver failed: %s" % each
        if capability is not None and not 1 <= float(capability) < 100:
            return "a capability of no GPU: %s" % each
    return None


def play(probe, fake, machine, expected, folder):
    """What is wrong, and the seconds and bytes that it took."""
    place = os.path.join(folder, "machine")
    with open(place, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(machine + "\n")
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "LD_PRELOAD": str(fake / "files/libfake_files.so.1"),
                   "LD_LIBRARY_PATH": "%s:%s" % (fake / "cuda", fake / "nvml"), "ARCHGUARD_FAKE_MACHINE": place,
                   "ARCHGUARD_FAKE_ROOT": os.path.join(folder, "root"), "ASAN_OPTIONS": "verify_asan_link_order=0"}
    began = time.monotonic()
    with tempfile.TemporaryFile(dir=folder) as out, tempfile.TemporaryFile(dir=folder) as err:
        try:
            status = subprocess.run([probe, "--format", "json", "--timeout", str(SECONDS)], env=environment, stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=err, timeout=60, check=False, cwd=folder).returncode
        except subprocess.TimeoutExpired:
            status = "none within a minute"
        seconds = time.monotonic() - began
        left = wait_for_none_left(place, 5)
        out.seek(0), err.seek(0)
        text, words = out.read(), err.read()
    wrong = []
    if status not in (expected if isinstance(expected, tuple) else (expected,)):
        wrong.append("exit %s, not %s" % (status, expected))
    if left:
        wrong.append("%d processes left" % len(left))
        for process in left:
            os.kill(process, signal.SIGKILL)
    if seconds > SECONDS + 4:  # of a machine with other work
        wrong.append("%.1f seconds" % seconds)
    if len(text) + len(words) > OUTPUT_MOST:
        wrong.append("%d bytes of output" % (len(text) + len(words)))
    if isinstance(expected, int) and expected < 0:
        if text:
            wrong.append("part of an answer")
    else:
        try:
            document = json.loads(text)
            if problem := no_device_is_wrong(document, status):
                wrong.append(problem)
        except ValueError as error:
            wrong.append("no JSON: %s; %r" % (error, words[:200]))
    if words:
        wrong.append("stderr: %r" % words[:200])
    if set(os.listdir(folder)) - {"machine"}:
        wrong.append("files left: %s" % os.listdir(folder))
    return wrong, seconds, len(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--fake-driver", required=True, type=pathlib.Path)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    modes = [mode for mode in [*MODES, *ESCAPES, *call_modes()] if options.only in mode[0]]
    slowest, largest, failed = (0, ""), (0, ""), 0

    def play_one(mode):
        with tempfile.TemporaryDirectory(prefix="ag") as folder:
            return play(options.probe, options.fake_driver, *mode[1:], folder)

    # Most of them wait for the deadline; the others, which take a core or are no match for a load, go one by one.
    waits = [mode for mode in modes if mode[0].startswith("at each call: hang")]
    for _ in range(options.times):
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            played = list(zip(waits, pool.map(play_one, waits)))
        for mode in modes:
            if mode not in waits:
                played.append((mode, play_one(mode)))
        for (name, _, _), (wrong, seconds, size) in played:
            slowest, largest = max(slowest, (seconds, name)), max(largest, (size, name))
            if wrong:
                failed += 1
                print("FAILED: %s: %s" % (name, "; ".join(wrong)))
    print("%d drivers, each %d times: %d failures; the slowest took %.2f s (%s), the longest answer has %d bytes (%s)"
          % (len(modes), options.times, failed, *slowest, *largest))
    sys.exit(failed != 0)


main()
