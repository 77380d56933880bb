"""The page of measured releases says what the table says, and the table what verify said: releases.py REPOSITORY"""
import os
import sys

root = sys.argv[1]
sys.path.insert(0, os.path.join(root, "bench"))
import releases_page as page  # noqa: E402

failures = []


def check(what, got, wanted):
    if got != wanted:
        failures.append("%s: %r, expected %r" % (what, got, wanted))


def file_of(fatbins, sass, devices):
    return {"fatbins": fatbins, "sass": sass, "ptx": {}, "devices": devices}


check("bench/releases check", page.check(), None)

yes, jit, part = (lambda driver: ["covered", False, driver]), (lambda driver: ["covered", True, driver]), ["in doubt", False, "12.0"]
both = {"libmain.so": file_of(10, {"75": 10, "80": 8, "90a": 1}, {"7.5": yes("12.0"), "8.0": yes("12.0"), "9.0": jit("12.4")}),
        "libother.so": file_of(4, {"80": 4}, {"8.0": yes("12.8")})}
asked = ["6.1", "7.5", "8.0", "9.0"]
check("all files count", page.devices_of({}, both, asked), ["8.0:12.8"])
main = {"main": ["*main.so"]}
check("the main library counts", page.devices_of(main, both, asked), ["7.5:12.0", "8.0:12.0", "9.0:12.4j"])
check("what others lack is told", page.lacking(main, both, ["7.5:12.0", "8.0:12.0"]), ["7.5:libother.so"])
check("most and some", page.archs_of(main, both, "sass"), (["75", "80"], ["90a"]))
alternatives = {"any_of": ["liba*", "libb*"]}
one_of = {"liba11.so": file_of(1, {"60": 1}, {"6.1": yes("11.0")}), "liba12.so": file_of(1, {"80": 1}, {"6.1": part, "8.0": yes("12.0")})}
check("of alternatives the best", page.devices_of(alternatives, one_of, asked), ["6.1:11.0", "8.0:12.0"])
check("in part", page.devices_of({}, {"x": file_of(1, {}, {"8.0": part})}, asked), ["8.0:12.0p"])
check("no driver of the list serves it", page.devices_of({}, {"x": file_of(1, {}, {"8.0": yes("")})}, asked), [])
check("an unknown verdict is none", page.devices_of({}, {"x": file_of(1, {}, {"8.0": ["unknown", False, "12.0"]})}, asked), [])
check("no device code", page.devices_of({}, {}, asked), [])
check("versions in order", sorted(["2.10.0", "2.9.1", "0.0.29", "0.0.29.post3"], key=page.version_order),
      ["0.0.29", "0.0.29.post3", "2.9.1", "2.10.0"])

print("\n".join(failures))
sys.exit(1 if failures else 0)
