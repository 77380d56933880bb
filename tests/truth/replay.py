#!/usr/bin/env python3
"""Compares every record of a real driver with archguard's verdict on the same bytes.

    replay.py ARCHGUARD TRUTH_JUDGE [RECORDS]    RECORDS: the folder of records, by default the one beside this file

Compared are the error that a program sees and, where a kernel of a fat binary ran, which image it came from. Exit: 0 no
disagreement, 1 disagreements, 77 no records yet.
"""
import base64
import glob
import json
import os
import subprocess
import sys
import tempfile
import zlib

from libraries import UNTOUCHED

NOT_FOUND, INVALID_DEVICE_FUNCTION = 500, 98  # the driver's word and the runtime's for a kernel that is not there


def recorded(result):
    """The error number that a program would see, 0 where the kernel ran."""
    for call in ("load", "function", "launch"):
        if result.get(call, 0) != 0:
            return INVALID_DEVICE_FUNCTION if (call, result[call]) == ("function", NOT_FOUND) else result[call]
    return 0 if "exit" not in result else "exit %s" % result["exit"]


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    if not done.stdout:
        sys.exit("%s: exit %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return done.stdout


def predicted_code(archguard, path, device, env):
    settings = [part for name, value in env.items() for part in ("--env", "%s=%s" % (name, value))]
    document = json.loads(output(archguard, "verify", path, "--device", device, "--format", "json", *settings))
    if document["verdict"] != "not-covered":
        return 0 if document["verdict"] == "covered" else document["verdict"]
    (result,) = document["files"][0]["results"]
    return result["errors"][0]["code"]


def disagreement(tools, path, record, run):
    archguard, judge = tools
    capability, cuda = record["device"]["compute_capability"], record["driver"]["cuda"]
    ours = predicted_code(archguard, path, "%s@%s" % (capability, cuda), run["env"])
    theirs = recorded(run["result"])
    if ours is None and theirs not in (0, None):
        return None  # it fails, and CUDA does not document which error it is
    if ours != theirs:
        return "the driver gives %s, archguard predicts %s" % (theirs, ours)
    mark = run["result"].get("mark", UNTOUCHED)
    if path.endswith(".fatbin") and mark != UNTOUCHED:
        forcing = [name for name in run["env"] if "FORCE" in name]
        image = int(output(judge, path, capability, cuda, *forcing))
        if image != mark:
            return "the driver takes image %d, archguard predicts %d" % (mark, image)
    return None


def replay(tools, path):
    """(runs, disagreements) of one record."""
    with open(path) as file:
        record = json.load(file)
    runs = disagreements = 0
    for case in record["cases"]:
        with tempfile.NamedTemporaryFile(suffix=case["suffix"]) as file:
            file.write(zlib.decompress(base64.b64decode(case["bytes"])))
            file.flush()
            for run in case["runs"]:
                runs += 1
                why = disagreement(tools, file.name, record, run)
                if why is not None:
                    disagreements += 1
                    under = "".join(" %s=%s" % setting for setting in run["env"].items())
                    print("%s: %s, through the %s%s: %s" % (os.path.basename(path), case["name"], run["through"], under, why))
    print("%s: %d cases, %d runs, %d disagreements" % (os.path.basename(path), len(record["cases"]), runs, disagreements))
    return runs, disagreements


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    folder = sys.argv[3] if len(sys.argv) == 4 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "records")
    records = sorted(glob.glob(os.path.join(folder, "*.json")))
    if not records:
        print("SKIPPED: no records yet; run tests/truth/record on a machine with a GPU")
        return 77
    outcomes = [replay(sys.argv[1:3], path) for path in records]
    return 0 if all(count > 0 and bad == 0 for count, bad in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
