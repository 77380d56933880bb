"""archguard inspect against cuobjdump 13.5 and against a scan by signature, on the libraries of the toolkit, or where
it has none on those of tests/support/fetch."""
import collections
import glob
import mmap
import os
import tempfile
import unittest

import common

QUICK = ("libcurand.so", "libcufft.so", "libnccl.so", "libcusparse.so", "libnvjpeg.so")
QUICK_KERNELS = ("libcurand.so", "libnvjpeg.so")
FETCHED = ("libraries-13.0", "nvjpeg-13.0")
SAMPLES = 4  # containers outside the sections, cut out and shown to cuobjdump, for each section


def libraries(quick):
    """The files behind these names, with --full every library beside them, in the first folder that has one of QUICK: a
    toolkit of wheels holds its runtime alone."""
    roots = [common.options.toolkit] + [os.path.join(common.options.cache, name, "nvidia/cu13") for name in FETCHED]
    for folder in (os.path.join(root, "lib64") for root in roots):
        if any(os.path.exists(os.path.join(folder, name)) for name in QUICK):
            return sorted({os.path.realpath(path) for name in (("*.so", "*.a") if common.options.full else quick)
                           for path in glob.glob(os.path.join(folder, name))})
    raise unittest.SkipTest("no library of the toolkit; run tests/support/fetch " + FETCHED[0])


def difference(theirs, ours):
    """The first entry that differs, and the counts on either side: what a failure needs to show."""
    for index, (their, our) in enumerate(zip(theirs, ours)):
        if their != our:
            return "entry %d: cuobjdump %s, archguard %s" % (index, their, our)
    return "cuobjdump %d entries, archguard %d: %s" % (
        len(theirs), len(ours), collections.Counter(theirs) - collections.Counter(ours)
        or collections.Counter(ours) - collections.Counter(theirs))


class InspectTest(unittest.TestCase):
    maxDiff = 2000

    def each(self, quick, check):
        for path in libraries(quick):
            with self.subTest(os.path.basename(path)):
                print("  %s: %s" % (os.path.basename(path), check(path)), flush=True)

    def test_sections_hold_what_cuobjdump_lists(self):
        """Kind, arch with its suffix, PTX version and compression of every entry, in order."""
        def check(path):
            theirs = common.dumped_images(path, "-all")
            containers = [each for each in common.inspect(path) if each["section"] in (".nv_fatbin", "__nv_relfatbin")]
            ours = common.images(sorted(containers, key=lambda each: each["relocatable"])
                                 if not path.endswith(".a") else containers)
            self.assertTrue(theirs == ours, difference(theirs, ours))
            return "%d entries in %d containers" % (len(ours), len(containers))
        common.cuobjdump()
        self.each(QUICK, check)

    def test_nothing_is_missed_outside_the_sections(self):
        """The containers of the whole file, found by their signature; some are shown to cuobjdump."""
        def check(path):
            containers = common.fat_binaries(common.inspect(path))
            with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                if not path.endswith(".a"):  # there an offset counts from its member
                    self.assertEqual(common.scan(data, 8), [each["offset"] for each in containers])
                outside = collections.defaultdict(list)
                for each in containers:
                    if each["section"] not in (".nv_fatbin", "__nv_relfatbin"):
                        outside[each["section"]].append(each)
                for found in outside.values():
                    self.check_samples(data, found)
            return "%d containers, outside: %s" % (
                len(containers), {section: len(found) for section, found in outside.items()} or "none")
        self.each(QUICK, check)

    def check_samples(self, data, containers):
        for each in containers[:SAMPLES // 2] + containers[SAMPLES // 2:][-(SAMPLES // 2):]:
            start = each["offset"]
            size = 16 + int.from_bytes(data[start + 8:start + 16], "little")
            with tempfile.NamedTemporaryFile(suffix=".fatbin") as cut:
                cut.write(data[start:start + size])
                cut.flush()
                theirs, ours = common.dumped_images(cut.name), common.images([each])
                self.assertTrue(theirs == ours, "at 0x%x: %s" % (start, difference(theirs, ours)))

    def test_kernels_are_those_of_cuobjdump(self):
        """The names of the kernels of every cubin, in order."""
        def check(path):
            theirs = common.dumped_kernels(path)
            containers = [each for each in common.inspect(path, kernels=True)
                          if each["section"] in (".nv_fatbin", "__nv_relfatbin")]
            if not path.endswith(".a") and any(not each["relocatable"] for each in containers):
                containers = [each for each in containers if not each["relocatable"]]  # cuobjdump without -all
            ours = [sorted(kernel["name"] for kernel in image["kernels"])
                    for container in containers for image in container["images"] if image["kind"] == "sass"]
            self.assertTrue(theirs == ours, difference(list(map(tuple, theirs)), list(map(tuple, ours))))
            return "%d kernels in %d cubins" % (sum(map(len, ours)), len(ours))
        common.cuobjdump()
        self.each(QUICK_KERNELS, check)


if __name__ == "__main__":
    common.main()
