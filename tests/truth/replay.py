#!/usr/bin/env python3
"""Compares every record of a real driver with archguard's verdict on the same bytes.

    replay.py ARCHGUARD TRUTH_JUDGE [RECORDS]    RECORDS: the folder of records, by default the one beside this file

Compared are the error that a program sees and, where a kernel of a fat binary ran, which image it came from. "Unknown" is never
wrong, but how often it is said of files that are not damaged is printed. Exit: 0 no disagreement, 1 disagreements, 77 no records.
"""
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tarfile
import tempfile

from libraries import UNTOUCHED

NO_DEVICE = 100
# Cases whose verdict is known to differ, and why. Each must differ: a name that no longer does is a disagreement, too.
DIFFERENT = {
    "program with a kernel of sm_80 that is never launched": "the verdict is about each kernel, the program launches another",
    "unused variable of sm_80 beside kernels": "the verdict is about each variable that host code can reach; this one is left alone",
    "unused variable of sm_80 alone": "likewise",
    "separate compilation, LTO-IR alone": "500 where 209 is said: nothing in the file tells that a device link made its fat binary",
    "ptx 80 with an unknown instruction": "instructions are compared with the ISA where they are known; others are not checked",
    "ptx 80 with an unknown instruction, bare": "likewise",
    "ptx 80 with an undeclared register": "names within a function are not checked",
    "ptx 80 with an undeclared register, bare": "likewise",
    "sass 90 with code of 0xff": "machine instructions are not checked, but for those of zeros",
    "sass 90 with code of 0xff, bare": "likewise",
}
# Those of the variables that a record tries which the rules know; the others change nothing that a verdict says.
KNOWN = ("CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT", "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT")


def recorded(result):
    """The error number that a program would see, 0 where the kernel ran, a text where there is none."""
    for call in ("load", "function", "launch"):
        if result.get(call, 0) != 0:
            return result[call]
    for end in ("exit", "no"):
        if end in result:
            return "%s %s" % (end, result[end])
    return 0


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    if not done.stdout:
        sys.exit("%s: exit %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return done.stdout


def predicted(archguard, path, device, env):
    """0 where the verdict is "covered", the numbers of the errors where it is "not-covered" (none: it fails, with an error that
    CUDA does not document), else the verdict."""
    settings = [part for name, value in env.items() if name in KNOWN for part in ("--env", "%s=%s" % (name, value))]
    document = json.loads(output(archguard, "verify", path, "--device", device, "--format", "json", *settings))
    verdict = document["verdict"]
    if verdict == "covered":
        return 0
    if verdict != "not-covered":
        return verdict
    (result,) = document["files"][0]["results"]
    return tuple(sorted({error["code"] for error in result["errors"] if error["code"] is not None}))


def disagreement(ours, run):
    theirs = recorded(run["result"])
    if "CUDA_VISIBLE_DEVICES" in run["env"] and run["env"]["CUDA_VISIBLE_DEVICES"] != "0":
        hidden = theirs == NO_DEVICE or theirs == "no cuInit says %d" % NO_DEVICE
        return None if hidden else "the driver gives %s where its devices are hidden" % theirs
    if ours == 0:
        return None if theirs == 0 else "covered, and the driver gives %s" % theirs
    if isinstance(ours, str):
        return None
    if isinstance(theirs, str):
        return None  # the process ended: it fails
    if theirs == 0:
        return "not covered (%s), and it runs" % ", ".join(map(str, ours))
    return None if not ours or theirs in ours else "the driver gives %s, archguard predicts %s" % (theirs, ", ".join(map(str, ours)))


def other_image(judge, path, record, run):
    """Where a kernel of a fat binary ran: whether the rules take the image that it came from."""
    mark = run["result"].get("mark", UNTOUCHED)
    if not path.endswith(".fatbin") or mark == UNTOUCHED:
        return None
    forcing = [name for name in KNOWN[:2] if run["env"].get(name) == "1"]
    said = output(judge, path, record["device"]["compute_capability"], record["driver"]["cuda"], *forcing[:1])
    image, linked = map(int, said.split())
    if image != mark:
        return "the driver takes image %d, archguard predicts %d" % (mark, image)
    return None if forcing or linked == mark else "the driver takes image %d, nvJitLink %d" % (mark, linked)


def judge_case(tools, record, case, path):
    """The disagreements of one case in words, and of how many runs ArchGuard does not know the end."""
    archguard, judge = tools
    device = "%s@%s" % (record["device"]["compute_capability"], record["driver"]["cuda"])
    memory, lines, unknown = {}, [], 0
    for run in case["runs"]:
        env = {name: value for name, value in run["env"].items() if name in KNOWN and value}  # an empty one says nothing
        key = json.dumps(env)
        if key not in memory:
            memory[key] = predicted(archguard, path, device, env)
        why = disagreement(memory[key], run)
        if why is None and memory[key] == 0 and not case["damaged"]:
            why = other_image(judge, path, record, run)
        unknown += isinstance(memory[key], str)
        if why is not None:
            under = "".join(" %s=%s" % setting for setting in run["env"].items())
            lines.append("%s, through the %s%s: %s" % (case["name"], run["through"], under, why))
    if case["name"] in DIFFERENT:
        lines = [] if lines else ["%s: no longer differs; take it off the list of those that do" % case["name"]]
    return lines, unknown


def replay(tools, path):
    """(runs, disagreements) of one record."""
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(path) as archive:
            archive.extractall(folder)
        with open(os.path.join(folder, "record.json")) as file:
            record = json.load(file)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            outcomes = pool.map(lambda case: judge_case(tools, record, case, os.path.join(folder, case["file"])), record["cases"])
            for case, (lines, unknown) in zip(record["cases"], outcomes):
                kind = "damaged" if case["damaged"] else "whole"
                counts[kind, "runs"] += len(case["runs"])
                counts[kind, "unknown"] += unknown
                counts[kind, "cases"] += 1
                counts["disagreements"] += len(lines)
                for line in lines:
                    print("%s: %s" % (os.path.basename(path), line))
                if unknown and not case["damaged"]:
                    print("%s: unknown: %s" % (os.path.basename(path), case["name"]))
    print("%s: %d cases, %d runs, %d of them unknown; of damaged files %d cases, %d runs, %d unknown; %d disagreements" % (
        os.path.basename(path), counts["whole", "cases"], counts["whole", "runs"], counts["whole", "unknown"], counts["damaged", "cases"],
        counts["damaged", "runs"], counts["damaged", "unknown"], counts["disagreements"]))
    return counts["whole", "runs"], counts["disagreements"]


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    folder = sys.argv[3] if len(sys.argv) == 4 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "records")
    records = sorted(glob.glob(os.path.join(folder, "*.tar.xz")))
    if not records:
        print("SKIPPED: no records; run tests/truth/record on a machine with a GPU")
        return 77
    outcomes = [replay(sys.argv[1:3], path) for path in records]
    return 0 if all(count > 0 and bad == 0 for count, bad in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
