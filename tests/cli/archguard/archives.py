"""Judges files in archives and packages where they stand: tar and cpio archives, packed or not, and those of Debian, RPM
and conda.

    archives.py --archguard PATH --fixture PATH

The archives are made here, by Python and the packers that there are. What is damaged, cut or a bomb is never covered.
"""
import argparse
import bz2
import ctypes
import gzip
import io
import json
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

OPTIONS = None
PASSED_OVER = "passed over unread"


def tar(*members, form=tarfile.PAX_FORMAT, end=True):
    """A tar archive of (name, bytes), or (name, text) for a symbolic link, or a TarInfo."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, data in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            if isinstance(data, str):
                info.type, info.linkname = tarfile.SYMTYPE, data
                archive.addfile(info)
            else:
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        length = archive.offset
    return out.getvalue() if end else out.getvalue()[:length]


def by_program(*command):
    return lambda data: subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


PACKERS = {"gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress}
for packer in ("zstd", "lz4"):
    if shutil.which(packer):
        PACKERS[packer] = by_program(packer, "-c")


def ar(*members):
    out = b"!<arch>\n"
    for name, data in members:
        out += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name.encode(), 0, 0, 0, b"100644", len(data))
        out += data + b"\n" * (len(data) % 2)
    return out


def deb(data, name="data.tar.xz", pack=lzma.compress):
    return ar(("debian-binary", b"2.0\n"), ("control.tar.xz", lzma.compress(tar(("./control", b"Package: p\n")))),
              (name, pack(data)))


def cpio(*members, end=True):
    """newc, of (name, bytes[, links])."""
    out = b""
    for number, (name, data, *links) in enumerate(members + ((("TRAILER!!!", b""),) if end else ())):
        inode = 7 if links else number + 100
        fields = (inode, 0o100644, 0, 0, links[0] if links else 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        entry = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        entry += b"\0" * (-len(entry) % 4) + data
        out += entry + b"\0" * (-len(entry) % 4)
    return out


def rpm(payload):
    header = (b"\x8e\xad\xe8\x01" + bytes(4) + struct.pack(">II", 1, 8) + struct.pack(">IIII", 1000, 6, 0, 1) + b"package\0")
    start = b"\xed\xab\xee\xdb\x03\0" + bytes(90) + header
    return start + b"\0" * (-len(start) % 8) + header + payload


class Archives(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.new = self.library("new.so", "sm_90")
        self.old = self.library("old.so", "sm_80")

    def library(self, name, *words):
        path = self.folder / name
        subprocess.run([OPTIONS.fixture, path, "13.0", *words], check=True)
        data = path.read_bytes()
        path.unlink()
        return data

    def write(self, name, data):
        (self.folder / name).write_bytes(data)

    def run_archguard(self, *words, **env):
        return subprocess.run([OPTIONS.archguard, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8", errors="replace", check=False, env={**os.environ, **env}, timeout=300)

    def verify(self, name, *words, **env):
        """The exit status, the members that are judged with their outcome, and the errors of the file."""
        done = self.run_archguard("verify", name, "--device", "9.0", "--format", "json", *words, **env)
        self.assertIn(done.returncode, (0, 1, 2, 3), done.stderr)
        told = json.loads(done.stdout) if done.stdout else {"files": [], "passed_over": []}
        members = {file["member"]: file["verdict"] for file in told["files"] if file["member"]}
        said = [error for file in told["files"] for error in file["errors"]]
        return done.returncode, members, json.dumps([said, told["passed_over"], done.stderr])

    def check(self, name, data, status, *members, says=None):
        self.write(name, data)
        code, found, text = self.verify(name)
        self.assertEqual((code, sorted(found)), (status, sorted(members)), text)
        if says:
            self.assertIn(says, text)
        else:
            self.assertEqual(text, '[[], [], ""]')


class Formats(Archives):
    def test_every_packer(self):
        for by, pack in {"": bytes, **PACKERS}.items():
            with self.subTest(by or "tar alone"):
                self.check("t.tar", pack(tar(("./a/new.so", self.new))), 0, "a/new.so")
                self.check("t.tar", pack(tar(("a/new.so", self.new), ("b/old.so", self.old))), 1, "a/new.so", "b/old.so")

    def test_every_form_of_tar(self):
        for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            long = "d" * 90 + "/" + "n" * 90 + ".so"
            self.check("t.tar", tar((long, self.old), form=form), 1, long)
        name = "b\u00fcro/libx.so"
        self.write("t.tar", tar((name, self.old)))
        for locale in ("C", "C.UTF-8"):
            self.assertEqual(list(self.verify("t.tar", LC_ALL=locale)[1]), [name])

    def test_large_members_go_to_the_disk(self):
        large = self.library("l.so", "sm_90", "sm_80") + bytes(9 << 20)
        self.check("t.tar.gz", gzip.compress(tar(("l.so", large))), 0, "l.so")

    def test_debian(self):
        for name, pack in (("data.tar", bytes), ("data.tar.gz", gzip.compress), ("data.tar.xz", lzma.compress)):
            self.check("p.deb", deb(tar(("./usr/lib/old.so", self.old)), name, pack), 1, "usr/lib/old.so")
        self.check("p.deb", ar(("debian-binary", b"2.0\n")), 2, says="without data.tar")
        self.check("p.deb", deb(b"text", "data.tar.x", bytes), 2, says="holds no archive that is known")
        whole = deb(tar(("./usr/lib/new.so", self.new)))
        for size in (70, 200, len(whole) // 2, len(whole) - 30):
            self.check("p.deb", whole[:size], 2, *self.members_of(whole[:size]), says="p.deb")

    def members_of(self, data):
        self.write("x.deb", data)
        return list(self.verify("x.deb")[1])

    def test_rpm(self):
        files = ("./usr/lib64/old.so", self.old), ("./usr/share/text", b"text")
        for pack in PACKERS.values():
            self.check("p.rpm", rpm(pack(cpio(*files))), 1, "usr/lib64/old.so")
        self.check("p.rpm", rpm(cpio(*files))[:100], 2, says="damaged RPM package")
        self.check("p.rpm", rpm(gzip.compress(cpio(*files, end=False))), 2, *["usr/lib64/old.so"], says="cut")
        self.check("p.rpm", rpm(b"a payload that nobody knows"), 2, says="not read")

    def test_further_names_in_cpio(self):
        files = ("liba.so", b"", 3), ("libb.so", b"", 3), ("libc.so", self.old, 3)
        self.check("p.rpm", rpm(gzip.compress(cpio(*files))), 1, "libc.so")

    def test_further_names_in_tar(self):
        further = tarfile.TarInfo("libb.so")
        further.type, further.linkname = tarfile.LNKTYPE, "liba.so"
        self.check("t.tar", tar(("liba.so", self.old), (further, b"")), 1, "liba.so")

    def test_conda(self):
        if "zstd" not in PACKERS:
            self.skipTest("no zstd")
        pack = PACKERS["zstd"]
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            self.write_conda("p.conda", pack(tar(("lib/old.so", self.old))), method)
            code, found, _ = self.verify("p.conda")
            self.assertEqual((code, list(found)), (1, ["lib/old.so"]))
            self.assertEqual(self.verify(".")[1].keys(), found.keys())  # in a folder, too
        self.write_conda("p.conda", pack(tar(("lib/new.so", self.new)))[:-9])
        self.assertEqual(self.verify("p.conda")[0], 2)
        self.write_conda("p.conda", b"text")
        self.assertEqual(self.verify("p.conda")[0], 2)

    def write_conda(self, name, files, method=zipfile.ZIP_STORED):
        with zipfile.ZipFile(self.folder / name, "w", method) as package:
            package.writestr("metadata.json", "{}")
            package.writestr("info-p-1-0.tar.zst", PACKERS["zstd"](tar(("info/index.json", b"{}"))))
            package.writestr("pkg-p-1-0.tar.zst", files)

    def test_a_conda_package_promises(self):
        if "zstd" not in PACKERS:
            self.skipTest("no zstd")
        pack = PACKERS["zstd"]

        def conda(index, *more):
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as package:
                package.writestr("metadata.json", '{"conda_pkg_format_version": 2}')
                package.writestr("pkg-p.tar.zst", pack(tar(("lib/old.so", self.old))))
                if index is not None:
                    package.writestr("info-p.tar.zst", pack(tar(("info/index.json", index))) if isinstance(index, bytes) else index)
                for name, data in more:
                    package.writestr(name, data)
            self.write("p.conda", out.getvalue())
            done = self.run_archguard("verify", "p.conda", "--promise", "p.conda")
            return done.returncode, done.stdout + done.stderr

        kept = b'{"depends": ["__cuda_arch >=8.0,<9", "libgcc"]}'
        self.assertEqual(conda(kept)[0], 0)
        code, said = conda(b'{"depends": ["__cuda_arch >=8.0"]}')
        self.assertEqual((code, "error 209" in said), (1, True), said)
        for index, says in ((b'{"depends": []}', "p.conda(info/index.json)"), (b'{"depends": [', "begins as JSON"), (pack(tar(("x", b"{}"))).hex(), "p.conda")):
            code, said = conda(index)
            self.assertEqual((code, says in said), (2, True), said)
        code, said = conda(b" " * (2 << 20))
        self.assertEqual((code, "more than 1 MiB" in said), (2, True), said)
        for second in ("info/index.json", "./info//index.json", "x/../info/index.json"):
            code, said = conda(None, ("info-r.tar.zst", pack(tar(("info/index.json", kept), (second, b"{}")))))
            self.assertEqual((code, "twice" in said), (2, True), said)
        code, said = conda(kept, ("info-q.tar.zst", pack(tar(("info/index.json", kept)))))
        self.assertEqual((code, "twice" in said), (2, True), said)

    def test_archives_within_each_other(self):
        zipped = io.BytesIO()
        with zipfile.ZipFile(zipped, "w") as wheel:
            wheel.writestr("pkg/old.so", self.old)
        self.check("t.tar", tar(("w.whl", zipped.getvalue())), 1, "w.whl(pkg/old.so)")
        self.check("t.tar", tar(("p.deb", deb(tar(("old.so", self.old))))), 1, "p.deb(old.so)")
        self.check("t.tar", tar(("p.rpm", rpm(cpio(("old.so", self.old))))), 1, "p.rpm(old.so)")
        data, name = self.old, "old.so"
        for depth in range(4):
            data = gzip.compress(tar((name if depth == 0 else "in.tgz", data)))
        self.check("t.tgz", data, 1, "in.tgz(in.tgz)(in.tgz)(old.so)")
        self.check("t.tgz", gzip.compress(tar(("in.tgz", data))), 2, says="is an archive within 4 others")

    def test_compressed_files(self):
        """Manual pages and changelogs hold nothing; a library is judged."""
        for by, pack in PACKERS.items():
            with self.subTest(by):
                self.check("t.tar", tar(("doc.gz", pack(b"changes")), ("doc2.gz", pack(b"more " * 9999))), 3)
                self.check("t.tar", tar(("old.so.gz", pack(self.old)), ("doc.gz", pack(b"changes"))), 1, "old.so.gz")
                self.check("t.tar", tar(("w.gz", pack(tar(("old.so", self.old))))), 1, "w.gz(old.so)")
                self.check("old.so.gz", pack(self.old), 1)
                picture = tar(("new.so", self.new), ("x.ima.gz", pack(bytes(20000) + b"data" * 99)), ("none.tar.gz", pack(bytes(10240))))
                self.check("t.tar", picture, 0, "new.so")
                self.check("t.tar", tar(("new.so", self.new), ("x.tar.gz", pack(bytes(20000) + b"data" * 99))), 2, "new.so", says="begins with zeros")
                for name in ("libx.so.gz", "x.fatbin.gz"):
                    self.check("t.tar", tar(("new.so", self.new), (name, pack(bytes(3000)))), 2, "new.so", name, says=name)
                self.check("t.tar", tar(("new.so", self.new), ("x.tar.gz", pack(bytes(1_000_000)))), 2, "new.so", says="begins with zeros")
                # `tar -b 256` of nothing
                self.check("t.tar", tar(("new.so", self.new), ("x.tar.gz", pack(bytes(128 << 10)))), 0, "new.so")
                for name in ("old.so", "old.so.1", "k.cubin", "old.o"):  # a loader or linker is given it as it is
                    self.check(name, pack(self.new), 2, says="is packed, and named as a program, library, object or image")
                    if name == "old.o":  # within others it may be a mesh
                        continue
                    self.check("t.tar", tar((name, pack(self.new)), ("new.so", self.new)), 2, "new.so", says="is packed, and named as a program, library, object or image")
                    self.check("t.tar", tar(("in.tar", tar(("lib/" + name, pack(self.new)))), ("new.so", self.new)), 2, "new.so", says="is packed, and named")
                self.check("t.gz", pack(b"text"), 2, says="t.gz")
                self.check("t.gz", pack(bytes(99) + b"data"), 2, says="t.gz")
                self.check("t.tar", tar(("lost.so.gz", pack(b""))), 2, "lost.so.gz", says="t.tar(lost.so.gz)")
                twice = tar(("new.so", self.new), ("x.gz", pack(pack(b"text"))))
                self.check("t.tar", twice, 0, "new.so", says="t.tar(x.gz)")
                for content in (self.new, b"text", b"long text " * 9999):
                    damaged = bytearray(pack(content))
                    damaged[-6] ^= 0x10
                    for data in (bytes(damaged), bytes(damaged[:-9])):
                        self.check("t.tar", tar(("doc.gz", data)), 2, says="t.tar(doc.gz)")
                        self.check("t.tar", tar(("new.so", self.new), ("doc.gz", data)), 2, "new.so", says="t.tar(doc.gz)")

    def test_other_files_are_passed_over(self):
        self.write("in.tar", tar(("old.so", self.old)))
        self.write("x.so", self.new)
        done = self.run_archguard("verify", ".", "--device", "9.0", "--brief")
        self.assertEqual((done.returncode, PASSED_OVER in done.stdout), (0, True), done.stdout)

    def test_files_that_are_meant_to_be_so(self):
        big_endian = bytearray(self.new)
        big_endian[5], big_endian[18] = 2, 0
        empty_object = b"\x7fELF\2\2\1" + bytes(100)
        self.check("t.tar", tar(("new.so", self.new), ("s390x.so", empty_object)), 0, "new.so", "s390x.so")
        self.check("t.tar", tar(("new.so", self.new), ("x.so", bytes(big_endian))), 2, "new.so", "x.so", says="big-endian machine")
        self.check("t.tar", tar(("new.so", self.new), ("x.whl", b""), ("x.tar", b"")), 0, "new.so", says="x.whl")

    def test_links(self):
        self.check("t.tar", tar(("lib/x.so.1", self.new), ("lib/x.so", "x.so.1")), 0, "lib/x.so.1")
        self.check("t.tar", tar(("lib/x.so.1", self.new), ("lib/y.so", "../../y.so.1")), 0, "lib/x.so.1", says="t.tar(lib/y.so)")

    def test_inspect(self):
        self.write("t.tgz", gzip.compress(tar(("old.so", self.old))))
        done = self.run_archguard("inspect", "t.tgz")
        self.assertEqual((done.returncode, "t.tgz(old.so)" in done.stdout), (0, True), done.stdout)
        self.write("u.tgz", gzip.compress(tar(("old.so", self.new))))
        for words in (["diff", "t.tgz", "u.tgz", "--device", "8.0"], ["requirements", "t.tgz"]):
            self.assertIn(self.run_archguard(*words).returncode, (0, 1), words)


    def test_bounds_are_those_of_the_library(self):
        """On x86-64 no Tegra counts, in whatever the library comes."""
        library = self.library("old.so", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "compute_120")
        self.write("old.so", library)
        bound = self.run_archguard("requirements", "old.so", "--for", "conda").stdout
        self.assertIn("__cuda_arch >=7.5", bound)
        self.write("p.deb", deb(tar(("./usr/lib/old.so", library), ("./usr/share/doc/changelog.gz", gzip.compress(b"x")))))
        self.assertEqual(bound, self.run_archguard("requirements", "p.deb", "--for", "conda").stdout)
        self.assertEqual(0, self.run_archguard("verify", "p.deb", "--promise", "__cuda_arch >=7.5").returncode)
        (self.folder / "usr").mkdir()
        self.write("usr/old.so", library)
        self.assertEqual(bound, self.run_archguard("requirements", "usr", "--for", "conda").stdout)


class Hostile(Archives):
    def test_bytes_behind_a_compressed_stream(self):
        for by, pack in PACKERS.items():
            with self.subTest(by):
                for data in (pack(tar(("a.so", self.new))) + bytes(512) + pack(tar(("b.so", self.old))),
                             tar(("b.so.x", pack(b"text") + self.old)), deb(tar(("a.so", self.new)), "data.tar.x", lambda d: pack(d) + self.old)):
                    self.write("t.tar", data)
                    self.assertEqual(self.verify("t.tar")[0], 2)
                self.check("t.tar", pack(tar(("a.so", self.new))), 0, "a.so")

    def test_cpio_with_a_damaged_header(self):
        for damage in range(6):
            whole = bytearray(cpio(("a.so", self.new), ("b.so", self.old), ("x.txt", b"x" * 500)))
            whole[whole.find(b"070701", 6) + damage] ^= 1
            for data in (bytes(whole), rpm(gzip.compress(bytes(whole)))):
                self.write("c.cpio", data)
                self.assertEqual(self.verify("c.cpio")[0], 2, damage)
        whole = bytearray(cpio(("b.so", self.old), ("x.txt", b"x" * 8)))
        whole[6] ^= 16
        self.check("c.cpio", bytes(whole), 2, says="c.cpio")

    def test_a_hard_link_to_nothing(self):
        link = tarfile.TarInfo("lib/b.so")
        link.type, link.linkname = tarfile.LNKTYPE, "lib/a.so"
        self.check("t.tar", tar((link, b"")), 2, says="lib/b.so")
        self.check("t.tar", tar(("n.so", self.new), (link, b"")), 0, "n.so", says="lib/b.so")
        self.check("t.tar", tar(("lib/a.so", self.new), (link, b"")), 0, "lib/a.so")

    def test_part_of_another_volume(self):
        for size in (0, len(self.old)):
            part = tarfile.TarInfo("b.so")
            part.type = b"M"
            self.check("t.tar", tar(("a.so", self.new), (part, self.old[:size])), 2, "a.so", says="no file")

    def test_named_like_an_archive(self):
        damaged = bytearray(tar(("a.so", self.new), ("b.so.gz", gzip.compress(self.old))))
        damaged[257] ^= 1
        self.check("t.tar", bytes(damaged), 2, says="t.tar")
        self.check("t.tar", tar(("a.so", self.new), ("in.tar", bytes(damaged))), 2, "a.so", "in.tar", says="in.tar")
        damaged = bytearray(deb(tar(("b.so", self.old))))
        damaged[10] ^= 1
        self.check("p.deb", bytes(damaged), 2, says="packed itself")
        self.check("x.a", ar(("b.so.gz", gzip.compress(self.old))), 2, says="packed itself")

    def test_zip_files_that_were_lost_within_an_archive(self):
        for lost in (bytes(3000), b"<html>404</html>"):
            self.check("t.tar", tar(("new.so", self.new), ("x.zip", lost)), 0, "new.so", says="x.zip")

    def test_an_archive_without_its_first_header(self):
        """Under a name that tells nothing: its images stand in clear, and what is packed beside them does not."""
        packed = gzip.compress(self.old)
        for whole, at in ((tar(("a.so", self.new), ("b.so.gz", packed)), 257), (tar(("a.so", self.new), ("b.so.gz", packed), form=tarfile.GNU_FORMAT), 258),
                          (cpio(("a.so", self.new), ("b.so.gz", packed)), 3)):
            damaged = bytearray(whole)
            damaged[at] ^= 1
            for data in (bytes(damaged), b"x" + whole):
                self.write("f.bin", data)
                code, _, text = self.verify("f.bin")
                self.assertEqual((code, "headers of an archive" in text), (2, True), text)

    def test_archives_of_nothing(self):
        """What `tar cf x.tar -T /dev/null` writes holds no device code, packed or not; other zeros may have been anything."""
        for pack in (bytes, *PACKERS.values()):
            self.check("none.tar", pack(bytes(10240)), 3)
            self.check("t.tar", tar(("new.so", self.new), ("none.tar", pack(bytes(10240)))), 0, "new.so")
        self.check("none.TAR", bytes(1024), 3)
        for name, size in (("none.tar", 512), ("none.tar", 10000), ("none.tgz", 10240), ("none.bin", 10240), ("none.tar", 10 << 20)):
            self.check(name, bytes(size), 2, says=name)
        self.check("t.tar", tar(("new.so", self.new), ("none.tar", bytes(10000))), 2, "new.so", "none.tar", says="none.tar")

    def test_no_end_of_zeros(self):
        for data in (tar(("a.so", self.new)), cpio(("a.so", self.new)), gzip.compress(tar(("a.so", self.new)))):
            self.write("t.tar", data)
            os.truncate(self.folder / "t.tar", 1 << 40)
            self.assertEqual(self.verify("t.tar")[0], 2)

    def test_requirements_say_what_was_not_read(self):
        (self.folder / "d").mkdir()
        self.write("d/a.so", self.library("a.so", "sm_80", "compute_80"))
        self.write("d/p.deb", deb(tar(("b.so", self.old))))
        done = self.run_archguard("requirements", "d", "--for", "conda")
        self.assertEqual((done.returncode, "d/p.deb" in done.stderr), (0, True), done.stderr)

    def test_cut_anywhere(self):
        whole = tar(("a.so", self.new), ("b.so", self.new))
        for pack in [bytes, *PACKERS.values()]:
            packed = pack(whole)
            for size in {1, 5, 40, len(packed) // 3, len(packed) // 2, len(packed) - 5, len(packed) - 1}:
                if pack is bytes and size > len(tar(("a.so", self.new), ("b.so", self.new), end=False)) + 512:
                    continue  # the fill behind the end
                self.write("t.tar", packed[:size])
                self.assertEqual(self.verify("t.tar")[0], 2, (pack, size))

    def test_cut_between_members(self):
        self.check("t.tar", tar(("a.so", self.new), end=False), 2, "a.so", says="without the two blocks of zeros")
        self.check("t.tgz", gzip.compress(tar(("a.so", self.new), end=False)), 2, "a.so", says="without the two blocks")

    def test_bytes_behind_the_end(self):
        whole = tar(("a.so", self.new))
        self.check("t.tar", whole + tar(("b.so", self.old)), 2, "a.so", says="bytes behind its end")
        self.check("t.tgz", gzip.compress(whole) + b"more", 2, *self.any_of(gzip.compress(whole) + b"more"), says="bytes follow")
        # gzip's members, one behind the other, are one stream
        self.check("t.tgz", gzip.compress(whole[:700]) + gzip.compress(whole[700:]), 0, "a.so")

    def test_zeros_to_the_end(self):
        whole = tar(("a.so", self.new), end=False) + bytes(1024)
        for zeros in (10_752, 58_880, 100_000):
            self.check("t.tar", whole + bytes(zeros), 2, "a.so", says="bytes of zeros: what stood there may have been lost")
        for record in (10_240, 1 << 16, 1 << 17, 1 << 20):  # tar -b 20, -b 128, -b 256, -b 2048
            self.check("t.tar", whole + bytes(-len(whole) % record), 0, "a.so")

    def any_of(self, data):
        self.write("x.tgz", data)
        return list(self.verify("x.tgz")[1])

    def test_damage(self):
        for pack in PACKERS.values():
            packed = bytearray(pack(tar(("a.so", self.new))))
            packed[-6] ^= 0x10  # within the checksum, or what ends the stream
            self.write("t.tar", bytes(packed))
            self.assertEqual(self.verify("t.tar")[0], 2, pack)
        damaged = bytearray(tar(("a.so", self.new), ("b.so", self.new)))
        second = damaged.index(b"b.so\0")
        damaged[second] ^= 1
        self.check("t.tar", bytes(damaged), 2, "a.so", says="t.tar")

    def test_names_are_names(self):
        names = "../../out.so", "/etc/absolute.so", "a/../../b.so", "x\n\x1b[31m.so"
        self.check("t.tar", tar(*[(name, self.old) for name in names]), 1, *names)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["t.tar"])
        self.check("t.tar", tar(("n" * 5000, self.new)), 2, says="which no system takes")

    def test_bombs(self):
        bomb = tar(("zeros", bytes(300 << 20)), ("a.so", self.new))
        for by in PACKERS.keys() - {"gzip", "lz4"}:  # these two make no more than 1032 bytes of one
            self.write("t.tar", PACKERS[by](bomb))
            code, _, text = self.verify("t.tar")
            self.assertEqual((code, "inflates to too much" in text), (2, True), text)
        self.check("t.tar", gzip.compress(tar(("in.tgz", gzip.compress(bomb)))), 2, says="inflates to too much")

    def test_a_sparse_bomb(self):
        info = tarfile.TarInfo("lib.so")
        info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "lib.so",
                            "GNU.sparse.realsize": str(1 << 62)}
        table = (b"1\n0\n%d\n" % len(self.new)).ljust(512, b"\0")
        self.check("t.tar", tar((info, table + self.new)), 2, says="t.tar")

    def test_no_program_is_started(self):
        tools = self.folder / "bin"
        tools.mkdir()
        for name in ("zstd", "xz", "bzip2", "lz4", "lzip", "gzip"):
            (tools / name).write_text("#!/bin/sh\ntouch %s/started\n" % self.folder)
            (tools / name).chmod(0o755)
        for pack in PACKERS.values():
            self.write("t.tar", pack(tar(("a.so", self.new))))
            self.verify("t.tar", PATH=str(tools))
        self.assertFalse((self.folder / "started").exists())

    def test_without_the_library(self):
        self.write("libarchive.so.13", b"")
        for name, data in (("t.tar", tar(("a.so", self.new))), ("p.deb", deb(tar(("a.so", self.new))))):
            self.write(name, data)
            done = self.run_archguard("verify", name, "--device", "9.0", LD_LIBRARY_PATH=str(self.folder))
            self.assertEqual((done.returncode, "libarchive13" in done.stdout), (2, True), done.stdout)


def main(tests="__main__"):
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--archguard", required=True)
    parser.add_argument("--fixture", required=True)
    OPTIONS, words = parser.parse_known_args()
    try:
        ctypes.CDLL("libarchive.so.13")
    except OSError:
        print("SKIPPED: no libarchive.so.13; Debian: apt install libarchive13")
        sys.exit(77)
    unittest.main(tests, argv=[sys.argv[0], *words])


if __name__ == "__main__":
    main()
