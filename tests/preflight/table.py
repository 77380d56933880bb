"""The table that `archguard preflight-table` writes for a program, beside what the program registers, on played machines."""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import nvcc
import played
from nvcc import ARCHS, NEWER
from played import H100, T4, options

DATA = """
extern const unsigned char image[];
__asm__(".section .rodata\\n.balign 16\\n.globl image\\nimage: .incbin \\"%s\\"\\n.text");
const void* held() { return image; }
"""


class WithTable(nvcc.Compiled):
    def table(self, program, *more):
        self.run_tool(options.archguard, "preflight-table", program, *more)
        return program.with_name(program.name + ".preflight")


class DeviceRuntime(WithTable):
    """Of toolkits that have one: nvlink reads that of no newer release."""
    def test_the_device_runtime(self):
        """Whose compressed cubins tell their toolkit behind their headers alone: the table has it."""
        (self.folder / "launches.cu").write_text("__global__ void child() {}\n__global__ void parent() { child<<<1, 1>>>(); }\n"
                                                 "void launch() { parent<<<1, 1>>>(); }\n")
        toolkit = pathlib.Path(subprocess.check_output([played.HERE.parent / "support/toolkit_of", options.nvcc], text=True).strip())
        if not any((toolkit / name / "libcudadevrt.a").exists() for name in ("lib64", "lib")):
            self.skipTest("no libcudadevrt beside this nvcc")
        program = self.nvcc("launches", "-rdc=true", "-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_75,code=compute_75", "ask.cc",
                            "launches.cu", "-lcudadevrt", wrap=[])
        self.table(program)
        self.assertTrue(self.ask(program, T4).startswith("2 0 1 "), self.ask(program, T4))


class Table(WithTable):
    def setUp(self):
        super().setUp()
        if not (self.folder / "whole").exists():
            self.whole = self.nvcc("whole", *ARCHS, "ask.cc", "one.cu", wrap=[])
            self.table(self.whole)


    def compare(self, name, *arguments):
        """With a table and without --wrap a program says what it says with --wrap."""
        seen, tabled = self.nvcc("seen_" + name, *arguments), self.nvcc("tabled_" + name, *arguments, wrap=[])
        self.table(tabled)
        self.run_tool("strip", tabled)
        for device in (H100, T4):
            self.assertEqual(self.ask(tabled, device), self.ask(seen, device))
        return tabled

    def test_as_registered(self):
        self.compare("whole", *ARCHS, "ask.cc", "one.cu")

    def test_separate_compilation(self):
        tabled = self.compare("separate", "-rdc=true", *ARCHS, "ask.cc", "called.cu", "calls.cu")
        # Linked again. The table knows which object is libcudadevrt's, and that nothing uses it.
        out = self.ask(tabled, NEWER)
        self.assertTrue(out.startswith("2 0 1 "), out)
        self.assertIn("the driver links it again from its objects, so the first start is slow", out)

    def test_what_the_driver_api_loads(self):
        self.run_tool(options.nvcc, *ARCHS, "-fatbin", "one.cu", "-o", "one.fatbin")
        (self.folder / "data.cc").write_text(DATA % "one.fatbin")
        program = self.nvcc("data", "ask.cc", "data.cc", wrap=[])
        self.assertIn("it registered no device code: link it with", self.ask(program, T4))
        self.table(program)
        self.assertTrue(self.ask(program, H100).startswith("1 0 1 "))
        self.assertIn("4 209 1 ", self.ask(program, T4))
        self.assertIn("|app 2.1 holds code for 8.0, 9.0 and PTX 9.0; this machine has a Tesla T4 (7.5)", self.ask(program, T4))
        # A file beside it, whose code it loads.
        beside = self.nvcc("beside", "ask.cc", wrap=[])
        self.table(beside, "one.fatbin")
        self.assertIn("4 209 1 ", self.ask(beside, T4))
        # Files are loaded each: one that does not run there is enough.
        for arch in ("80", "90"):
            self.run_tool(options.nvcc, "-cubin", "-arch=sm_" + arch, "one.cu", "-o", "one%s.cubin" % arch)
        self.table(beside, "one80.cubin", "one90.cubin")
        self.assertTrue(self.ask(beside, H100).startswith("4 209 2 "))

    def test_writer_and_reader_agree(self):
        reader = (options.preflight / "archguard_preflight.c").read_text()
        writer = (options.preflight.parent / "src/base/preflight_format.h").read_text()
        for name in ("MAGIC", "VERSION", "MOST"):
            read = re.search(r"#define TABLE_%s (.*)" % name, reader).group(1).strip("()")
            written = re.search(r"kTable%s = (.*);" % name.capitalize(), writer).group(1)
            self.assertEqual(read.rstrip("u"), written, name)

    def test_a_table_that_was_left_behind(self):
        """What CMake's TABLE makes says which file to install, not how to be linked."""
        self.run_tool("gcc", "-std=c11", "-fPIC", '-DARCHGUARD_PREFLIGHT_PROGRAM="app"', "-DARCHGUARD_PREFLIGHT_TABLE", "-c",
                      options.preflight / "archguard_preflight.c", "-o", "promised.o")
        self.run_tool(options.nvcc, "-I", options.preflight, "-o", "promised", *ARCHS, "ask.cc", "one.cu", "promised.o")
        self.assertIn("its table is not beside it: install the file there that has its name and ends with .preflight", self.ask(self.folder / "promised", T4))
        self.table(self.folder / "promised")
        self.assertIn("4 209 1 ", self.ask(self.folder / "promised", T4))

    def test_data_beside_other_code(self):
        """verify warns of images that a file holds as data beside code that runs: the program may not load them."""
        self.run_tool(options.nvcc, "-cubin", "-arch=sm_90", "one.cu", "-o", "data90.cubin")
        (self.folder / "data90.cc").write_text(DATA % "data90.cubin")
        program = self.nvcc("beside_code", "-gencode", "arch=compute_75,code=sm_75", "ask.cc", "one.cu", "data90.cc")
        self.table(program)
        self.assertTrue(self.ask(program, H100).startswith("4 209 2 "))
        out = self.ask(program, T4)
        self.assertTrue(out.startswith("3 0 2 "), out)
        self.assertIn("it holds images as data that do not run there; whether it loads them is not known", out)
        verified = subprocess.run([options.archguard, "verify", program, "--device", "7.5"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(verified.returncode, 0, verified.stdout)
        self.assertIn("warning", verified.stdout)

    def test_a_library_has_its_own(self):
        (self.folder / "lib.cc").write_text("#include \"archguard_preflight.h\"\nint code() { static archguard_preflight_report r; archguard_preflight_check(&r); return r.code; }")
        (self.folder / "main.cc").write_text("#include <cstdio>\nint code();\nint main() { std::printf(\"%d\\n\", code()); }")
        library = self.nvcc("libcode.so", "-shared", "-Xcompiler", "-fPIC", *ARCHS, "lib.cc", "one.cu", wrap=[])
        self.table(library)
        (self.folder / "links").mkdir()
        (self.folder / "links/libcode.so").symlink_to(library)
        self.run_tool("g++", "main.cc", "-L", ".", "-lcode", "-o", "main", "-Wl,-rpath," + str(self.folder / "links"))
        self.assertEqual(self.ask(self.folder / "main", T4), "209")

    def reason(self, table, device=H100):
        (self.folder / "whole.preflight").write_bytes(table)
        return self.ask(self.folder / "whole", device)

    def test_a_table_that_is_not_believed(self):
        path = self.folder / "whole.preflight"
        good = path.read_bytes()
        other = self.nvcc("other", *ARCHS, "ask.cc", "called.cu", "one.cu", wrap=[])
        foreign = self.table(other).read_bytes()
        size = 24 + struct.unpack("<I", good[12:16])[0] + 7 & ~7
        for bad, reason in (
                (b"", "its table is cut"),
                (good[:20], "its table is cut"),
                (good[:-1], "its table is cut"),
                (good + b"x", "its table is cut"),
                (b"x" * 100, "the file beside it is no table of archguard preflight-table"),
                (good[:8] + struct.pack("<I", 2) + good[12:],
                 "its table was made by a newer ArchGuard than its preflight is of: make both with one"),
                (good[:12] + b"\xff" * 4 + good[16:], "its table is cut"),
                (foreign, "the table beside it is that of another build: make it again with archguard preflight-table"),
                (good[:size] + b"\x09" + good[size + 1:], "its table is damaged"),
                (good[:size + 4] + b"\0" + good[size + 5:], "its table is damaged"),
                (good[:size + 8] + b"\0" + good[size + 9:], "its table is damaged"),
                (good[:-64 + 4] + b"\xff" * 4 + good[-64 + 8:], "its table is damaged")):
            with self.subTest(reason, size=len(bad)):
                out = self.reason(bad)
                self.assertTrue(out.startswith("3 0 0 "), out)
                self.assertTrue(out.endswith(", driver CUDA %s: %s" % (self.release, reason)), out)
        path.unlink()
        path.mkdir()
        self.assertTrue(self.ask(self.folder / "whole", H100).startswith("3 0 0 "))
        path.rmdir()
        os.mkfifo(path)
        self.assertTrue(self.ask(self.folder / "whole", H100).endswith("its table is no file of at most 16 MiB"))
        path.unlink()
        # What is registered counts all the same, and is never better than unknown.
        seen = self.nvcc("seen", *ARCHS, "ask.cc", "one.cu")
        (self.folder / "seen.preflight").write_bytes(foreign)
        self.assertTrue(self.ask(seen, H100).startswith("3 0 1 "))
        self.assertTrue(self.ask(seen, T4).startswith("4 209 1 "))
        path.write_bytes(good)
        self.assertTrue(self.ask(self.folder / "whole", H100).startswith("1 0 1 "))

    def test_what_it_is_not_made_of(self):
        self.run_tool(options.nvcc, "-c", "one.cu", "-o", "one.o")
        self.run_tool(sys.executable, "-m", "zipfile", "-c", "one.whl", "one.o")
        plain = self.nvcc("plain", "ask.cc", wrap=[])
        for words, status, message in (
                (["one.o"], 2, "one.o: has no build-id, by which its preflight could know the table for its own\n  fix: link it with -Wl,--build-id\n"),
                (["whole", "one.o"], 2, "one.o: is no linked file\n  fix: name what the linker makes of it\n"),
                (["whole", "one.whl"], 2, "one.whl: is a zip file\n  fix: unpack it, and name its members\n"),
                (["plain"], 3, "plain: holds no device code, so it has no use for a table\n  fix: name the files, too, whose code it hands to the driver\n")):
            with self.subTest(words):
                done = subprocess.run([options.archguard, "preflight-table", *words, "--output", "none"], cwd=self.folder, stderr=subprocess.PIPE, text=True)
                self.assertEqual((done.returncode, done.stderr), (status, "archguard: error: " + message))
                self.assertFalse((self.folder / "none").exists())
        self.assertTrue(plain.exists())
        done = subprocess.run([options.archguard, "preflight-table", "--allow-empty", "plain"], cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, "archguard: warning: plain: holds no device code, so it has no use for a table\n  fix: "
                         "name the files, too, whose code it hands to the driver\n"))
        self.assertTrue(self.ask(plain, H100).endswith("driver CUDA %s: it registered no device code of its own" % self.release))

    def test_no_build_id(self):
        program = self.nvcc("bare", *ARCHS, "ask.cc", "one.cu", "-Xlinker", "--build-id=none", wrap=[])
        shutil.copy(self.folder / "whole.preflight", self.folder / "bare.preflight")
        self.assertIn("it has no build-id that its table could be known by: link it with --build-id", self.ask(program, H100))


if __name__ == "__main__":
    nvcc.main()
