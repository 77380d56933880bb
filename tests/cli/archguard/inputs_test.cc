// Every kind of input as a user names it: wheels, zip files, thin archives, folders.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "running.h"
#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/zip_builder.h"

using namespace archguard::test;

namespace {

Bytes library() {
  const Bytes cubin = CubinBuilder{}.kernel("gemm", sass::join({sass::store(), sass::exit()})).bytes();
  return ElfBuilder{}.section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin).bytes()).bytes();
}

ZipBuilder wheel() {
  return ZipBuilder{}
      .deflated("pkg/libfoo.so", library())
      .deflated("pkg/__init__.py", bytes_of_text("import os\n"))
      .stored("pkg/libbar.a", ArchiveBuilder{}.member("x.o", library()).bytes())
      .stored("pkg/k.ptx", bytes_of_text(kPtx90));
}

}  // namespace

TEST_CASE("the members of a wheel are judged one by one, and what is no binary is passed over") {
  const TemporaryFolder folder;
  folder.file("p.whl", text_of(wheel().bytes()));
  const RunOutput run = run_archguard({"verify", "p.whl", "--device", "8.0@13.0", "--brief"}, folder.path());
  CHECK(run.out ==
        "p.whl(pkg/libfoo.so): 1 of 1 covered\n"
        "p.whl(pkg/libbar.a): 1 of 1 covered\n"
        "p.whl(pkg/k.ptx): 1 of 1 covered\n"
        "3 files: 3 covered\n");
  CHECK(run.exit_code == 0);
  const auto json = nlohmann::json::parse(
      run_archguard({"verify", "p.whl", "--device", "7.5", "--format", "json"}, folder.path()).out);
  CHECK(json["verdict"] == "not-covered");
  CHECK(json["files"][0]["path"] == "p.whl");
  CHECK(json["files"][0]["member"] == "pkg/libfoo.so");
  CHECK(json["files"][1]["results"][0]["errors"][0]["containers"][0]["member"] == "pkg/libbar.a(x.o)");
}

TEST_CASE(
    "a program of Python in one file, as zipapp, pex and shiv make it, is not passed over in a folder") {
  const TemporaryFolder folder;
  folder.file("app.pyz", text_of(wheel().script("#!/usr/bin/env python3\n").bytes()));
  folder.file("run.sh", "#!/bin/sh\n");
  const RunOutput run = run_archguard({"verify", ".", "--device", "8.0@13.0", "--brief"}, folder.path());
  CHECK(run.out.find("./app.pyz(pkg/libfoo.so): 1 of 1 covered\n") == 0);
  CHECK(run.out.find("run.sh") == std::string::npos);
  CHECK(run.exit_code == 0);
}

TEST_CASE("inspect names the member of a wheel, and those of archives in it") {
  const TemporaryFolder folder;
  folder.file("p.whl", text_of(wheel().bytes()));
  const RunOutput run = run_archguard({"inspect", "p.whl", "--by", "container"}, folder.path());
  CHECK(run.out.find("p.whl(pkg/libfoo.so)(.nv_fatbin+0x0): ") == 0);
  CHECK(run.out.find("\np.whl(pkg/libbar.a(x.o))(.nv_fatbin+0x0): ") != std::string::npos);
  CHECK(run.out.find("\np.whl(pkg/k.ptx): 141 B of device code in 1 fat binary; the file has 141 B\n") !=
        std::string::npos);
  CHECK(run.exit_code == 0);
  const auto json =
      nlohmann::json::parse(run_archguard({"inspect", "p.whl", "--format", "json"}, folder.path()).out);
  CHECK(json["files"].size() == 3);
  CHECK(json["files"][1]["path"] == "p.whl");
  CHECK(json["files"][1]["member"] == "pkg/libbar.a(x.o)");
}

TEST_CASE("a zip file within a wheel is read; one without code says so, and in a folder is passed over") {
  const TemporaryFolder folder;
  folder.file("o.zip", text_of(ZipBuilder{}.deflated("in/p.whl", wheel().bytes()).bytes()));
  const RunOutput run = run_archguard({"verify", "o.zip", "--device", "8.0@13.0", "--brief"}, folder.path());
  CHECK(run.out.find("o.zip(in/p.whl(pkg/libfoo.so)): 1 of 1 covered\n") == 0);
  CHECK(run.exit_code == 0);

  const TemporaryFolder plain;
  plain.file("p.zip", text_of(ZipBuilder{}.deflated("a.txt", bytes_of_text("text")).bytes()));
  const RunOutput none = run_archguard({"verify", "p.zip", "--device", "8.0"}, plain.path());
  CHECK(none.out == "p.zip: no device code\n");
  CHECK(none.exit_code == 3);
  CHECK(run_archguard({"inspect", "."}, plain.path()).out == "no binary in .\n");
}

TEST_CASE(
    "a folder: in order, each file once, loops and pipes passed over, what cannot be read is an error") {
  const TemporaryFolder folder;
  for (const char* name : {"b", "a", "c"}) folder.file(std::string(name) + ".ptx", kPtx90);
  REQUIRE(::mkdir((folder.path() + "/sub").c_str(), 0755) == 0);
  folder.file("sub/k.ptx", kPtx90);
  REQUIRE(::symlink("..", (folder.path() + "/sub/loop").c_str()) == 0);
  REQUIRE(::symlink("a.ptx", (folder.path() + "/link.ptx").c_str()) == 0);
  REQUIRE(::mkfifo((folder.path() + "/pipe.ptx").c_str(), 0600) == 0);
  folder.file("d.so",
              "\x7f"
              "ELF");
  const RunOutput run = run_archguard({"verify", ".", "--device", "8.0@13.0", "--brief"}, folder.path());
  CHECK(run.out ==
        "./a.ptx: 1 of 1 covered\n"
        "./b.ptx: 1 of 1 covered\n"
        "./c.ptx: 1 of 1 covered\n"
        "archguard: error: ./d.so: ELF header needs 52 bytes, the file has 4\n"
        "  fix: the file is cut off: build it again, or copy it whole\n"
        "./d.so: not read whole, so nothing counts as covered\n"
        "./sub/k.ptx: 1 of 1 covered\n"
        "5 files: 4 covered, 1 unknown\n");
  CHECK(run.err.empty());
  CHECK(run.exit_code == 2);
  for (const char* name : {"pipe.ptx", "/dev/null"}) {
    const RunOutput odd = run_archguard({"inspect", name}, folder.path());
    CHECK(odd.out == "archguard: error: " + std::string(name) + ": is not a regular file\n");
    CHECK(odd.exit_code == 2);
  }
}

TEST_CASE("on a terminal the report begins a line of its own, whatever progress was shown") {
  const TemporaryFolder folder;
  folder.file("a.ptx", kPtx90);
  folder.file("b.ptx", kPtx90);
  const std::string command = std::string(ARCHGUARD) + " verify . --device 8.0@13.0 --brief";
  const RunOutput run = run_process({"script", "-qec", command, "/dev/null"},
                                    {{"TERM", "xterm"}, {"NO_COLOR", "1"}}, folder.path());
  const std::string report = "./a.ptx: 1 of 1 covered\r\n./b.ptx: 1 of 1 covered\r\n2 files: 2 covered\r\n";
  CHECK(archguard::ends_with(run.out, report));
  CHECK((run.out == report ||
         archguard::ends_with(run.out, "\r\033[K" + report)));  // the latter of a slow machine
  const RunOutput dumb = run_process({"script", "-qec", command, "/dev/null"},
                                     {{"TERM", "dumb"}, {"NO_COLOR", "1"}}, folder.path());
  CHECK(dumb.out == report);
}

TEST_CASE("a folder that may not be read is an error, and the rest is read") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  REQUIRE(::mkdir((folder.path() + "/shut").c_str(), 0) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  std::vector<std::string> command = {ARCHGUARD, "verify", folder.path(), "--device", "8.0@13.0", "--brief"};
  if (::geteuid() == 0) {  // whom nothing is shut to
    const std::vector<std::string> nobody = {"setpriv", "--reuid=65534", "--clear-groups"};
    command.insert(command.begin(), nobody.begin(), nobody.end());
  }
  const RunOutput run = run_process(command);
  CHECK(run.out == folder.path() + "/k.ptx: 1 of 1 covered\narchguard: error: " + folder.path() +
                       "/shut: cannot be walked: Permission denied\n2 files: 1 covered, 1 unknown\n");
  CHECK(run.exit_code == 2);
}

TEST_CASE("a library in a folder that came to nothing is unknown; a linker's script is passed over") {
  const TemporaryFolder folder;
  folder.file("a.ptx", kPtx90);
  folder.file("libscript.so", "/* GNU ld script */ INPUT(libx.so.1)");
  folder.file("empty.txt", "");
  CHECK(run_archguard({"verify", ".", "--device", "9.0@13.0"}, folder.path()).exit_code == 0);
  for (const std::string& content : {std::string(),
                                     std::string("\x7f"
                                                 "E"),
                                     std::string(64, '\0')})
    for (const char* name : {"libx.so", "libx.so.1.2", "x.fatbin", "x.ptx", "x.exe", "x.pyd", "x.whl",
                             "x.node", "x.mexa64", "x.dylib"}) {
      if (content.empty() && name == std::string_view("x.whl")) continue;  // some stand in wheels on purpose
      const TemporaryFolder other;
      other.file("a.ptx", kPtx90);
      other.file(name, content);
      const RunOutput run = run_archguard({"verify", ".", "--device", "9.0@13.0", "--brief"}, other.path());
      CHECK(run.exit_code == 2);
      CHECK(run.out.find("archguard: error: ./" + std::string(name)) != std::string::npos);
      CHECK(run.out.find("2 files: 1 covered, 1 unknown\n") != std::string::npos);
      CHECK(run_archguard({"inspect", "."}, other.path()).exit_code == 2);
    }
}

TEST_CASE("a file in a folder that its name calls an archive is passed over, and named") {
  for (const std::string& content : {std::string(), std::string(64, '\0'), std::string("<html>\n")})
    for (const char* name : {"x.tar", "x.tar.gz", "x.deb", "x.zip", "x.jar", "x.egg", "x.tbz2", "x.tlz",
                             "x.tzst", "x.crate", "x.war", "x.aar", "x.nupkg", "X.TGZ"}) {
      const TemporaryFolder folder;
      folder.file("a.ptx", kPtx90);
      folder.file(name, content);
      const RunOutput run = run_archguard({"verify", ".", "--device", "9.0@13.0", "--brief"}, folder.path());
      CHECK(run.exit_code == 0);
      CHECK(run.out.find("1 file named like an archive that is none (./" + std::string(name) + ")") !=
            std::string::npos);
      const TemporaryFolder alone;
      alone.file(name, content);
      CHECK(run_archguard({"verify", ".", "--device", "9.0@13.0"}, alone.path()).exit_code == 2);
      CHECK(run_archguard({"verify", name, "--device", "9.0@13.0"}, alone.path()).exit_code == 2);
    }
}

TEST_CASE("an object in a folder that is all zeros is unknown") {
  for (const char* name : {"x.o", "x.a", "x.lib", "x.obj"}) {
    const TemporaryFolder folder;
    folder.file("a.ptx", kPtx90);
    folder.file(name, std::string(5000, '\0'));
    CHECK(run_archguard({"verify", ".", "--device", "9.0@13.0"}, folder.path()).exit_code == 2);
    folder.file(name, "");
    CHECK(run_archguard({"verify", ".", "--device", "9.0@13.0"}, folder.path()).exit_code == 0);
  }
}

TEST_CASE("a file that git-lfs did not fetch is unknown where its name promises a binary") {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\n"
      "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
  for (const char* name : {"libx.so", "x.whl", "libx.a"}) {
    const TemporaryFolder folder;
    folder.file("a.ptx", kPtx90);
    folder.file("notes.txt", pointer);
    folder.file(name, pointer);
    const RunOutput run = run_archguard({"verify", ".", "--device", "9.0@13.0", "--brief"}, folder.path());
    const std::string path = std::string("./") + name;
    CHECK(run.out == "./a.ptx: 1 of 1 covered\narchguard: error: " + path +
                         ": is a pointer of git-lfs, not the file itself\n  fix: git lfs pull\n" + path +
                         ": not read whole, so nothing counts as covered\n"
                         "passed over unread: 1 pointer of git-lfs or git-annex (./notes.txt); the file "
                         "itself is not there\n  fix: git lfs pull, or git annex get\n"
                         "2 files: 1 covered, 1 unknown\n");
    CHECK(run.exit_code == 2);
  }
}

TEST_CASE("a wheel of Python alone in a folder is passed over") {
  const TemporaryFolder folder;
  folder.file("a.ptx", kPtx90);
  folder.file("p.whl", text_of(ZipBuilder{}.stored("p.py", bytes_of_text("import os\n")).bytes()));
  const RunOutput run = run_archguard({"verify", ".", "--device", "9.0@13.0", "--brief"}, folder.path());
  CHECK(run.out == "./a.ptx: 1 of 1 covered\n");
  CHECK(run.exit_code == 0);
}

TEST_CASE("a zip file with nothing but compressed files is no file without device code") {
  const TemporaryFolder folder;
  const std::vector<Bytes> magics = {
      {0x1f, 0x8b, 8}, {0xfd, '7', 'z', 'X', 'Z', 0}, {0x28, 0xb5, 0x2f, 0xfd}, {'B', 'Z', 'h', '9'}};
  for (const Bytes& magic : magics) {
    folder.file("c.zip", text_of(ZipBuilder{}.stored("README", {}).deflated("in.tar.x", magic).bytes()));
    const std::string error =
        "archguard: error: c.zip(in.tar.x): is packed itself, and is not read\n"
        "  fix: unpack it and name the folder\n";
    const RunOutput verified =
        run_archguard({"verify", "c.zip", "--device", "9.0@13.0", "--brief"}, folder.path());
    CHECK(verified.out == error + "c.zip: not read whole, so nothing counts as covered\n");
    CHECK(verified.exit_code == 2);
    const RunOutput inspected = run_archguard({"inspect", "c.zip"}, folder.path());
    CHECK(inspected.out == error);
    CHECK(inspected.exit_code == 2);
  }
  const std::string unread =
      "passed over unread: 1 archive or compressed file (./c.zip); what it holds is not judged\n"
      "  fix: unpack it and name the folder\n";
  CHECK(run_archguard({"verify", ".", "--device", "8.0"}, folder.path()).out == unread + "no binary in .\n");
  // Beside a binary it is mostly data, and named.
  folder.file("d.zip", text_of(ZipBuilder{}.stored("x.gz", magics[0]).stored("x.so", library()).bytes()));
  const RunOutput beside =
      run_archguard({"verify", "d.zip", "--device", "8.0@13.0", "--brief"}, folder.path());
  CHECK(beside.out ==
        "d.zip(x.so): 1 of 1 covered\n"
        "passed over unread: 1 archive or compressed file (d.zip(x.gz)); what it holds is not judged\n"
        "  fix: unpack it and name the folder\n");
  CHECK(beside.exit_code == 0);
}

TEST_CASE("LLVM bitcode cannot be judged, by name or in an archive; in a folder it is passed over") {
  const TemporaryFolder folder;
  const Bytes bitcode = {'B', 'C', 0xc0, 0xde, 0x35, 0x14, 0, 0};
  folder.file("x.o", text_of(bitcode));
  folder.file("a.ptx", kPtx90);
  const auto error = [](const std::string& name, const std::string& file) {
    return "archguard: error: " + name +
           ": is LLVM bitcode, whose device code cannot be judged\n"
           "  fix: compile it without -flto, or verify what it is linked into\n" +
           file + ": not read whole, so nothing counts as covered\n";
  };
  const auto verify = [&](const std::string& path) {
    return run_archguard({"verify", path, "--device", "8.0@13.0", "--brief"}, folder.path());
  };
  CHECK(verify("x.o").out == error("x.o", "x.o"));
  CHECK(verify("x.o").exit_code == 2);
  CHECK(verify(".").exit_code == 0);
  folder.file("l.a", text_of(ArchiveBuilder{}.member("x.o", bitcode).member("y.o", library()).bytes()));
  CHECK(verify("l.a").out == error("l.a(x.o)", "l.a"));
  CHECK(verify("l.a").exit_code == 2);
}

TEST_CASE("a sparse file of 20 GB is answered at once: holes are not read") {
  const TemporaryFolder folder;
  const Bytes code = FatbinBuilder{}.ptx("80", "9.0", kPtx90).bytes();
  const std::string path = folder.file("big.so", text_of(library()));
  const off_t end = off_t{20} << 30;
  REQUIRE(::truncate(path.c_str(), end) == 0);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(end - 65536)
        .write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
  }
  const RunOutput run = run_archguard({"inspect", "big.so", "--by", "container"}, folder.path());
  CHECK(run.out.find("big.so(.nv_fatbin+0x0): ") == 0);
  CHECK(run.out.find("\nbig.so(+0x4ffff0000): ") != std::string::npos);
  CHECK(run.exit_code == 0);

  // A fat binary that claims all of it.
  folder.file("big.fatbin", std::string("\x50\xed\x55\xba\x01\x00\x10\x00", 8) +
                                std::string("\xf0\xff\xff\xff\x04\0\0\0", 8));
  REQUIRE(::truncate((folder.path() + "/big.fatbin").c_str(), end) == 0);
  const RunOutput claims = run_archguard({"inspect", "big.fatbin"}, folder.path());
  CHECK(claims.exit_code == 2);
}

TEST_CASE("images that nobody knows are named, twenty of them, and inspect exits with 2") {
  const TemporaryFolder folder;
  FatbinBuilder fatbin;
  for (int i = 0; i < 30; ++i) fatbin.image(0x99, "80", filler(8));
  folder.file("t.fatbin", text_of(fatbin.bytes()));
  for (const bool kernels : {false, true}) {
    std::vector<std::string> arguments = {"inspect", "t.fatbin"};
    if (kernels) arguments.emplace_back("--kernels");
    const RunOutput run = run_archguard(arguments, folder.path());
    CHECK(run.exit_code == 2);
    std::string lines;
    for (int i = 0; i < 20; ++i) lines += "archguard: error: t.fatbin: unknown image: kind 0x99\n";
    lines += "archguard: 10 more errors in t.fatbin; --format json has them all\n";
    CHECK(run.out.substr(run.out.find("archguard: error")) == lines);
  }
  const auto json =
      nlohmann::json::parse(run_archguard({"inspect", "t.fatbin", "--format", "json"}, folder.path()).out);
  CHECK(json["errors"].size() == 30);
  CHECK(json["files"][0]["containers"][0]["images"][0]["unknown"] == "kind 0x99");
}

TEST_CASE("what is not known of an image and changes no verdict is a warning, once") {
  const TemporaryFolder folder;
  const Bytes cubin =
      CubinBuilder{}.flags(0x10).kernel("gemm", sass::join({sass::store(), sass::exit()})).bytes();
  folder.file("two.fatbin", text_of(FatbinBuilder{}.cubin(80, cubin).cubin(80, cubin).bytes()));
  const std::string text = "two.fatbin: cubin has e_flags 0x10, whose meaning is not known";
  const RunOutput verify =
      run_archguard({"verify", "two.fatbin", "--device", "8.0", "--brief"}, folder.path());
  CHECK(verify.out == "archguard: warning: " + text + "\ntwo.fatbin: 1 of 1 covered\n");
  CHECK(verify.exit_code == 0);
  const auto json = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    return nlohmann::json::parse(run_archguard(arguments, folder.path()).out);
  };
  CHECK(json({"verify", "two.fatbin", "--device", "8.0"})["files"][0]["warnings"] ==
        nlohmann::json::array({text}));
  CHECK(json({"inspect", "two.fatbin", "--kernels"})["warnings"] == nlohmann::json::array({text}));
}

TEST_CASE("a cubin that does not tell its suffix is judged by each it may have") {
  const TemporaryFolder folder;
  const auto made_by = [&](const std::string& release) {
    const Bytes code = sass::join({sass::store(), sass::exit()});
    folder.file("k.cubin",
                text_of(CubinBuilder{}.sm(100).toolkit_info(release, "").kernel("gemm", code).bytes()));
    return run_archguard({"verify", "k.cubin", "--device", "10.3", "--brief"}, folder.path());
  };
  CHECK(made_by("12.9").out == "k.cubin: 1 of 1 covered\n");
  const RunOutput unknown = made_by("13.0");
  CHECK(unknown.exit_code == 2);
  const auto json =
      nlohmann::json::parse(run_archguard({"inspect", "k.cubin", "--format", "json"}, folder.path()).out);
  CHECK(json["files"][0]["containers"][0]["images"][0]["or_archs"] ==
        nlohmann::json::array({"100a", "100f"}));
}

TEST_CASE("a thin archive reads the files that it names, and names the one that is missing") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  const auto both =
      ArchiveBuilder{}.thin().member("k.ptx", bytes_of_text(kPtx90)).member("lost.o", {}).bytes();
  folder.file("one.a", text_of(ArchiveBuilder{}.thin().member("k.ptx", bytes_of_text(kPtx90)).bytes()));
  folder.file("both.a", text_of(both));
  const RunOutput one = run_archguard({"verify", "one.a", "--device", "8.0@13.0", "--brief"}, folder.path());
  CHECK(one.out == "one.a: 1 of 1 covered\n");
  CHECK(one.exit_code == 0);
  const RunOutput run = run_archguard({"verify", "both.a", "--device", "8.0@13.0", "--brief"}, folder.path());
  CHECK(run.exit_code == 2);
}

TEST_CASE("a package without its files is no file without device code; in a folder it is passed over") {
  const TemporaryFolder folder;
  folder.file("p.deb", "!<arch>\ndebian-binary   0           0     0     100644  4         `\n2.0\n");
  folder.file("p.7z", "7z\xbc\xaf\x27\x1c");
  const std::string error =
      "archguard: error: p.deb: is a Debian package without data.tar, where its files are\n";
  const RunOutput verified = run_archguard({"verify", "p.deb", "--device", "8.0"}, folder.path());
  CHECK(verified.out == error);
  CHECK(verified.exit_code == 2);
  const RunOutput inspected = run_archguard({"inspect", "p.deb"}, folder.path());
  CHECK(inspected.out == error);
  CHECK(inspected.exit_code == 2);
  const std::string unread =
      "passed over unread: 2 archives or compressed files (./p.7z, ./p.deb); what they hold is not "
      "judged\n"
      "  fix: unpack them and name the folder\n";
  RunOutput run = run_archguard({"verify", ".", "--device", "8.0"}, folder.path());
  CHECK(run.out == unread + "no binary in .\n");
  CHECK(run.exit_code == 2);
  run = run_archguard({"inspect", "."}, folder.path());
  CHECK(run.out == unread + "no binary in .\n");
  CHECK(run.exit_code == 2);
  // Beside a library one line says so, and the answer is the library's.
  folder.file("x.so", text_of(library()));
  folder.file("x.tar.gz", "\x1f\x8b\x08");
  folder.file("y.tar", std::string(257, 'y') + "ustar");
  run = run_archguard({"verify", ".", "--device", "8.0@13.0", "--brief"}, folder.path());
  CHECK(run.out ==
        "./x.so: 1 of 1 covered\n"
        "passed over unread: 4 archives or compressed files (./p.7z, ./p.deb, ./x.tar.gz, …); what they "
        "hold is "
        "not judged\n"
        "  fix: unpack them and name the folder\n");
  CHECK(run.exit_code == 0);
  const auto passed_over = nlohmann::json::array({"./p.7z", "./p.deb", "./x.tar.gz", "./y.tar"});
  for (std::vector<std::string> arguments :
       {std::vector<std::string>{"verify", ".", "--device", "8.0"}, {"inspect", "."}}) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto json = nlohmann::json::parse(run_archguard(arguments, folder.path()).out);
    CHECK(json["passed_over"] == passed_over);
  }
  const auto none =
      nlohmann::json::parse(run_archguard({"inspect", "x.so", "--format", "json"}, folder.path()).out);
  CHECK(none["passed_over"] == nlohmann::json::array());
}

TEST_CASE("a folder, or a list, without a binary is said to have none") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/empty");
  folder.file("list", "notes.txt\n");
  folder.file("notes.txt", "no binary\n");
  const RunOutput verified =
      run_archguard({"verify", "empty", "--files-from", "list", "--device", "8.0"}, folder.path());
  CHECK(verified.out == "no binary in empty, list\n");
  CHECK(verified.exit_code == 3);
  const RunOutput inspected = run_archguard({"inspect", "empty"}, folder.path());
  CHECK(inspected.out == "no binary in empty\n");
  CHECK(inspected.exit_code == 0);
}

TEST_CASE("in a list that ends names with NUL they may hold anything else") {
  const TemporaryFolder folder;
  const std::string names[] = {" a b.so ", "c\nd.so"};
  std::string nul, lines;
  for (const std::string& name : names) {
    folder.file(name, text_of(library()));
    nul += name + '\0';
  }
  folder.file("nul", nul);
  folder.file("lines", "  list.txt \n\n");
  folder.file("list.txt", "");
  const auto read = [&](const char* list) {
    return nlohmann::json::parse(
        run_archguard({"verify", "--files-from", list, "--device", "8.0", "--format", "json"}, folder.path())
            .out);
  };
  const auto json = read("nul");
  REQUIRE(json["files"].size() == 2);
  CHECK(json["files"][0]["path"] == names[0]);
  CHECK(json["files"][1]["path"] == names[1]);
  CHECK(json["verdict"] == "covered");
  CHECK(read("lines")["verdict"] == "no-device-code");
}
