#!/usr/bin/env python3
"""Compares every record of a real driver with archguard's verdict on the same bytes.

    replay.py ARCHGUARD [RECORDS]    RECORDS: the folder of records, by default the one beside this file

Exit: 0 no disagreement, 1 disagreements, 77 no records yet.
"""
import base64
import glob
import json
import os
import subprocess
import sys
import tempfile
import zlib

NOT_FOUND, INVALID_DEVICE_FUNCTION = 500, 98  # the driver's word and the runtime's for a kernel that is not there


def recorded(result):
    """The error number that a program would see, 0 where the kernel ran."""
    for call in ("load", "function", "launch"):
        if result.get(call, 0) != 0:
            return INVALID_DEVICE_FUNCTION if (call, result[call]) == ("function", NOT_FOUND) else result[call]
    return 0 if "exit" not in result else "exit %s" % result["exit"]


def predicted(archguard, path, device):
    done = subprocess.run([archguard, "verify", path, "--device", device, "--format", "json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    document = json.loads(done.stdout)
    if document["verdict"] != "not-covered":
        return 0 if document["verdict"] == "covered" else document["verdict"]
    (result,) = document["files"][0]["results"]
    return result["errors"][0]["code"]


def replay(archguard, path):
    """(cases, disagreements) of one record."""
    with open(path) as file:
        record = json.load(file)
    device = "%s@%s" % (record["device"]["compute_capability"], record["driver"]["cuda"])
    disagreements = 0
    for case in record["cases"]:
        with tempfile.NamedTemporaryFile(suffix=case["suffix"]) as file:
            file.write(zlib.decompress(base64.b64decode(case["bytes"])))
            file.flush()
            ours = predicted(archguard, file.name, device)
        theirs = recorded(case["result"])
        if ours != theirs:
            disagreements += 1
            print("%s: %s: the driver gives %s, archguard predicts %s" % (os.path.basename(path), case["name"],
                                                                         theirs, ours))
    print("%s: %d cases, %d disagreements" % (os.path.basename(path), len(record["cases"]), disagreements))
    return len(record["cases"]), disagreements


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = sys.argv[2] if len(sys.argv) == 3 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "records")
    records = sorted(glob.glob(os.path.join(folder, "*.json")))
    if not records:
        print("SKIPPED: no records yet; run tests/truth/record on a machine with a GPU")
        return 77
    outcomes = [replay(sys.argv[1], path) for path in records]
    return 0 if all(count > 0 and bad == 0 for count, bad in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
