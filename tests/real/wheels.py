"""archguard on wheels as PyPI has them: what it reads in place against the unpacked libraries, against cuobjdump and
against a scan by signature; a library for another machine; a DLL, whose sections objdump tells too."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile

import common

QUICK = ("wheel-nvjpeg-12.3-aarch64",)
FULL = ("wheel-xgboost-8.0", "wheel-curand-11.8", "wheel-curand-12.4", "wheel-cusparse-11.8", "wheel-cusparse-12.4")
OLD = ("-8.0", "-11.8")  # with images that the newest cuobjdump refuses
WINDOWS = "wheel-curand-13.0-windows"


def wheel(name):
    found = glob.glob(os.path.join(common.options.cache, name, "*.whl"))
    if not found:
        raise unittest.SkipTest("no wheel; run tests/support/fetch " + name)
    return found[0]


class Unpacked:
    """The libraries of a wheel, in a folder of their own as long as the block lasts."""

    def __init__(self, path, pattern):
        self.path, self.pattern = path, pattern

    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        with zipfile.ZipFile(self.path) as file:
            members = [name for name in file.namelist() if re.search(self.pattern, name)]
            for name in members:
                file.extract(name, self.folder)
        return {name: os.path.join(self.folder, name) for name in members}

    def __exit__(self, *_):
        shutil.rmtree(self.folder)


class WheelTest(unittest.TestCase):
    maxDiff = 4000

    def each(self, check):
        for name in FULL if common.options.full else QUICK:
            with self.subTest(name):
                try:
                    path = wheel(name)
                except unittest.SkipTest as reason:
                    print("SKIPPED: %s: %s" % (self.id(), reason))
                    continue
                with Unpacked(path, r"\.so[.0-9]*$") as libraries:
                    self.assertTrue(libraries)
                    print("  %s: %s" % (name, check(path, libraries, name)), flush=True)

    def test_a_wheel_holds_what_its_libraries_hold(self):
        def check(path, libraries, _):
            for kernels in (False, True):
                inside = common.inspect(path, kernels)
                outside = [dict(container, member=member) for member, library in libraries.items()
                           for container in common.inspect(library, kernels)]
                self.assertTrue(inside == outside, "kernels: %s" % kernels)
            return "%d containers, %d images" % (len(inside), len(common.images(inside)))
        self.each(check)

    def test_an_old_driver_has_one_reason(self):
        """What a library is not asked for with a new driver, PTX for linking, is none beside error 35."""
        if not common.options.full:
            return  # the wheel is one of the full set
        path = wheel("wheel-cusparse-12.4")
        done = subprocess.run([common.options.archguard, "verify", path, "--device", "8.6@11.4", "--scope", "library", "--format", "json"],
                              stdout=subprocess.PIPE, check=False)
        errors = [error["code"] for file in json.loads(done.stdout)["files"] for result in file["results"] for error in result["errors"]]
        self.assertEqual((done.returncode, errors), (1, [35]))

    def test_images_are_those_of_cuobjdump(self):
        """Kind, arch, PTX version and compression of every entry, in order; and by signature, where each container is."""
        def check(path, libraries, name):
            release = "11.8" if name.endswith(OLD) else "13.5"
            inside, counts = common.inspect(path), []
            for member, library in libraries.items():
                containers = [each for each in inside if each["member"] == member]
                with open(library, "rb") as file:
                    self.assertEqual(common.scan(file.read(), 8), [each["offset"] for each in common.fat_binaries(containers)])
                named = [each for each in containers if each["section"] in (".nv_fatbin", "__nv_relfatbin")]
                ours = common.images(sorted(named, key=lambda each: each["relocatable"]))
                self.assertTrue(common.dumped_images(library, "-all", release=release) == ours, member)
                counts.append("%s: %d entries" % (member, len(ours)))
            return ", ".join(counts)
        self.each(check)

    def test_kernels_are_those_of_cuobjdump(self):
        def check(path, libraries, name):
            release = "11.8" if name.endswith(OLD) else "13.5"
            inside, counts = common.inspect(path, kernels=True), []
            for member, library in libraries.items():
                containers = [each for each in inside if each["member"] == member
                              and each["section"] in (".nv_fatbin", "__nv_relfatbin")]
                if any(not each["relocatable"] for each in containers):
                    containers = [each for each in containers if not each["relocatable"]]  # cuobjdump without -all
                ours = [sorted(kernel["name"] for kernel in image["kernels"])
                        for container in containers for image in container["images"] if image["kind"] == "sass"]
                self.assertTrue(common.dumped_kernels(library, release) == ours, member)
                counts.append("%s: %d kernels in %d cubins" % (member, sum(map(len, ours)), len(ours)))
            return ", ".join(counts)
        self.each(check)


class OtherMachineTest(unittest.TestCase):
    def test_the_library_is_for_aarch64_and_is_judged(self):
        path = wheel(QUICK[0])
        with Unpacked(path, r"\.so[.0-9]*$") as libraries:
            for library in libraries.values():
                with open(library, "rb") as file:
                    self.assertEqual(int.from_bytes(file.read(20)[18:], "little"), 183)  # EM_AARCH64
        out = common.run([common.options.archguard, "verify", path, "--device", "9.0", "--scope", "library", "--brief"])
        self.assertRegex(out, r"libnvjpeg\.so\.12\): 1 of 1 covered\n$")


class WindowsTest(unittest.TestCase):
    """cuobjdump on Linux says of a DLL that it holds no device code. The layout that objdump prints, the signature, and
    containers that are cut out and shown to cuobjdump one by one are what there is to compare with."""

    def test_the_containers_of_a_dll(self):
        path = wheel(WINDOWS)
        containers = common.inspect(path)
        with Unpacked(path, r"\.dll$") as libraries:
            for member, library in libraries.items():
                ours = [each for each in containers if each["member"] == member]
                with open(library, "rb") as file:
                    data = file.read()
                self.assertEqual(common.scan(data, 8), [each["offset"] for each in common.fat_binaries(ours)])
                self.check_sections(library, ours)
                self.check_images(data, ours)
                print("  %s: %d containers, %d images" % (member, len(ours), len(common.images(ours))), flush=True)

    def check_sections(self, library, containers):
        objdump = shutil.which("objdump")
        listing = subprocess.run([objdump or "objdump", "-h", library], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True) if objdump else None
        if listing is None or listing.returncode != 0:
            print("SKIPPED: %s: no objdump that reads PE" % self.id())
            return
        #   6 .nv_fatb      0357dd70  0000000180a5f000  0000000180a5f000  00a5d400  2**4
        sections = {name: (int(offset, 16), int(size, 16)) for name, size, offset in
                    re.findall(r"^ +\d+ (\S+) +([0-9a-f]{8}) +\S+ +\S+ +([0-9a-f]{8})", listing.stdout, re.MULTILINE)}
        for each in containers:
            begin, size = sections[each["section"]]
            self.assertTrue(begin <= each["offset"] and each["offset"] + each["size"] <= begin + size, each["offset"])

    def check_images(self, data, containers):
        common.cuobjdump()
        for each in containers:
            with tempfile.NamedTemporaryFile(suffix=".fatbin") as cut:
                cut.write(data[each["offset"]:each["offset"] + each["size"]])
                cut.flush()
                self.assertEqual(common.dumped_images(cut.name), common.images([each]))


if __name__ == "__main__":
    common.main()
