"""The table of bench/releases, src/releases/table.inc, and the page that is made of it, docs/measured/releases.md."""
import fnmatch
import json
import os
import re

import packages_page

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
TABLE = os.path.join(ROOT, "src/releases/table.inc")
PAGE = os.path.join(ROOT, "docs/measured/releases.md")
FIELDS = ("name", "version", "platform", "cuda", "sass", "sass_some", "ptx", "ptx_some", "devices", "ptxas", "lacking", "pythons",
          "glibc", "pins", "date")
MOST = 0.8  # what so many of the fat binaries hold is told as what the library has; the rest is for some GPUs alone
PLATFORMS = {"x86_64": "Linux on x86-64", "aarch64": "Linux on aarch64", "windows": "Windows on x86-64"}
KEPT_PINS = ("torch", "torchvision", "torchaudio", "triton", "xformers", "jax-", "jaxlib", "nvidia-cuda-runtime", "cuda-toolkit")


def plan():
    with open(os.path.join(HERE, "releases.json")) as file:
        data = json.load(file)
    for package in data["packages"]:
        package.setdefault("platform", "x86_64")
    return data


def results(path):
    """The last line of each release on a platform."""
    known = {}
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                record = json.loads(line)
                known[(record["name"], record["version"], record["platform"])] = record
    return known


def arch_order(arch):
    return int(re.match("[0-9]+", arch).group()), arch


def version_order(version):
    return [int(part) if part.isdigit() else part for part in re.findall("[0-9]+|[a-z]+", version.replace(".post", ".")) if part.isdigit()]


def matches(name, globs):
    return any(fnmatch.fnmatch(name, glob) for glob in globs)


def groups_of(package, files):
    """Groups of files of which a device needs one each: those of the main library, where there is one."""
    names = list(files)
    if "main" in package:
        names = [name for name in names if matches(name, package["main"])]
    return packages_page.alternatives(package, names)


def best_of(files, group, device):
    """(is it in doubt, driver, by JIT) of the file that serves a device best; None where none does."""
    found = []
    for name in group:
        verdict, jit, driver = files[name]["devices"].get(device, ("not-covered", False, ""))
        if verdict in ("covered", "in doubt") and driver:
            found.append((verdict == "in doubt", [int(part) for part in driver.split(".")], driver, jit))
    return min(found) if found else None


def devices_of(package, files, asked):
    """`10.0:12.8j`: each device that all groups serve, the lowest driver, j for JIT and p for in part."""
    groups, said = groups_of(package, files), []
    for device in asked if groups else ():
        each = [best_of(files, group, device) for group in groups]
        if None not in each:
            driver = max(each, key=lambda best: best[1])[2]
            said.append("%s:%s%s%s" % (device, driver, "j" if any(best[3] for best in each) else "",
                                       "p" if any(best[0] for best in each) else ""))
    return said


def lacking(package, files, served):
    """Files beside the main library that do not support a device that it serves."""
    if "main" not in package:
        return []
    others = [name for name in files if not matches(name, package["main"] + package.get("apart", [])) and files[name]["fatbins"]]
    return ["%s:%s" % (device, os.path.basename(name)) for device in (each.split(":")[0] for each in served)
            for name in sorted(others) if files[name]["devices"].get(device, [""])[0] not in ("covered", "in doubt")]


def archs_of(package, files, kind):
    """The archs that (almost) every fat binary of some alternative holds, and those that only some hold."""
    every, union = None, set()
    for group in groups_of(package, {name: file for name, file in files.items() if file["fatbins"]}):
        held = set()
        for name in group:
            union |= set(files[name][kind])
            held |= {arch for arch, count in files[name][kind].items() if count >= MOST * files[name]["fatbins"]}
        every = held if every is None else every & held
    every = every or set()
    return sorted(every, key=arch_order), sorted(union - every, key=arch_order)


def row_of(record, package, asked):
    row = {field: record.get(field, "") for field in FIELDS}
    row["pins"] = " ".join(pin for pin in record["pins"] if pin.startswith(KEPT_PINS))
    row["ptxas"] = " ".join(record.get("ptxas", []))
    for field in ("sass", "sass_some", "ptx", "ptx_some", "devices", "lacking"):
        row[field] = ""
    if "files" in record:
        served = devices_of(package, record["files"], asked)
        row["devices"] = " ".join(served)
        row["lacking"] = " ".join(lacking(package, record["files"], served))
        for kind in ("sass", "ptx"):
            row[kind], row[kind + "_some"] = (" ".join(archs) for archs in archs_of(package, record["files"], kind))
    return row


def is_of_use(row):
    """A wheel without device code is no release for a GPU; the page counts those apart."""
    return bool(row["devices"] or row["ptxas"])


def read_table():
    """The rows of table.inc, and the devices that were asked for."""
    with open(TABLE) as file:
        text = file.read()
    rows = [dict(zip(FIELDS, re.findall(r'"([^"]*)"', line))) for line in re.findall(r"(?m)^RELEASE\((.*)\)$", text)]
    return rows, re.search(r'kAskedDevices =\s+"([^"]*)"', text).group(1).split()


def in_order(rows, data):
    places = {(package["name"], package["platform"]): place for place, package in enumerate(data["packages"])}
    rows = [row for row in rows if (row["name"], row["platform"]) in places]
    rows.sort(key=lambda row: version_order(row["version"]), reverse=True)
    rows.sort(key=lambda row: places[(row["name"], row["platform"])])
    return rows


def write_table(rows, asked):
    with open(TABLE, "w") as file:
        file.write("// Written by bench/releases write; not by hand. The fields are those of ReleaseRow.\n// clang-format off\n"
                   'constexpr const char* kAskedDevices =\n    "%s";\nconstexpr char kReleaseText[] =\n' % " ".join(asked))
        for row in rows:
            file.write("RELEASE(%s)\n" % ", ".join('"%s"' % row[field] for field in FIELDS))
        file.write(";\n// clang-format on\n")


def pythons_text(text):
    """`3.9 to 3.13`, or `3.9+`."""
    each = text.split()
    whole = len(each) > 1 and int(each[-1].split(".")[1]) - int(each[0].split(".")[1]) + 1 == len(each)
    return "%s to %s" % (each[0], each[-1]) if whole else ", ".join(each) or "-"


def device_text(told):
    device, rest = told.split(":")
    return device + ("*" if rest.endswith("j") or rest.endswith("jp") else "") + ("~" if rest.endswith("p") else "")


def devices_text(row, asked):
    """`5.0 to 7.5, 8.0*`: what stands side by side in the list of all devices is one range."""
    runs, before = [], None
    for told in row["devices"].split():
        device, place = told.split(":")[0], asked.index(told.split(":")[0])
        mark = device_text(told)[len(device):]
        if before == (place - 1, mark):
            runs[-1][1] = device
        else:
            runs.append([device, device, mark])
        before = (place, mark)
    near = lambda first, last: asked.index(last) - asked.index(first) == 1
    return ", ".join(first + mark if first == last else first + mark + (", " if near(first, last) else " to ") + last + mark
                     for first, last, mark in runs)


def archs_text(row, kind):
    some = " (some: %s)" % row[kind + "_some"] if row[kind + "_some"] else ""
    return (row[kind] + some).strip() or "-"


def lacking_text(row):
    """` · not 7.5: `x.so``: the files beside the main library, each with the devices that it has no code for."""
    files = {}
    for device, name in (each.split(":", 1) for each in row["lacking"].split()):
        files.setdefault(name, []).append(device)
    return "".join(" · not %s: `%s`" % (" ".join(devices), name) for name, devices in files.items())


def lowest_driver(row):
    drivers = [re.match("[0-9.]+", told.split(":")[1]).group() for told in row["devices"].split()]
    return min(drivers, key=version_order) if drivers else "-"


def table_of(rows, asked):
    compiler = any(row["ptxas"] for row in rows)
    if compiler:
        return packages_page.table(["release", "ptxas", "Python", "glibc", "pins"], [
            [row["version"], row["ptxas"], pythons_text(row["pythons"]), row["glibc"] or "-", row["pins"] or "-"] for row in rows])
    return packages_page.table(["release", "CUDA", "driver from", "supports", "SASS", "PTX", "Python", "glibc", "pins"], [
        [row["version"], row["cuda"] or "-", lowest_driver(row), devices_text(row, asked) + lacking_text(row),
         archs_text(row, "sass"), archs_text(row, "ptx"), pythons_text(row["pythons"]), row["glibc"] or "-", row["pins"] or "-"]
        for row in rows])


def page_of(rows, asked, data):
    dates = sorted({row["date"] for row in rows})
    when = dates[0] if dates[0] == dates[-1] else "%s to %s" % (dates[0], dates[-1])
    lines = [
        "# Which release supports which GPU", "",
        "%d releases of %d packages on PyPI, measured from the wheels themselves on %s. [`archguard releases`](../reference/archguard.md#releases)" % (
            len(rows), len({row["name"] for row in rows}), when),
        "answers from this table. Only the last patch of each minor release was measured. Judge any other release by its own file:",
        "`archguard verify WHEEL --scope library --device CC`.", "",
        "**supports** lists the GPUs that the package's main library has code for: `archguard verify` says *covered*, kernel by kernel. SASS runs on later",
        "minor versions of its major version, so `sm_60` supports 6.1 ([the rules](../reference/compatibility.md)). `*`: the driver compiles PTX at the first",
        "start. `~`: the GPU gets far less than others do, and `archguard releases` does not count it. *not* names files beside the main library",
        "that have no code for a GPU. Each wheel was checked for %d compute capabilities: %s." % (len(asked), " ".join(asked)), "",
        "**driver from** is the lowest CUDA version that a driver must offer, for the GPU that needs least; the oldest that was tried is %s. **SASS** and" % data["drivers"][0],
        "**PTX** are the architectures of at least four fifths of the fat binaries; *some*: the others. **Python** and **glibc** are those of all",
        "wheels of the release, **pins** what its metadata requires with `==`, and its range of torch.", "",
        "- The main library is `libtorch_cuda.so` of torch, `_C` and `_moe_C` of vllm, `_C` of xformers (without its FlashAttention, which is for some",
        "  GPUs only), and all files of the other packages. Libraries that choose among their images are judged with `--scope library`: torch,",
        "  onnxruntime-gpu, tensorflow, vllm, xformers, jax's pjrt.",
        "- bitsandbytes loads one of its files, by torch's CUDA: a release supports a GPU if one of them does.",
        "- cupy, jax and tensorflow also compile at run time, with an NVRTC or ptxas that their wheels do not bring: what those support is not in the table.",
        "- For triton the table has the release of the ptxas inside, not the limits of triton itself.", ""]
    for package in data["packages"]:
        mine = [row for row in rows if (row["name"], row["platform"]) == (package["name"], package["platform"])]
        if mine:
            lines += ["## %s, %s" % (package["name"], PLATFORMS[package["platform"]]), ""] + table_of(mine, asked) + [""]
    missing = ["%s on %s" % (package["name"], PLATFORMS[package["platform"]]) for package in data["packages"]
               if not any((row["name"], row["platform"]) == (package["name"], package["platform"]) for row in rows)]
    lines += ["## Not measured", "",
              "- patches before the last of a minor release, and releases older than the oldest above;",
              "- other indexes. PyTorch's own has builds for several CUDA releases beside PyPI's; its published matrices say cu126, up to 2.14: 5.0 to",
              "  9.0, cu128: 7.5 to 12.0, cu130: 7.5 to 12.0. That is documented, not measured;"]
    if missing:
        lines += ["- nothing that holds device code was measured of: %s;" % ", ".join(missing)]
    lines += ["- whether a package's own source refuses a GPU that its code would run on.", "",
              "```", "bench/releases run --archguard build/tools/archguard/archguard", "bench/releases write", "bench/releases check", "```", ""]
    return "\n".join(lines)


def write(results_file):
    data = plan()
    rows, _ = read_table() if os.path.exists(TABLE) else ([], None)
    known = {(row["name"], row["version"], row["platform"]): row for row in rows}
    specs = {(package["name"], package["platform"]): package for package in data["packages"]}
    for key, record in results(results_file).items():
        if "failed" not in record:
            row = row_of(record, specs[(key[0], key[2])], data["devices"])
            known.pop(key, None)
            if is_of_use(row):
                known[key] = row
    rows = in_order(list(known.values()), data)
    write_table(rows, data["devices"])
    with open(PAGE, "w") as file:
        file.write(page_of(rows, data["devices"], data))
    print("%d releases" % len(rows))


def check():
    """What is wrong, as sys.exit takes it."""
    data = plan()
    rows, asked = read_table()
    with open(PAGE) as file:
        same = file.read() == page_of(in_order(rows, data), asked, data)
    return None if same and rows == in_order(rows, data) else "docs/measured/releases.md is not what src/releases/table.inc says: bench/releases write"
