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
import re
import subprocess
import sys
import tarfile
import tempfile

from libraries import UNTOUCHED

NO_DEVICE = 100
# Cases whose verdict is known to differ (patterns of their names), and why.
DIFFERENT = {
    r"program with a kernel of sm_80 that is never launched": "the verdict is about each kernel, the program launches another",
    r"unused variable of sm_80 (beside kernels|alone)": "the verdict is about each variable that host code can reach; this one is left alone",
    r"instance that is never launched": "host code has the function that would launch it",
    r"(template|static) kernel of sm_90 and sm_100a in two files, that of the second launched": "a warning: one that fits holds a kernel of this name",
    r"(template|static) kernel of sm_100a and sm_90 in two files, that of the first launched": "likewise",
    r"separate compilation, LTO-IR alone": "500 where 209 is said: nothing in the file tells that a device link made its fat binary",
    r"ptx 80 with an unknown instruction(, bare)?": "instructions are compared with the ISA where they are known; others are not checked",
    r"ptx 80 with an undeclared register(, bare)?": "names within a function are not checked",
    r"sass \d+ with code of 0xff(, bare)?": "machine instructions are not checked, but for those of zeros",
    r"sass \d+ with bit 0 of e_flags changed, bare": "an unknown bit is a warning: in a fat binary it does no harm",
}
# The device on which each of them does differ.
DIFFERENT_ON = "9.0"
# What holds no kernel is no device code, which is no verdict on a device.
NO_CODE = r"ptx without a kernel|ptx \d+ cut before its kernel"
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
    """The document of the verdict, and 0 where the verdict is "covered", the numbers of the errors where it is "not-covered" (none: it fails, with an error that
    CUDA does not document), else the verdict."""
    settings = [part for name, value in env.items() if name in KNOWN for part in ("--env", "%s=%s" % (name, value))]
    document = json.loads(output(archguard, "verify", path, "--device", device, "--format", "json", *settings))
    verdict = document["verdict"]
    if verdict == "covered":
        return document, 0
    if verdict != "not-covered":
        return document, verdict
    (result,) = document["files"][0]["results"]
    return document, tuple(sorted({error["code"] for error in result["errors"] if error["code"] is not None}))


def disagreement(ours, run):
    theirs = recorded(run["result"])
    if "CUDA_VISIBLE_DEVICES" in run["env"] and run["env"]["CUDA_VISIBLE_DEVICES"] != "0":
        hidden = theirs == NO_DEVICE or theirs == "no cuInit says %d" % NO_DEVICE
        return None if hidden else "the driver gives %s where its devices are hidden" % theirs
    if isinstance(theirs, str) and not theirs.startswith("exit"):
        return None  # nothing was tried: counted as such
    if ours == 0:
        return None if theirs == 0 else "covered, and the driver gives %s" % theirs
    if ours == "no-device-code" and theirs == 0:
        return "no device code, and it runs"
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
    # With a minor number SASS of an older one may fit beside nearer PTX, where nvJitLink's order is another.
    has_minor = not record["device"]["compute_capability"].endswith(".0")
    return None if forcing or has_minor or linked == mark else "the driver takes image %d, nvJitLink %d" % (mark, linked)


def other_arch(document, record, run):
    """Where a program's kernel ran, which writes its __CUDA_ARCH__: whether SASS alone was said and other code ran."""
    mark, counts = run["result"].get("mark", UNTOUCHED), document["files"][0]["results"][0]["containers"]
    if mark < 100 or counts["jit"] or counts["linked_at_load"]:
        return None
    major = int(record["device"]["compute_capability"].split(".")[0])
    return None if mark // 100 == major else "the driver takes code for %d, archguard predicts SASS" % mark


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
        document, ours = memory[key]
        why = disagreement(ours, run)
        if ours == "no-device-code" and not re.fullmatch("(%s)(, bare)?" % NO_CODE, case["name"]):
            why = why or "no device code"
        if why is None and ours == 0 and not case["damaged"]:
            why = other_arch(document, record, run) if run["through"] == "program" else other_image(judge, path, record, run)
        unknown += ours == "unknown"
        if why is not None:
            under = "".join(" %s=%s" % setting for setting in run["env"].items())
            lines.append("%s, through the %s%s: %s" % (case["name"], run["through"], under, why))
    if any(re.fullmatch(pattern, case["name"]) for pattern in DIFFERENT):
        must = record["device"]["compute_capability"] == DIFFERENT_ON
        lines = ["%s: no longer differs; take it off the list of those that do" % case["name"]] if must and not lines else []
    return lines, unknown


def unpack(path, folder):
    """A record's files, which come from others: plain ones, by the bare names that they have."""
    with tarfile.open(path) as archive:
        for member in archive:
            if not member.isfile() or os.path.basename(member.name) != member.name:
                sys.exit("%s: no record: it holds %r" % (path, member.name))
            with open(os.path.join(folder, member.name), "wb") as file:
                file.write(archive.extractfile(member).read())


def replay(tools, path):
    """(runs, disagreements) of one record."""
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        unpack(path, folder)
        with open(os.path.join(folder, "record.json")) as file:
            record = json.load(file)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            outcomes = pool.map(lambda case: judge_case(tools, record, case, os.path.join(folder, os.path.basename(case["file"]))), record["cases"])
            for case, (lines, unknown) in zip(record["cases"], outcomes):
                kind = "damaged" if case["damaged"] else "whole"
                counts[kind, "runs"] += len(case["runs"])
                counts[kind, "unknown"] += unknown
                counts["not tried"] += sum("no" in run["result"] and "CUDA_VISIBLE_DEVICES" not in run["env"] for run in case["runs"])
                counts[kind, "cases"] += 1
                counts["disagreements"] += len(lines)
                for line in lines:
                    print("%s: %s" % (os.path.basename(path), line))
                if unknown and not case["damaged"]:
                    print("%s: unknown: %s" % (os.path.basename(path), case["name"]))
    print("%s: %d cases, %d runs, %d of them unknown; of damaged files %d cases, %d runs, %d unknown; %d not tried; %d disagreements" % (
        os.path.basename(path), counts["whole", "cases"], counts["whole", "runs"], counts["whole", "unknown"], counts["damaged", "cases"],
        counts["damaged", "runs"], counts["damaged", "unknown"], counts["not tried"], counts["disagreements"]))
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
