// Files of formats that no loader of Linux or Windows takes, or that only a compiler reads, wherever they
// stand: by name, in a folder, in a zip file, in an archive.
#include <algorithm>
#include <doctest/doctest.h>

#include "running.h"
#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/zip_builder.h"

using namespace archguard::test;

namespace {

Bytes cubin() {
  return CubinBuilder{}.kernel("gemm", sass::join({sass::store(), sass::exit()})).bytes();
}

Bytes code() {
  return FatbinBuilder{}.cubin(80, cubin()).bytes();
}

// The beginning of a file, zeros up to `at`, and a fat binary of sm_80.
Bytes with_code(Bytes start, std::size_t at) {
  start.resize(at);
  const Bytes fatbin = code();
  start.insert(start.end(), fatbin.begin(), fatbin.end());
  return start;
}

Bytes gl_object() {
  Bytes bytes = {0,    0,    0xff, 0xff, 1,    0,    0x64, 0x86, 0,    0,    0,    0,    0x38, 0xfe,
                 0xb3, 0x0c, 0xa5, 0xd9, 0xab, 0x4d, 0xac, 0x9b, 0xd6, 0xb6, 0x22, 0x26, 0x53, 0xc2};
  bytes.resize(200);
  return bytes;
}

RunOutput verify(const TemporaryFolder& folder, const std::string& path, const std::string& device) {
  return run_archguard({"verify", path, "--device", device + "@13.0", "--brief"}, folder.path());
}

}  // namespace

TEST_CASE("a Mach-O file is searched: by name, in a folder, in a zip file and in an archive") {
  const Bytes starts[] = {
      {0xce, 0xfa, 0xed, 0xfe, 7, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0},        // 32 bits, a library
      {0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1, 3, 0, 0, 0, 6, 0, 0, 0},        // 64 bits
      {0xfe, 0xed, 0xfa, 0xce, 0, 0, 0, 18, 0, 0, 0, 0, 0, 0, 0, 6},       // the other order
      {0xfe, 0xed, 0xfa, 0xcf, 1, 0, 0, 18, 0, 0, 0, 0, 0, 0, 0, 6},       //
      {0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2, 1, 0, 0, 7, 0, 0, 0, 3, 0, 0},  // universal
      {0xca, 0xfe, 0xba, 0xbf, 0, 0, 0, 2, 1, 0, 0, 7, 0, 0, 0, 3, 0, 0},  // of large files
  };
  for (const Bytes& start : starts) {
    const TemporaryFolder folder;
    // Larger than what is searched of a folder's data, whatever it is.
    const Bytes library = with_code(start, std::size_t{5} << 20);
    folder.file("lib.dylib", text_of(library));
    const TemporaryFolder zips, archives;
    zips.file("p.whl", text_of(ZipBuilder{}.stored("m.so", library).bytes()));
    archives.file("l.a", text_of(ArchiveBuilder{}.member("x.o", library).bytes()));
    for (const auto& [at, path] :
         {std::pair(&folder, "lib.dylib"), std::pair(&folder, "."), std::pair(&zips, "p.whl"),
          std::pair(&zips, "."), std::pair(&archives, "l.a")}) {
      CAPTURE(path);
      const RunOutput run = verify(*at, path, "8.0");
      CHECK(run.out.find(": 1 of 1 covered\n") != std::string::npos);
      CHECK(run.exit_code == 0);
      CHECK(verify(*at, path, "9.0").out.find("error 209") != std::string::npos);
      CHECK(verify(*at, path, "9.0").exit_code == 1);
    }
  }
}

TEST_CASE("a class file of Java is no universal Mach-O file, and one without device code has none") {
  const TemporaryFolder folder;
  folder.file("A.class",
              text_of(with_code({0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 0}, std::size_t{5} << 20)));
  CHECK(verify(folder, ".", "8.0").out == "no binary in .\n");
  Bytes program = {0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1, 3, 0, 0, 0, 2, 0, 0, 0};
  program.resize(4096);
  folder.file("a.out", text_of(program));
  CHECK(verify(folder, "a.out", "8.0").out == "a.out: no device code\n");
  CHECK(verify(folder, "a.out", "8.0").exit_code == 3);
}

TEST_CASE("images in data are found in a zip file as they are in a folder") {
  const Bytes image = cubin();
  const std::size_t head = 5, large = std::size_t{5} << 20;
  Bytes pickle(head + image.size()), plan(large + image.size());
  pickle[0] = 0x80;
  std::copy(image.begin(), image.end(), pickle.begin() + head);
  std::copy(image.begin(), image.end(), plan.begin() + large);
  const std::pair<const char*, const Bytes*> files[] = {
      {"kernel.pkl", &pickle}, {"0f3a_2", &pickle}, {"m.plan", &plan}};
  for (const auto& [name, bytes] : files)
    for (const bool deflated : {false, true}) {
      const TemporaryFolder folder;
      ZipBuilder zip;
      folder.file("p.zip",
                  text_of((deflated ? zip.deflated(name, *bytes) : zip.stored(name, *bytes)).bytes()));
      for (const char* path : {"p.zip", "."}) {
        const RunOutput run = verify(folder, path, "8.0");
        CHECK(run.out.find("p.zip(" + std::string(name) + "): 1 of 1 covered\n") != std::string::npos);
        CHECK(run.exit_code == 0);
        CHECK(verify(folder, path, "9.0").exit_code == 1);
      }
    }
  const TemporaryFolder folder;
  folder.file("p.zip", text_of(ZipBuilder{}.stored("large.bin", plan).bytes()));
  CHECK(verify(folder, "p.zip", "8.0").exit_code == 3);
}

TEST_CASE("a file whose start was overwritten is not covered by what is left of it") {
  for (const std::uint8_t byte : {std::uint8_t{0}, std::uint8_t{0x17}})
    for (const char* name : {"libx.so", "x.dll", "libx.a", "x.o", "p.whl", "p.zip", "prog"}) {
      CAPTURE(std::string(name));
      Bytes bytes(4096, byte);
      const Bytes image = FatbinBuilder{}.cubin(80, cubin()).bytes();
      bytes.insert(bytes.end(), image.begin(), image.end());
      bytes[600] = 0;
      const TemporaryFolder folder;
      folder.file(name, text_of(bytes));
      const bool told = byte == 0 || std::string_view(name) != "prog";  // may be a program's own kind of file
      const RunOutput run = verify(folder, name, "8.0");
      CHECK(run.exit_code == (told ? 2 : 0));
      CHECK(((run.out + run.err).find("its start was overwritten") != std::string::npos) == told);
      CHECK(verify(folder, ".", "8.0").exit_code == (told ? 2 : 0));
    }
}

TEST_CASE("a program whose beginning was overwritten by whatever is known by the names of its sections") {
  Bytes program = ElfBuilder{}
                      .executable()
                      .section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin()).bytes())
                      .section(".nvFatBinSegment", Bytes(24))
                      .bytes();
  std::fill(program.begin(), program.begin() + 64, std::uint8_t{0xff});
  const Bytes whole = ElfBuilder{}.executable().section(".data", Bytes(64)).bytes();
  const TemporaryFolder folder;
  folder.file("prog", text_of(program));
  folder.file("prog.1", text_of(program));
  folder.file("behind", std::string(64, '\377') + text_of(whole) + text_of(program));  // what holds programs
  for (const char* name : {"prog", "prog.1"}) {
    const RunOutput run = verify(folder, name, "8.0");
    CHECK(run.exit_code == 2);
    CHECK(run.out.find("holds the names of a program's or library's sections and not its beginning") !=
          std::string::npos);
  }
  CHECK(verify(folder, "behind", "8.0").exit_code == 0);
}

TEST_CASE("a library whose first block is text is none, in a folder and an archive, too") {
  std::string library = text_of(ElfBuilder{}
                                    .shared()
                                    .section(".data", Bytes(8192))
                                    .section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin()).bytes())
                                    .bytes());
  library.replace(0, 4096, std::string(4096, 'A'));
  const TemporaryFolder folder;
  folder.file("f/libk.so", library);
  folder.file("p.zip", text_of(ZipBuilder{}.stored("libk.so", bytes_of_text(library)).bytes()));
  for (const char* path : {"f", "f/libk.so", "p.zip"}) CHECK(verify(folder, path, "8.0").exit_code == 2);
}

TEST_CASE("an object without a section table may hold anything") {
  const Bytes object = ElfBuilder{}
                           .relocatable()
                           .section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin()).bytes())
                           .without_section_table()
                           .bytes();
  const TemporaryFolder folder;
  folder.file("x.o", text_of(object));
  const RunOutput run = verify(folder, "x.o", "8.0");
  CHECK(run.exit_code == 2);
  // Likewise where its count of sections is lost: neither the header nor section 0 has it.
  Bytes uncounted =
      ElfBuilder{}.relocatable().section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin()).bytes()).bytes();
  uncounted[60] = uncounted[61] = 0;
  folder.file("y.o", text_of(uncounted));
  CHECK(verify(folder, "y.o", "8.0").exit_code == 2);
  CHECK(run.out.find("is an object without a section table") != std::string::npos);
}

TEST_CASE("PTX whose head is zeros is not covered by its name") {
  const TemporaryFolder folder;
  folder.file("k.ptx", std::string(64, '\0') +
                           "\n.version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n");
  for (const char* path : {"k.ptx", "."}) CHECK(verify(folder, path, "8.6").exit_code == 2);
  folder.file("k.ptx",
              "// a comment that lost a few\n" + std::string(8, '\0') +
                  " letters\n.version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n");
  for (const char* path : {"k.ptx", "."}) CHECK(verify(folder, path, "8.6").exit_code == 2);
}

TEST_CASE("a library that begins as none is named in a folder and a zip file, a linker script is not") {
  const std::pair<const char*, bool> files[] = {{"<!DOCTYPE html><html>404</html>", true},
                                                {"\x12\x34 binary", true},
                                                {"\xff\xff\xff\xff\xff\xff\xff\xff", true},
                                                {"\xef\xbb\xbf<html>404</html>", true},
                                                {"#!/bin/sh\nexec \x7f\n", false},
                                                {"/* f\xc3\xbcr ld */ INPUT(libx.so.1)\n", false},
                                                {"/* f\xfcr ld */ INPUT(libx.so.1)\n", false},
                                                {"INPUT\x81(libx.so.1)\n", true},
                                                {"{\"message\": \"Not Found\"}", true},
                                                {"Entry not found", true},
                                                {"Access denied: the GROUP policy (403)", true},
                                                {"Forbidden", true},
                                                {"libx.so.1", false},
                                                {"INPUT(-ly)\n", false},
                                                {".so man7/libx.7\n", false},
                                                {"See liby.\nIt holds all of this.\n", false},
                                                {"../lib/libx.so.1", false},
                                                {"GROUP\n( libx.so.1 AS_NEEDED ( -ly ) )\n", false},
                                                {"INPUT(libx.so.1)\n", false}};
  for (const auto& [text, is_lost] : files) {
    const TemporaryFolder folder;
    std::string content = text;
    if (content[0] == 0x12) content += '\0';
    folder.file("libx.so", content);
    folder.file("p.zip", text_of(ZipBuilder{}.stored("libx.so", bytes_of_text(content)).bytes()));
    for (const char* path : {"libx.so", "p.zip", "."}) {
      CAPTURE(path);
      const bool named = std::string_view(path) == "libx.so";
      CHECK(verify(folder, path, "8.0").exit_code == (is_lost || named ? 2 : 3));
    }
  }
}

TEST_CASE("a web page with the name of an object is named, other text is not") {
  const std::pair<const char*, bool> files[] = {
      {"<!DOCTYPE html><html>404</html>", true},
      {"\n<HTML>404</HTML>", true},
      {"<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code>", true},
      {"# a mesh\nv 0 0 0\n", false},
      {"/* GNU ld script */\nGROUP ( libm-2.36.a )\n", false}};
  for (const auto& [text, is_lost] : files) {
    for (const char* name : {"libx.a", "x.o", "X.LIB", "x.obj"}) {
      const TemporaryFolder folder;
      folder.file(name, text);
      CAPTURE(name);
      CAPTURE(text);
      CHECK(verify(folder, ".", "8.0").exit_code == (is_lost ? 2 : 3));
    }
  }
}

TEST_CASE("device code behind the header of a server's answer or a byte order mark is not whole") {
  const TemporaryFolder folder;
  const std::string image = text_of(code());
  for (const char* before : {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "\xef\xbb\xbf"})
    for (const char* name : {"app", "k.fatbin", "k.cubin", "weights.bin"}) {
      CAPTURE(name);
      folder.file(name, before + image);
      CHECK(verify(folder, name, "8.0").exit_code == 2);
    }
  folder.file("weights.bin", "head" + image);
  CHECK(verify(folder, "weights.bin", "8.0").exit_code == 0);
}

TEST_CASE("a fat binary that was taken for text is not whole") {
  const TemporaryFolder folder;
  const std::string image = text_of(code()), behind = "\1" + std::string(40, '\0') + image;
  for (const char* magic : {"P\xef\xbf\xbdU\xef\xbf\xbd", "P\xc3\xadU\xc2\xba"}) {
    folder.file("k.fatbin", magic + behind);
    CHECK(verify(folder, "k.fatbin", "8.0").exit_code == 2);
  }
  folder.file("k.fatbin", image);
  CHECK(verify(folder, "k.fatbin", "8.0").exit_code == 0);
}

TEST_CASE("an object in a folder that lost its first block is named") {
  const TemporaryFolder folder;
  folder.file("l.so", text_of(ElfBuilder{}.section(".nv_fatbin", code()).bytes()));
  for (const char* name : {"x.o", "x.a", "x.obj"}) {
    folder.file(name, std::string(512, '\0') + "rest");
    CHECK(verify(folder, ".", "8.0").exit_code == 2);
    folder.file(name, std::string(40, '\0') + "a mesh, or data\n" + std::string(512, '\0'));
    CHECK(verify(folder, ".", "8.0").exit_code == 0);
  }
}

TEST_CASE("a member of an archive that lost its head, or all of it, is named") {
  const TemporaryFolder folder;
  const auto with = [&](const char* name, const Bytes& member) {
    folder.file("l.a", text_of(ArchiveBuilder{}.member("x.o", code()).member(name, member).bytes()));
    return verify(folder, "l.a", "8.0");
  };
  Bytes zeros(200);
  for (const std::uint8_t first : {std::uint8_t{0}, std::uint8_t{0x7f}}) {
    zeros[0] = first;
    const RunOutput run = with("y.o", zeros);
    CHECK(run.exit_code == 2);
    CHECK(run.out.find("l.a(y.o): holds nothing, zeros or a text where an object begins") !=
          std::string::npos);
  }
  for (const char* text :
       {"<html>404</html>", "404: Not Found", "version https://git-lfs.github.com/spec/v1\n"})
    CHECK(with("y.o", bytes_of_text(text)).exit_code == 2);
  CHECK(with("_go_.o", bytes_of_text("go object linux amd64 go1.19\n$$  // cgo\n")).exit_code == 0);
  CHECK(with("notes.txt", bytes_of_text("404: Not Found")).exit_code == 0);
  CHECK(with("empty.o", {}).exit_code == 2);
  CHECK(with("pad.bin", zeros).exit_code == 0);
  CHECK(with("empty.txt", {}).exit_code == 0);
}

TEST_CASE("an object of a folder that is empty, or too short to be one, is told") {
  const TemporaryFolder folder;
  folder.file("d/x.o", text_of(code()));
  CHECK(verify(folder, "d", "8.0").out.find("passed over") == std::string::npos);
  folder.file("d/a.o", "");
  folder.file("d/b.a", "!<ar");
  folder.file("d/c.obj", "o mesh");
  const RunOutput run = verify(folder, "d", "8.0");
  CHECK(run.exit_code == 0);
  CHECK(
      run.out.find("passed over unread: 2 objects or static libraries that are empty or too short to be one "
                   "(d/a.o, d/b.a)") != std::string::npos);
  folder.file("e/a.o", "");
  CHECK(verify(folder, "e", "8.0").exit_code == 2);
}

TEST_CASE("what other systems put beside a library is none") {
  const TemporaryFolder folder;
  folder.file("._libx.so", std::string("\0\5\x16\7\0\2\0\0Mac OS X", 16));
  folder.file("liby.so", "!<symlink>" + std::string("\xff\xfe"
                                                    "l\0i\0b\0",
                                                    8));
  CHECK(verify(folder, ".", "8.0").exit_code == 3);
  folder.file("X.DLL", "MX\1\2 no program");
  CHECK(verify(folder, ".", "8.0").exit_code == 2);
}

TEST_CASE("what stands for a file, and what only a linker compiles, is named in a zip file, too") {
  const std::pair<const char*, Bytes> members[] = {
      {"weights.bin", bytes_of_text("version https://git-lfs.github.com/spec/v1\n")},
      {"x.o", bytes_of_text("BC\xc0\xde and more")},
      {"x.obj", gl_object()}};
  for (const auto& [name, bytes] : members) {
    const TemporaryFolder folder;
    folder.file("p.zip", text_of(ZipBuilder{}.stored(name, bytes).bytes()));
    for (const char* path : {"p.zip", "."}) {
      const RunOutput run = verify(folder, path, "8.0");
      CHECK(run.out.find("passed over unread: 1 ") == 0);
      CHECK(run.out.find("p.zip(" + std::string(name) + ")") != std::string::npos);
      CHECK(run.exit_code == 2);
    }
  }
  const std::pair<const char*, Bytes> lost[] = {{"libx.so", {}},
                                                {"k.cubin", bytes_of_text("nothing known")},
                                                {"libx.so", bytes_of_text("/annex/objects/SHA256E-s12\n")}};
  for (const auto& [name, bytes] : lost) {
    const TemporaryFolder folder;
    folder.file("p.zip", text_of(ZipBuilder{}.stored(name, bytes).bytes()));
    for (const char* path : {"p.zip", "."}) {
      const RunOutput run = verify(folder, path, "8.0");
      CHECK(run.out.find("archguard: error: ") == 0);
      CHECK(run.out.find("p.zip(" + std::string(name) + "): is ") != std::string::npos);
      CHECK(run.exit_code == 2);
    }
  }
}

TEST_CASE(
    "an object of MSVC's /GL cannot be judged, by name or in a library; in a folder it is passed over") {
  const TemporaryFolder folder;
  folder.file("x.obj", text_of(gl_object()));
  folder.file("l.lib", text_of(ArchiveBuilder{}
                                   .names(ArchiveBuilder::Names::microsoft)
                                   .member("x.obj", gl_object())
                                   .member("y.obj", code())
                                   .bytes()));
  const auto error = [](const std::string& name, const std::string& file) {
    return "archguard: error: " + name +
           ": is an object of MSVC's /GL, whose device code cannot be judged\n"
           "  fix: compile it without /GL, or verify what it is linked into\n" +
           file + ": not read whole, so nothing counts as covered\n";
  };
  CHECK(verify(folder, "x.obj", "8.0").out == error("x.obj", "x.obj"));
  CHECK(verify(folder, "x.obj", "8.0").exit_code == 2);
  CHECK(verify(folder, "l.lib", "8.0").out == error("l.lib(x.obj)", "l.lib"));
  CHECK(verify(folder, "l.lib", "8.0").exit_code == 2);
  const TemporaryFolder objects;
  objects.file("x.obj", text_of(gl_object()));
  CHECK(verify(objects, ".", "8.0").out ==
        "passed over unread: 1 object of MSVC's /GL (./x.obj); its device code is not judged\n"
        "  fix: compile it without /GL, or verify what it is linked into\nno binary in .\n");
  CHECK(verify(objects, ".", "8.0").exit_code == 2);
}

TEST_CASE("images of nvcc --concat are unknown, with a way out") {
  const TemporaryFolder folder;
  folder.file("t.fatbin", text_of(FatbinBuilder{}.image(0x100, "0", Bytes(64)).zstd().bytes()));
  const RunOutput run = run_archguard({"verify", "t.fatbin", "--device", "9.0@13.5"}, folder.path());
  CHECK(run.out.find("archguard: error: t.fatbin: unknown image: several images compressed as one (nvcc "
                     "--concat), which are not read\n  fix: build it without --concat\n") == 0);
  CHECK(run.exit_code == 2);
}
