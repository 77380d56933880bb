"""Programs of three objects, made at random: what ArchGuard says of linking them again when they are loaded, against
nvJitLink, which is given the same objects. The seed is fixed, so that a failure comes again.
"""
import os
import random
import shutil
import tempfile
import unittest
import zlib

import common
from separate import NvJitLink, verify_devices

CASES = 48
DEVICES = ["8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0", "12.1"]
SASS = ["80", "86", "90", "100", "120"]
PTX = ["75", "80", "90", "100"]
HEAD = ".version 8.8\n.target sm_%s\n.address_size 64\n"
FUNCTION = "func (.param .b32 result) %s (.param .b32 value)"
CALL = """{ .param .b32 in; .param .b32 out; .reg .b32 %%v; mov.b32 %%v, 1; st.param.b32 [in], %%v;
call.uni (out), %s, (in); }
"""


class Object:
    """A kernel of its own, functions that the others may call, and calls of theirs; for each arch it may leave one out, as
    `#if __CUDA_ARCH__` does."""

    def __init__(self, dice, name):
        self.name, self.dice = name, dice
        self.functions = ["f_" + name] if name != "a" else []
        self.calls = [each for each in ("f_b", "f_c") if each != "f_" + name and dice.random() < 0.6]
        self.images = [("elf", arch) for arch in SASS if dice.random() < 0.4]
        self.images += [("ptx", arch) for arch in PTX if dice.random() < 0.45]
        if not self.images:
            self.images = [("ptx", "80")]
        self.left_out = {image for image in self.images if dice.random() < 0.1}

    def text(self, image):
        text = HEAD % image[1]
        text += "".join(".extern ." + FUNCTION % each + ";\n" for each in self.calls)
        for each in self.functions if image not in self.left_out else []:
            text += ".visible ." + FUNCTION % each + "\n{ .reg .b32 %v; ld.param.b32 %v, [value]; st.param.b32 [result], %v; ret; }\n"
        text += ".visible .entry k_%s() {\n" % self.name
        return text + "".join(CALL % each for each in self.calls) + "ret; }\n"


class SharedObject(Object):
    """Its kernel and its function have static shared memory, and some functions stand in two objects. A variable at module scope is
    named by the kernel, by the function, or by another kernel."""

    def __init__(self, dice, name):
        super().__init__(dice, name)
        self.images, self.left_out = [("ptx", "80")], set()
        self.of_kernel, self.of_function = (dice.choice([0, 8000, 20000, 30000]) for _ in range(2))
        self.of_module, self.named_by = dice.choice([0, 8000, 30000]), dice.choice(["kernel", "function", "other"])
        self.functions += ["twice"] if dice.random() < 0.3 else []

    def text(self, image):
        def array(size, by):
            name = "st.shared.b8 [m_%s], 1;" % self.name if self.of_module and self.named_by == by else ""
            return (".shared .b8 s[%d]; st.shared.b8 [s], 1;" % size if size else "") + name
        text = super().text(image).replace(".version 8.8", ".version 8.0").replace("{ .reg .b32 %v;", "{ .reg .b32 %v; " + array(self.of_function, "function"))
        text = text[:text.rindex("ret; }")] + array(self.of_kernel, "kernel") + "ret; }\n"
        if not self.of_module:
            return text
        head, rest = text.split(".address_size 64\n")
        other = ".visible .entry o_%s() {\n%sret; }\n" % (self.name, array(0, "other"))
        return head + ".address_size 64\n.weak .shared .b8 m_%s[%d];\n" % (self.name, self.of_module) + rest + other


class RelinkTest(unittest.TestCase):
    def setUp(self):
        tools = [os.path.join(os.path.dirname(common.nvcc()), name) for name in ("ptxas", "fatbinary")]
        for tool in tools:
            if not os.path.exists(tool):
                self.skipTest("no " + os.path.basename(tool) + " beside nvcc")
        self.ptxas, self.fatbinary = tools
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def image(self, text, kind, arch, flags=("-c",)):
        name = "%s_%s_%08x" % (kind, arch, zlib.crc32(text.encode()))
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            source = self.write(name + ".ptx", text)
            if kind == "ptx":
                return source
            common.run([self.ptxas, *flags, "-arch=sm_" + arch, source, "-o", path])
        return path

    def pack(self, name, images):
        path = os.path.join(self.folder, name + ".fatbin")
        common.run([self.fatbinary, "-64", "--create=" + path, "--compress=false"] +
                   ["--image3=kind=%s,sm=%s,file=%s" % (kind, arch, file) for kind, arch, file in images])
        with open(path, "rb") as file:
            return file.read()

    def program(self, name, linked, objects):
        """As nvcc and the host linker leave it: docs/reference/fatbin.md#registrations."""
        for part, data in [("linked", linked)] + objects:
            with open(os.path.join(self.folder, part + ".bin"), "wb") as file:
                file.write(data)
        lines = ['.section .nv_fatbin,"a"', ".balign 8", "linked:", '.incbin "linked.bin"', '.section __nv_relfatbin,"a"']
        for part, _ in objects:
            lines += [".balign 8", part + ":", '.incbin "%s.bin"' % part]
        lines += ['.section .nvFatBinSegment,"aw"', ".balign 8"]
        for part, version in [(part, 1) for part, _ in objects] + [("linked", 2)]:
            lines += [".long 0x466243b1, %d" % version, ".quad %s, 0" % part]
        lines += ['.section __nv_module_id,"a"'] + ['.balign 16\n.string "_%s"' % part for part, _ in objects]
        lines += [".balign 16"] + ['.string "def _%s"' % part for part, _ in objects]
        self.write("program.s", "\n".join(lines) + "\n")
        path = os.path.join(self.folder, name)
        common.run(["gcc", "-shared", "-nostdlib", "-o", path, "program.s"], cwd=self.folder)
        return path

    def programs(self, dice, kind):
        """CASES times the three objects, their fat binaries, and a program of them."""
        # What is linked serves 7.5 alone, so that all devices here ask for linking again.
        stub = self.image(HEAD % "75" + ".visible .entry k_a() { ret; }\n", "elf", "75", ())
        linked = self.pack("linked", [("elf", "75", stub)])
        for case in range(CASES):
            objects = [kind(dice, name) for name in "abc"]
            packed = [(each.name, self.pack(each.name, [(kind, arch, self.image(each.text((kind, arch)), kind, arch))
                                                        for kind, arch in each.images])) for each in objects]
            yield objects, packed, self.program("program_%d" % case, linked, packed)

    def test_shared_memory_and_names(self):
        for release in ("12.4", "13.0"):
            oracle, answers = NvJitLink(release), {True: 0, False: 0}
            doubted = 0
            for objects, packed, path in self.programs(random.Random(20261123), SharedObject):
                result = verify_devices(path, ["9.0"], release, exits=(0, 1, 2))["9.0"]
                links = oracle.links("9.0", [data for _, data in packed], [])
                answers[links] += 1
                doubted += links and result["verdict"] != "covered"
                what = [(each.name, each.calls, each.functions, each.of_kernel, each.of_function,
                         each.of_module, each.named_by) for each in objects]
                with self.subTest(release=release, objects=what):
                    self.assertTrue(links or result["verdict"] != "covered", result)
                    self.assertTrue(not links or result["verdict"] in ("covered", "unknown"), result)
            print("  %s: %d linked, %d of them doubted, %d not" % (release, answers[True], doubted, answers[False]), flush=True)
            self.assertGreater(min(answers.values()), CASES // 8)

    def test_ptx_under_the_header_of_another(self):
        """clang stores PTX of sm_90a with the header 90: the driver chooses it by that, and compiles what stands in it."""
        text = HEAD % "90a" + ".visible .entry k() { ret; }\n"
        data = self.pack("other", [("ptx", "90", self.write("other.ptx", text))])
        for release in ("12.9", "13.0", "13.4"):
            oracle = NvJitLink(release)
            results = verify_devices(os.path.join(self.folder, "other.fatbin"), ["9.0", "10.0", "12.0"], release, exits=(1, 2))
            self.assertEqual([each["verdict"] for each in results.values()], ["covered", "unknown", "unknown"], release)
            self.assertEqual([oracle.links(device, [data], []) for device in ("9.0a", "10.0", "12.0")], [True, False, False], release)

    def test_programs_at_random(self):
        dice = random.Random(20261122)
        oracle, answers = NvJitLink("13.0"), {True: 0, False: 0}
        for case, (objects, packed, path) in enumerate(self.programs(dice, Object)):
            asked = sorted(dice.sample(DEVICES, 5), key=float)
            for device, result in verify_devices(path, asked, "13.0", exits=(0, 1, 2)).items():
                links = oracle.links(device, [data for _, data in packed], [])
                answers[links] += 1
                what = "case %d on %s: %s" % (case, device, [(each.name, each.images, each.calls, sorted(each.left_out))
                                                             for each in objects])
                with self.subTest(what):
                    missing = links and any(error["code"] == 500 for error in result["errors"])
                    self.assertEqual(result["verdict"] == "covered" or missing, links, result["errors"])
        print("  %d programs: %d times linked again, %d times not" % (CASES, answers[True], answers[False]), flush=True)
        self.assertGreater(min(answers.values()), CASES // 2)


if __name__ == "__main__":
    common.main()
