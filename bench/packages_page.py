"""The page of bench/packages: docs/measured/packages.md."""
import fnmatch
import json
import os

import packages_rules as rules

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICES = ["6.1", "7.0", "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"]
WORST = ("covered", "in doubt", "not-covered", "unknown")
SIGNS = {"covered": "✓", "in doubt": "~", "not-covered": "✗", "unknown": "?", None: ""}
STATED = {True: "+", False: "−", None: ""}


def packages():
    with open(os.path.join(HERE, "packages.json")) as file:
        return json.load(file)


def identity(package):
    return "%(name)s==%(version)s %(platform)s" % package


def results(path):
    """The last line of each package."""
    known = {}
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                record = json.loads(line)
                known[record["package"]] = record
    return known


def alternatives(package, names):
    """Groups of files of which a device needs one each, and the files that it needs all of. What stands apart serves some
    devices only, as the project says, and is asked of none."""
    names = [name for name in names if not any(fnmatch.fnmatch(name, glob) for glob in package.get("apart", []))]
    groups = [[name for name in names if fnmatch.fnmatch(name, glob)] for glob in package.get("any_of", [])]
    taken = {name for group in groups for name in group}
    return [group for group in groups if group] + [[name] for name in names if name not in taken]


def verdict_of(result):
    """Of one file on one device; "in doubt" is covered with a warning: it gets far less of the library than others do."""
    return "in doubt" if result["verdict"] == "covered" and result.get("partly") else result["verdict"]


def verdicts(package, record):
    """archguard's verdict of the package on each device: the worst of its files, the best of each alternative."""
    files = {name: file for name, file in record["verify"]["files"].items() if file["devices"]}
    said = []
    for at in range(len(DEVICES)):
        each = [min((verdict_of(files[name]["devices"][at]) for name in group), key=WORST.index)
                for group in alternatives(package, list(files))]
        said.append(max(each, key=WORST.index) if each else None)
    return said


def others(package, record, rule):
    """The verdict of another's rule, on the files that hold device code and with the same alternatives."""
    groups = alternatives(package, list(record["scan"]))
    said = []
    for device in DEVICES:
        good = [any(rule([record["scan"][name]], device) for name in group) for group in groups]
        if rule is rules.torch:
            good = [rule(list(record["scan"].values()), device)]
        said.append("covered" if all(good) else "not-covered")
    return said if groups else [None] * len(DEVICES)


class Counts:
    """Cells where a project says yes or no, and how a rule did on them."""

    def __init__(self):
        self.stated = self.false_covered = self.false_refused = self.unknown = 0
        self.doubted = {True: 0, False: 0}

    def add(self, verdict, truth):
        if truth is None or verdict is None:
            return ""
        self.stated += 1
        wrong = verdict == ("not-covered" if truth else "covered")
        self.false_covered += wrong and not truth
        self.false_refused += wrong and truth
        self.doubted[truth] += verdict == "in doubt"
        self.unknown += verdict == "unknown"
        return wrong

    def row(self, name):
        rate = "%.2f %%" % (100 * self.false_refused / self.stated) if self.stated else "-"
        return "| %s | %d | %d | %d (%s) | %d / %d | %d |" % (name, self.stated, self.false_covered, self.false_refused, rate,
                                                           self.doubted[True], self.doubted[False], self.unknown)


def judged(package):
    """How archguard was asked."""
    return ", ".join((["library"] if package.get("scope") == "library" else []) +
                     (["one of"] if package.get("any_of") else []) + (["in part"] if package.get("apart") else []))


def agreement(record):
    """Whether archguard and the second scan found the same, and how much."""
    ours = {name: (each["containers"], each["images"]) for name, each in record["inspect"].items() if each["containers"]}
    scan = {name: (each["containers"], each["images"]) for name, each in record["scan"].items()}
    return ours == scan


def by_arch(record):
    """`75 80 90a · PTX 90 · LTO-IR 80`: the archs of all files' images."""
    found = {}
    for file in record["scan"].values():
        for key in file["images"]:
            kind, arch = key.split(" ", 1)
            found.setdefault(kind, set()).add(arch)
    order = lambda arch: (int(arch.rstrip("af")), arch)  # noqa: E731
    names = (("sass", ""), ("ptx", "PTX "), ("reloc-ptx", "relocatable PTX "), ("ltoir", "LTO-IR "), ("other", "other "))
    return " · ".join(name + " ".join(sorted(found[kind], key=order)) for kind, name in names if kind in found) or "-"


def compare(package, record, statements, totals):
    """The row of a package, and a line for each verdict that its project contradicts."""
    said = verdicts(package, record)
    truth = rules.stated(statements.get(package.get("statement")), DEVICES)
    cells, wrong = [], []
    for at, device in enumerate(DEVICES):
        is_wrong = totals["archguard"].add(said[at], truth[device])
        cell = SIGNS[said[at]] + (STATED[truth[device]] if said[at] else "")
        cells.append("**%s**" % cell if is_wrong else cell)
        if is_wrong:
            remark = ": " + package["remark"] if "remark" in package else ""
            wrong.append("- %s on %s: %s%s" % (identity(package), device, said[at], remark))
    beside = []
    for name, rule in (("EasyBuild", rules.easybuild), ("torch", rules.torch)):
        own = Counts()
        for verdict, device in zip(others(package, record, rule), DEVICES):
            own.add(verdict, truth[device])
            totals[name].add(verdict, truth[device])
        beside.append("%d / %d" % (own.false_covered, own.false_refused) if own.stated else "-")
    containers = sum(each["containers"] for each in record["scan"].values())
    images = sum(sum(each["images"].values()) for each in record["scan"].values())
    return ["%s %s" % (package["name"], package["version"]), package["platform"], judged(package),
            "%d" % (record["bytes"] / 1e6), "%d" % containers, "%d" % images, by_arch(record),
            "yes" if agreement(record) else "**no**", *cells, *beside], wrong


def table(head, rows):
    lines = ["| %s |" % " | ".join(head), "|%s" % ("---|" * len(head))]
    return lines + ["| %s |" % " | ".join(row) for row in rows]


def says(statement):
    if "built" in statement:
        return "`%s`" % statement["built"]
    return statement.get("serves", "-") + (", not " + statement["leaves_out"] if "leaves_out" in statement else "")


def gather(data, known):
    """All that the page tells, and the identities of packages without a result."""
    page = {"rows": [], "wrong": [], "used": set(), "missing": [], "containers": 0, "images": 0, "bytes": 0, "bare": 0,
            "differ": [], "totals": {name: Counts() for name in ("archguard", "EasyBuild", "torch")}}
    for package in data["packages"]:
        record = known.get(identity(package))
        if record is None or "failed" in record:
            page["missing"].append(identity(package))
            continue
        row, wrong = compare(package, record, data["statements"], page["totals"])
        page["rows"].append(row)
        page["wrong"] += wrong
        page["used"].add(package.get("statement"))
        page["containers"] += sum(each["containers"] for each in record["scan"].values())
        page["images"] += sum(sum(each["images"].values()) for each in record["scan"].values())
        page["bare"] += sum(each.get("bare", 0) for each in record["inspect"].values())
        page["bytes"] += record["bytes"]
        if not agreement(record):
            page["differ"].append(identity(package))
    return page


def thousands(number):
    return "{:,}".format(number)


def head_of(page):
    same = "the same, by kind and architecture, in every file"
    if page["differ"]:
        same = "something else in %s" % ", ".join(page["differ"])
    bare = (" archguard also lists %s images that stand in files as data, which that scan does not look for." %
            thousands(page["bare"])) if page["bare"] else ""
    totals, cells = page["totals"], len(page["rows"]) * len(DEVICES)
    lines = [
        "# `archguard` on %d public packages" % len(page["rows"]), "",
        "%d wheels of the Python Package Index, %.1f GB, for Linux on x86-64 and aarch64 and for Windows, from 2017 to now, as" % (
            len(page["rows"]), page["bytes"] / 1e9),
        "`bench/packages` fetched, read and judged them one after the other. They hold %s fat binaries with %s images. A" % (
            thousands(page["containers"]), thousands(page["images"])),
        "second scan that shares no code with archguard (`bench/packages_scan.py` searches for the signature and walks the entries)",
        "finds %s.%s" % (same, bare), "",
        "## Verdicts beside what each project says", "",
        "A cell is one package on one device: %s cells, of which %s count, where the project says that it serves the device or" % (
            thousands(cells), thousands(totals["archguard"].stated)),
        "that it does not.", "",
        "| rule | cells | says covered, the project says no | refuses, the project says yes | in doubt: project says yes / no | unknown |",
        "|---|---:|---:|---:|---:|---:|",
        totals["archguard"].row("archguard"),
        totals["EasyBuild"].row("EasyBuild: in each file SASS of the device's own number"),
        totals["torch"].row("torch: SASS of the device's major number"), "",
        "EasyBuild's check (5.1, `sanity_check_cuda`) asks each file with device code for SASS of the very number, `a` included;",
        "torch's (`_check_cubins`) asks whether a number of the list has the device's major number. Both are given what the second",
        "scan found, and the alternatives of a package as archguard is.", "",
        "What a project says comes from its documentation, its release notes or the architectures of its release build, in the release",
        "that was measured or the nearest that tells ([below](#what-the-projects-say)), never from what the package holds. After a",
        "first comparison 11 of the sources were read again, and devices of which they say nothing certain left out, such as those",
        "that depend on the CUDA release of the build or on a library that was linked in. A build's list is read by NVIDIA's",
        "rules: SASS runs on later minor numbers of its major, `a` on its own device, `f` on its family, SASS of desktop GPUs not on",
        "Jetson's, PTX on everything newer. Where nothing was found, nothing is counted.", ""]
    if page["wrong"]:
        return lines + ["Contradicted:", ""] + page["wrong"] + [""]
    return lines + ["No verdict is contradicted.", ""]


def write(results_file, output):
    data = packages()
    page = gather(data, results(results_file))
    lines = head_of(page)
    lines += ["## Packages", "",
              "✓ covered, ~ covered with the warning that the device gets far less than others do, ✗ not covered, ? unknown, nothing",
              "where there is no device code; + the project supports the device, − it does not. The last two columns count where the others'",
              "rules contradict the project: covered though it says no / refused though it says yes. *same*: the second scan agrees.",
              "*judged*: `library` with `--scope library`, as a library that chooses among its images; `one of` where files are",
              "alternatives; `in part` without files that the project makes for some devices only (`bench/packages.json` names both).", ""]
    lines += table(["package", "for", "judged", "MB", "fat binaries", "images", "by architecture", "same", *DEVICES, "EasyBuild",
                    "torch"], page["rows"])
    lines += ["", "## What the projects say", "",
              "Devices that are served, or the list of a build: `80` is SASS, `80-ptx` PTX.", ""]
    lines += table(["source", "serves, or builds for", "packages"], [
        [statement["source"], says(statement), ", ".join("%(name)s %(version)s" % each for each in data["packages"]
                                                         if each.get("statement") == key)]
        for key, statement in data["statements"].items() if key in page["used"]])
    lines += ["", "```", "bench/packages run --archguard build/tools/archguard/archguard", "bench/packages page", "```", ""]
    with open(output, "w") as file:
        file.write("\n".join(lines))
    print("%d packages, %d missing; %d contradicted; %d differ" % (
        len(page["rows"]), len(page["missing"]), len(page["wrong"]), len(page["differ"])))
    for each in page["missing"]:
        print("missing: " + each)
    for name, counts in page["totals"].items():
        print(counts.row(name))
