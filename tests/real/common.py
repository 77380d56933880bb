"""What the real tests share: running tools, reading what cuobjdump prints, and skipping with a reason.

A test program is a unittest module that ends in `common.main()`. CMake passes the tools as --archguard, --cache,
--nvcc and --toolkit, to those that need it --arch-probe, --needed, --runtimes or --functions; exit code 77 means that everything in it was skipped.
"""
import argparse
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest

options = argparse.Namespace(archguard="archguard", arch_probe="arch_probe", cache=".cache", nvcc="", toolkit="", needed="",
                             runtimes="", functions="",
                             full=False)

# One entry of a fat binary, as far as cuobjdump and archguard both tell. `ptx_isa` is None but for PTX.
Image = collections.namedtuple("Image", "kind arch ptx_isa compressed")


def run(command, cwd=None):
    """The process's output; an exit code other than 0 is a failure that shows the end of what it printed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=500, cwd=cwd)
    if done.returncode != 0:
        raise AssertionError("%s: exit %d\n%s%s" % (" ".join(command), done.returncode, done.stdout[-2000:],
                                                     done.stderr[-2000:]))
    return done.stdout


def cuobjdump(release="13.5"):
    """That of 13.5, or of 11.8, the last that takes files with images for sm_35 and sm_37."""
    name, path = {"13.5": ("cuobjdump-13.5", "nvidia/cu13/bin/cuobjdump"), "11.8": ("cuda-11.8", "bin/cuobjdump")}[release]
    path = os.path.join(options.cache, name, path)
    if not os.path.exists(path):
        raise unittest.SkipTest("no cuobjdump; run tests/support/fetch " + name)
    return path


def nvcc():
    if not options.nvcc or not os.path.exists(options.nvcc):
        raise unittest.SkipTest("no nvcc on PATH")
    return options.nvcc


def nvcc_with_libnvvm():
    """One that links LTO-IR, which not every toolkit can."""
    path = os.path.join(options.cache, "nvcc-13.0", "nvidia", "cu13", "bin", "nvcc")
    if not os.path.exists(path):
        raise unittest.SkipTest("no nvcc that links LTO-IR; run tests/support/fetch nvcc-13.0")
    return path


def clang():
    """A clang++, the newest first, as tests/cmake and `check` do."""
    found = [path for path in map(shutil.which, ("clang++-19", "clang++-16", "clang++")) if path]
    if not found:
        raise unittest.SkipTest("no clang++-19 or clang++-16 on PATH (Debian: apt install clang-16)")
    return found[0]


def inspect(path, kernels=False):
    """The containers of one file, in order, each as inspect's JSON has it plus `member`."""
    command = [options.archguard, "inspect", path, "--format", "json"] + (["--kernels"] if kernels else [])
    document = json.loads(run(command))
    if document["schema"] != "archguard.inspect/1":
        raise AssertionError("unexpected schema " + document["schema"])
    return [dict(container, member=file["member"]) for file in document["files"] for container in file["containers"]]


def images(containers):
    """What archguard says of these containers, in cuobjdump's terms."""
    return [Image(image["kind"], image["arch"], image["ptx_isa"] if "ptx" in image["kind"] else None,
                  image["compression"] != "none")
            for container in containers for image in container["images"]]


def dump(path, *flags, release="13.5"):
    """The blocks that cuobjdump prints, one for each entry that it sees. A file without any is exit 255 for it."""
    command = [cuobjdump(release), *flags, path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=500)
    if done.returncode != 0 and "does not contain device code" not in done.stdout + done.stderr:
        raise AssertionError("%s: exit %d\n%s" % (" ".join(command), done.returncode, done.stderr))
    return re.split(r"^Fatbin (?=.* code:$)", done.stdout, flags=re.MULTILINE)[1:]


KINDS = {"elf": "sass", "ptx": "ptx", "relocatable ptx": "reloc-ptx", "nvvm": "ltoir"}


def dumped_images(path, *flags, release="13.5"):
    """Every entry that cuobjdump sees, in its order. Without options it prints one block for each:

        Fatbin elf code:
        ================
        arch = sm_90a
        code version = [1,8]
        host = linux
        compile_size = 64bit
        compressed
    """
    found = []
    for block in dump(path, *flags, release=release):
        kind = KINDS[block[:block.index(" code:")]]
        arch = re.search(r"^arch = sm_(\S+)$", block, re.MULTILINE).group(1)
        major, minor = re.search(r"^code version = \[(\d+),(\d+)\]$", block, re.MULTILINE).groups()
        compressed = re.search(r"^compressed$", block, re.MULTILINE) is not None
        found.append(Image(kind, arch, "%s.%s" % (major, minor) if "ptx" in kind else None, compressed))
    return found


def dumped_kernels(path, release="13.5"):
    """The kernels of every cubin that cuobjdump sees, in its order, sorted in each. A line names one symbol:

        FUNC          GLOBAL  DEFAULT    ENTRY                                _Z6kernelPf
        STT_FUNC         STB_GLOBAL STO_ENTRY  _Z6kernelPf          (11.8)
    """
    line = r"^(?:STT_)?FUNC\s+\S+\s+(?:\S+\s+ENTRY|STO_ENTRY)\s+(?!U )(\S+)$"
    return [sorted(re.findall(line, block, re.MULTILINE))
            for block in dump(path, "-symbols", release=release) if block.startswith("elf ")]


MAGIC = struct.pack("<IHH", 0xBA55ED50, 1, 16)


def fat_binaries(containers):
    """Without the cubins and PTX that a file holds as data: real.embedded looks for those."""
    return [each for each in containers if not each.get("bare")]


def scan(data, step):
    """Where containers begin in these bytes, by the published layout alone: magic, version 1, header of 16 bytes,
    then entries whose strides end exactly at the container's end."""
    at, found = data.find(MAGIC), []
    while at >= 0:
        if at % step == 0 and whole(data, at):
            found.append(at)
        at = data.find(MAGIC, at + 1)
    return found


def whole(data, start):
    at = start + 16
    if at > len(data):
        return False
    end = at + struct.unpack_from("<Q", data, start + 8)[0]
    if end > len(data) or end == at:
        return False
    while at < end:
        if at + 16 > end:
            return False
        header, payload = struct.unpack_from("<IQ", data, at + 4)
        if header < 64:
            return False
        at += header + payload
    return at == end


def main():
    parser = argparse.ArgumentParser()
    for name in ("archguard", "arch_probe", "cache", "nvcc", "toolkit", "needed", "runtimes", "functions"):
        parser.add_argument("--" + name.replace("_", "-"), default=getattr(options, name))
    parser.add_argument("--full", action="store_true", help="every library instead of the quick ones")
    parser.add_argument("tests", nargs="*", help="names of unittest tests, all without")
    parser.parse_args(namespace=options)
    program = unittest.main(module="__main__", argv=sys.argv[:1] + options.tests, exit=False, verbosity=2)
    result = program.result
    for test, reason in result.skipped:
        print("SKIPPED: %s: %s" % (test.id(), reason))
    # A class that skips itself in setUpClass is one entry of `skipped` and counts no test, neither there nor as run.
    ran = result.testsRun - sum(test.countTestCases() for test, _ in result.skipped)
    if not result.wasSuccessful() or (ran <= 0 and not result.skipped):
        sys.exit(1)
    sys.exit(77 if ran <= 0 else 0)
