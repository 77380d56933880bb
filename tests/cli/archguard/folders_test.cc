// What stands in a folder beside binaries: links, packed files, images among data. Of nothing that may hold
// device code it is said that there is none.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/zip_builder.h"

using namespace archguard::test;

namespace {

Bytes cubin(int arch) {
  return CubinBuilder{}.sm(arch).kernel("gemm", sass::join({sass::store(), sass::exit()})).bytes();
}

Bytes library() {
  return ElfBuilder{}.section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin(80)).bytes()).bytes();
}

Bytes plain_program() {
  return ElfBuilder{}.section(".rodata", bytes_of_text("a program")).bytes();
}

std::string zeros(std::size_t count) {
  return std::string(count, '\0');
}

// LTO-IR of 80, as nvcc -ltoir begins it: see src/fatbin/nvvm_image.cc.
Bytes ltoir() {
  Bytes bytes = {0xed, 'C', 'N', 0x7f, 1, 0, 7, 0, 2, 0, 9, 0, 24, 0, 1, 0, 32, 0, 0, 0, 32, 0, 0, 0};
  const Bytes options = {1, 0, 0x20, 3, 99, 0, 0, 0};  // arch 800
  bytes.insert(bytes.end(), options.begin(), options.end());
  bytes.insert(bytes.end(), 100, 0xa5);
  return bytes;
}

void make_folder(const TemporaryFolder& folder, const std::string& name) {
  REQUIRE(::mkdir((folder.path() + "/" + name).c_str(), 0755) == 0);
}

void link(const TemporaryFolder& folder, const std::string& target, const std::string& name) {
  REQUIRE(::symlink(target.c_str(), (folder.path() + "/" + name).c_str()) == 0);
}

RunOutput verify(const TemporaryFolder& folder, std::vector<std::string> paths,
                 std::vector<std::string> options = {"--device", "8.0@13.0"}) {
  paths.insert(paths.begin(), "verify");
  paths.insert(paths.end(), options.begin(), options.end());
  paths.push_back("--brief");
  return run_archguard(paths, folder.path());
}

const std::string kPackedRest = "); what it holds is not judged\n  fix: unpack it and name the folder\n";

std::string packed_line(const std::string& name) {
  return "passed over unread: 1 archive or compressed file (" + name + kPackedRest;
}

}  // namespace

TEST_CASE("a folder of links to files is judged by what they lead to, each file once") {
  const TemporaryFolder folder;
  make_folder(folder, "store");
  make_folder(folder, "links");
  make_folder(folder, "links/sub");
  folder.file("store/libfoo.so.1.2", text_of(library()));
  link(folder, "../store/libfoo.so.1.2", "links/libfoo.so.1");
  link(folder, "libfoo.so.1", "links/libfoo.so");
  link(folder, "../../store/libfoo.so.1.2", "links/sub/again.so");
  const RunOutput run = verify(folder, {"links"});
  CHECK(run.out == "links/libfoo.so: 1 of 1 covered\n");
  CHECK(run.exit_code == 0);
  CHECK(verify(folder, {"links"}, {"--device", "9.0"}).exit_code == 1);
  // By its own name, where that is asked for as well.
  CHECK(verify(folder, {"links", "store"}).out == "store/libfoo.so.1.2: 1 of 1 covered\n");
  CHECK(verify(folder, {"store/libfoo.so.1.2", "links"}).out == "store/libfoo.so.1.2: 1 of 1 covered\n");
  CHECK(run_archguard({"inspect", "links"}, folder.path()).out.find("links/libfoo.so:") == 0);
}

TEST_CASE("a file that is named and stands in a folder that is named is judged once") {
  const TemporaryFolder folder;
  make_folder(folder, "d");
  folder.file("d/a.so", text_of(library()));
  folder.file("d/b.so", text_of(library()));
  folder.file("list", "d/b.so\nd/a.so\n");
  const std::string each = "d/a.so: 1 of 1 covered\nd/b.so: 1 of 1 covered\n";
  CHECK(verify(folder, {"d", "d/a.so"}).out == each);
  CHECK(verify(folder, {"d/a.so", "d"}).out == each);
  CHECK(verify(folder, {"d", "d"}).out == verify(folder, {"d"}).out);
  CHECK(verify(folder, {"d/a.so", "--files-from", "list"}).out == each);
}

TEST_CASE("a link to a folder that is not walked is named; one within ends no walk") {
  const TemporaryFolder folder;
  make_folder(folder, "store");
  make_folder(folder, "profile");
  make_folder(folder, "profile/lib");
  folder.file("store/libfoo.so", text_of(library()));
  link(folder, "../store", "profile/share");
  link(folder, "../store", "profile/twice");
  link(folder, "lib", "profile/lib64");
  link(folder, "..", "profile/lib/up");
  const std::string note =
      "passed over unread: 1 link to another folder (profile/share); what it leads to is not judged\n"
      "  fix: name it as well\n";
  const RunOutput alone = verify(folder, {"profile"});
  CHECK(alone.out == note + "no binary in profile\n");
  CHECK(alone.exit_code == 2);
  CHECK(run_archguard({"inspect", "profile"}, folder.path()).exit_code == 2);
  folder.file("profile/lib/libbar.so", text_of(library()));
  const RunOutput beside = verify(folder, {"profile"});
  CHECK(beside.out == "profile/lib/libbar.so: 1 of 1 covered\n" + note);
  CHECK(beside.exit_code == 0);
  const auto json = nlohmann::json::parse(
      run_archguard({"verify", "profile", "--device", "8.0@13.0", "--format", "json"}, folder.path()).out);
  CHECK(json["passed_over"] == nlohmann::json{"profile/share"});
  CHECK(verify(folder, {"profile", "store"}).out ==
        "profile/lib/libbar.so: 1 of 1 covered\nstore/libfoo.so: 1 of 1 covered\n2 files: 2 covered\n");
}

TEST_CASE("a broken link counts where it is named like a binary") {
  const TemporaryFolder folder;
  make_folder(folder, "d");
  link(folder, "nowhere", "d/notes.txt");
  link(folder, "self.log", "d/self.log");
  CHECK(verify(folder, {"d"}).exit_code == 3);
  link(folder, ".git/annex/objects/x", "d/libfoo.so.1");
  const RunOutput run = verify(folder, {"d"});
  CHECK(run.exit_code == 2);
}

TEST_CASE("packed bytes behind a program are passed over, and said so") {
  const Bytes program = plain_program();
  const std::string at_end = "p(+0x" + [&] {
    char text[20];
    std::snprintf(text, sizeof text, "%zx", program.size());
    return std::string(text);
  }() + ")";
  const std::string payloads[] = {std::string("\x1f\x8b\x08"),
                                  std::string("\xfd") + "7zXZ",
                                  "\x28\xb5\x2f\xfd",
                                  "BZh91AY",
                                  std::string("7z\xbc\xaf\x27\x1c"),
                                  "hsqs",
                                  ";!@Install@!UTF-8!\n",
                                  zeros(4) + "\xef\xbe\xad\xde" + "NullsoftInst",
                                  std::string("\x78\xda packed ") + "MEI\014\013\012\013\016" + zeros(80),
                                  "PK\3\4 cut",
                                  "other bytes, PK\3\4 packed PK\5\6" + zeros(18) + "a signature"};
  for (const std::string& payload : payloads) {
    const TemporaryFolder folder;
    folder.file("p", text_of(program) + payload + zeros(600));
    const RunOutput run = verify(folder, {"p"});
    CHECK(run.out == "p: no device code\n" + packed_line(at_end));
    CHECK(run.exit_code == 2);
    folder.file("libfoo.so", text_of(library()) + payload);
    const RunOutput beside = verify(folder, {"libfoo.so"});
    CHECK(beside.out.find("libfoo.so: 1 of 1 covered\npassed over unread: 1 archive") == 0);
    CHECK(beside.exit_code == 0);
  }
  const TemporaryFolder folder;
  folder.file("p", text_of(program) + "a licence, or a signature");
  CHECK(verify(folder, {"p"}).exit_code == 3);
}

TEST_CASE("archives in sections of their own, and what UPX made, are packed bytes in a program") {
  const TemporaryFolder folder;
  Bytes archive = bytes_of_text("packed MEI\014\013\012\013\016");
  archive.resize(archive.size() + 80);
  folder.file("p", text_of(ElfBuilder{}.section("pydata", archive).bytes()));
  CHECK(verify(folder, {"p"}).exit_code == 2);
  const Bytes xz = bytes_of_text(
      "\xfd"
      "7zXZ and so on");
  folder.file("static", text_of(ElfBuilder{}.section(".static.archive", xz, 1, 0).bytes()));
  CHECK(verify(folder, {"static"}).exit_code == 2);
  folder.file("debug", text_of(ElfBuilder{}.section(".gnu_debugdata", xz, 1, 0).bytes()));
  CHECK_MESSAGE(verify(folder, {"debug"}).exit_code == 3, "for debuggers");
  const Bytes upx =
      ElfBuilder{}.section(".rodata", bytes_of_text("a program")).without_section_table().bytes();
  folder.file("bare", text_of(upx));
  CHECK(verify(folder, {"bare"}).exit_code == 3);
  folder.file("upx", text_of(upx) + "UPX!");
  CHECK(verify(folder, {"upx"}).exit_code == 2);
}

namespace {

// zlib's format, of "kernel".
const std::string kZlib("\x78\x9c\xcb\x4e\x2d\xca\x4b\xcd\x01\0\x08\xc9\x02\x82", 14);

// The same, of so many zeros that are not compressed, without its end.
std::string stored_stream(std::uint16_t size) {
  const auto byte = [](unsigned value) { return static_cast<char>(value & 255U); };
  return std::string("\x78\x01\1") + byte(size) + byte(size >> 8U) + byte(~size) + byte(~size >> 8U) +
         zeros(size);
}

}  // namespace

TEST_CASE("packed formats in a folder are passed over, and said so") {
  const auto at = [](std::size_t offset, const std::string& text, std::size_t size) {
    std::string file(size, '\0');
    return file.replace(offset, text.size(), text);
  };
  using namespace std::string_literals;
  const std::string old_cpio = "\xc7\x71\0\0\0\0\xa4\x81\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\5\0"s + "k\0hello"s;
  std::string disk = at(510, "\x55\xaa", 4096);
  disk[0] = '\xeb';
  disk.replace(446, 16, "\x80\0\0\0\x83\0\0\0\0\x08\0\0\0\x10\0\0"s);
  std::string ext4 = at(1080, "\x53\xef", 8192);
  ext4[1024] = 16;
  std::string installer = at(0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 4096);
  installer[30] = 9;
  installer[48] = 1;
  const std::string document = installer;
  installer.replace(1024 + 80, 16, "\x84\x10\x0c\0\0\0\0\0\xc0\0\0\0\0\0\0\x46"s);
  const std::pair<const char*, std::string> files[] = {
      {"squashfs", "hsqs"},
      {"dwarfs", std::string("DWARFS\x02\x05", 8)},
      {"cpio", "070701"},
      {"cpio", old_cpio},
      {"lz4", "\x04\x22\x4d\x18"},
      {"lzma", "\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0\x10"s},
      {"lzip", "LZIP\1"},
      {"snappy", "\xff\6\0\0sNaPpY"s},
      {"pzstd", "\x50\x2a\x4d\x18\4"},
      {"zlib", kZlib},
      {"zlib", stored_stream(9000)},
      {"cab", "MSCF\0\0\0\0"s},
      {"msi", installer},
      {"rar", "Rar!\x1a\x07\1"},
      {"compress", "\x1f\x9d\x90"},
      {"sif", "#!/usr/bin/env run-singularity\n" + zeros(40)},
      {"run", "#!/bin/sh\ntail -n +3 $0 | tar x; exit\n\x1f\x8b\x08" + zeros(8)},
      {"iso", at(32'769, "CD001", 40'000)},
      {"disk", disk},
      {"ext4", ext4},
      {"dmg", zeros(1024) + at(0, "koly\0\0\0\x04"s, 512)},
      {"nar", "\r\0\0\0\0\0\0\0nix-archive-1"s},
  };
  for (const auto& [name, content] : files) {
    const TemporaryFolder folder;
    folder.file(name, content);
    const RunOutput run = verify(folder, {"."});
    CHECK(run.out == packed_line(std::string("./") + name) + "no binary in .\n");
    CHECK(run.exit_code == 2);
  }
  const std::string git =
      "\x78\x9c\x4b\xca\xc9\x4f\x52\x30\x63\xc8\x4e\x2d\xca\x4b\xcd\x01\0\x1e\x43\x04\x77"s;
  const std::string others[] = {"#!/bin/sh\necho\n",
                                "BZhang wrote this",
                                document,
                                "]",
                                zeros(5000),
                                at(510, "\x55\xaa", 600),
                                "x^2 + y^2 = z^2, and so on\n",
                                "x^2" + std::string(5000, 'a'),
                                kZlib.substr(0, kZlib.size() - 1),
                                stored_stream(9000).replace(3, 2, "no"),
                                "\x78\x9c\3\0\0\0\0\1"s,  // of nothing
                                git};
  for (const std::string& content : others) {
    const TemporaryFolder folder;
    folder.file("x", content);
    const RunOutput run = verify(folder, {"."});
    CHECK(run.out == "no binary in .\n");
    CHECK(run.exit_code == 3);
  }
}

TEST_CASE("a packed member of a zip file is named, too") {
  const TemporaryFolder folder;
  folder.file("p.whl", text_of(ZipBuilder{}
                                   .stored("x.so", library())
                                   .stored("data.squashfs", bytes_of_text("hsqs packed"))
                                   .stored("p",
                                           [] {
                                             Bytes program = plain_program();
                                             const Bytes packed = {0x1f, 0x8b, 8};
                                             program.insert(program.end(), packed.begin(), packed.end());
                                             return program;
                                           }())
                                   .bytes()));
  const RunOutput run = verify(folder, {"p.whl"});
  CHECK(run.out.find("2 archives or compressed files (p.whl(p)(+0x") != std::string::npos);
  CHECK(run.out.find(", p.whl(data.squashfs))") != std::string::npos);
}

TEST_CASE("pointers of git-lfs and git-annex and objects of bitcode are no files without device code") {
  const std::pair<const char*, const char*> files[] = {
      {"weights.bin", "version https://git-lfs.github.com/spec/v1\n"},
      {"weights.bin", "/annex/objects/SHA256E-s12\n"},
      {"x.o", "BC\xc0\xde and more"}};
  for (const auto& [name, content] : files) {
    const TemporaryFolder folder;
    folder.file(name, content);
    const RunOutput run = verify(folder, {"."});
    CHECK(run.out.find("passed over unread: 1 ") == 0);
    CHECK(run.exit_code == 2);
  }
  const TemporaryFolder folder;
  folder.file("libdevice.10.bc", "BC\xc0\xde and more");
  CHECK(verify(folder, {"."}).exit_code == 3);
}

TEST_CASE("bytecode of CUDA Tile in a folder is passed over, and said so") {
  const TemporaryFolder folder;
  folder.file("f/kernel.tilebc", std::string("\x7fTileIR\0\x0d\x05", 10));
  const RunOutput run = run_archguard({"verify", "f", "--device", "9.0@13.5"}, folder.path());
  CHECK(run.exit_code == 2);
  CHECK(run.out.find("passed over unread: 1 file of CUDA Tile IR (f/kernel.tilebc)") != std::string::npos);
}

TEST_CASE("images in the data that programs write down are judged") {
  const std::string image = text_of(cubin(80));
  const std::pair<const char*, std::string> files[] = {
      {"kernel.pkl", "\x80\4\x95" + zeros(9) + image + "."},
      {"0f3a_2", std::string(40, 'a') + image},
      {"k.cubin", std::string(40, 'a') + image},
      {"data", zeros(100) + image},
      {"big.plan", "ftrt" + zeros(5'000'000) + image},
  };
  for (const auto& [name, content] : files) {
    const TemporaryFolder folder;
    folder.file(name, content);
    for (const char* path : {".", name}) {
      const RunOutput run = verify(folder, {path});
      CHECK(run.out.find(": 1 of 1 covered\n") != std::string::npos);
      CHECK(run.exit_code == 0);
      CHECK(verify(folder, {path}, {"--device", "9.0"}).exit_code == 1);
    }
  }
  const TemporaryFolder folder;
  folder.file("large.bin",
              zeros(5'000'000) + image);  // of a folder's data, what may be large is not searched
  folder.file("notes.md", "```\n" + kPtx90 + "```\n");
  CHECK(verify(folder, {"."}).exit_code == 3);
  CHECK(verify(folder, {"large.bin"}).exit_code == 0);
  CHECK(verify(folder, {"notes.md"}).out.find("is no ELF or PE file") != std::string::npos);
}

TEST_CASE("a file of LTO-IR is unknown by itself, and passed over in a folder") {
  const TemporaryFolder folder;
  make_folder(folder, "lt");
  folder.file("lt/k.ltoir", text_of(ltoir()));
  const RunOutput alone = verify(folder, {"lt"});
  CHECK(alone.out ==
        "passed over unread: 1 file of LTO-IR (lt/k.ltoir); what a program links of it when it runs is not "
        "judged\n  fix: verify what nvcc -dlto links of it\nno binary in lt\n");
  CHECK(alone.exit_code == 2);
  const RunOutput named = verify(folder, {"lt/k.ltoir"});
  CHECK(named.out.find("archguard: unknown: lt/k.ltoir: ") == 0);
  CHECK(named.exit_code == 2);
  folder.file("lt/libfoo.so", text_of(library()));
  CHECK(verify(folder, {"lt"}).exit_code == 0);
  folder.file("lt/k.ltoir", text_of(ltoir()).substr(0, 24) + zeros(20));
  CHECK(verify(folder, {"lt"}).out.find("whose head is not understood") != std::string::npos);
}

TEST_CASE("a folder or a list without a file is told beside others") {
  const TemporaryFolder folder;
  folder.file("a/k.cubin", text_of(CubinBuilder{}.sm(80).kernel("k", sass::exit()).bytes()));
  folder.file("list", "");
  std::filesystem::create_directory(folder.path() + "/none");
  const auto passed_over = [](const std::string& path) {
    return "passed over unread: 1 path without a file (" + path +
           "); nothing there is judged\n  fix: put the files there, or take it out of the command\n";
  };
  CHECK(verify(folder, {"none", "a"}).out.find(passed_over("none")) != std::string::npos);
  CHECK(verify(folder, {"a", "--files-from", "list"}).out.find(passed_over("list")) != std::string::npos);
  CHECK(verify(folder, {"a"}).out.find("passed over") == std::string::npos);
  CHECK(verify(folder, {"none"}).out == "no binary in none\n");
  CHECK(verify(folder, {"none", "--files-from", "list"}).out == "no binary in none, list\n");
}
