// verify --needed and inspect --needed: the libraries of a program, found as the loader finds them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/pe_builder.h"
#include "support/builders/zip_builder.h"

using namespace archguard::test;

namespace {

Bytes code(int sm) {
  const Bytes cubin = CubinBuilder{}
                          .sm(sm)
                          .generation7(120)
                          .kernel("gemm", sass::join({sass::store(), sass::exit()}))
                          .bytes();
  return FatbinBuilder{}.cubin(sm, cubin).bytes();
}

// tool needs liba.so, which needs libb.so; both beside it. liba.so holds no device code.
void write_system(const TemporaryFolder& folder, int tool, int library) {
  folder.file("tool", text_of(ElfBuilder{}
                                  .executable()
                                  .section(".nv_fatbin", code(tool))
                                  .needed("liba.so")
                                  .needed("libcuda.so.1")
                                  .rpath("$ORIGIN")
                                  .bytes()));
  folder.file("liba.so", text_of(ElfBuilder{}.needed("libb.so").bytes()));
  folder.file("libb.so", text_of(ElfBuilder{}.section(".nv_fatbin", code(library)).bytes()));
}

RunOutput verify(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "verify");
  RunOutput run = run_archguard(arguments, folder.path());
  for (auto at = run.out.find(folder.path()); at != std::string::npos; at = run.out.find(folder.path()))
    run.out.replace(at, folder.path().size(), "<>");
  return run;
}

}  // namespace

TEST_CASE("a library that does not cover a device fails the program that needs it") {
  const TemporaryFolder folder;
  write_system(folder, 80, 90);
  CHECK(verify(folder, {"tool", "--device", "8.0"}).exit_code == 0);
  const RunOutput run =
      verify(folder, {"tool", "--device", "8.0", "--needed", "--target", "app", "--expect", "80-real"});
  CHECK(run.exit_code == 1);
}

TEST_CASE("the needed libraries alone, and a list of them") {
  const TemporaryFolder folder;
  write_system(folder, 90, 80);
  const RunOutput run =
      verify(folder, {"tool", "--device", "8.0", "--needed-only", "--brief", "--needed-list", "list"});
  CHECK(run.out == "<>/libb.so, needed by <>/liba.so: 1 of 1 covered\n");
  CHECK(run.exit_code == 0);
  CHECK(file_content(folder.path() + "/list") == folder.path() + "/liba.so\n" + folder.path() + "/libb.so\n");
}

TEST_CASE(
    "with --needed-only nothing that was named is lost: libraries, zip files, folders that cannot be "
    "walked") {
  const TemporaryFolder folder;
  write_system(folder, 90, 80);
  const std::string covered = "<>/libb.so, needed by <>/liba.so: 1 of 1 covered\n";
  CHECK(verify(folder, {"tool", "libb.so", "--device", "8.0", "--needed-only", "--brief"}).out == covered);

  folder.file("k.whl",
              text_of(ZipBuilder{}.deflated("a.so", ElfBuilder{}.needed("libx.so").bytes()).bytes()));
  const RunOutput zip = verify(folder, {"tool", "k.whl", "--device", "8.0", "--needed-only", "--brief"});
  CHECK(zip.out ==
        covered +
            "archguard: error: k.whl: is an archive; the libraries that its members need are found "
            "when it is unpacked\n  fix: unpack it and name the folder\n");
  CHECK(zip.exit_code == 2);
  const RunOutput inspected = run_archguard({"inspect", "k.whl", "--needed"}, folder.path());
  CHECK(inspected.exit_code == 2);

  // A path that is longer than the system takes, by steps that are not.
  const std::string step(200, 'f');
  const int top = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(::mkdirat(top, "deep", 0700) == 0);
  int at = ::openat(top, "deep", O_RDONLY | O_DIRECTORY);
  for (int i = 0; i < 21; ++i) {
    REQUIRE(::mkdirat(at, step.c_str(), 0700) == 0);
    const int next = ::openat(at, step.c_str(), O_RDONLY | O_DIRECTORY);
    ::close(at);
    at = next;
  }
  ::close(at);
  ::close(top);
  const RunOutput walked = verify(folder, {"tool", "deep", "--device", "8.0", "--needed-only", "--brief"});
  CHECK(walked.out.find(": cannot be walked: ") != std::string::npos);
  CHECK(walked.exit_code == 2);
}

TEST_CASE("in the JSON each library names who needs it") {
  const TemporaryFolder folder;
  write_system(folder, 80, 80);
  const RunOutput run =
      verify(folder, {"tool", "libb.so", "--device", "8.0", "--needed", "--format", "json"});
  const auto json = nlohmann::json::parse(run.out);
  CHECK(run.exit_code == 0);
  REQUIRE(json["files"].size() == 3);  // libb.so was named: it is judged once, as what it was named for
  CHECK(json["files"][0]["needed_by"].is_null());
  CHECK(json["files"][1]["path"] == "libb.so");
  CHECK(json["files"][1]["needed_by"].is_null());
  CHECK(json["files"][2]["path"] == "<>/liba.so");
  CHECK(json["files"][2]["needed_by"] == "tool");
  CHECK(json["files"][2]["by_linker"] == false);
  CHECK(json["files"][2]["verdict"] == "no-device-code");
  CHECK(json["needed"] == nlohmann::json::parse(R"({"passed_over":["libcuda.so.1"],"errors":[]})"));
  const auto plain =
      nlohmann::json::parse(verify(folder, {"tool", "--device", "8.0", "--format", "json"}).out);
  CHECK(!plain.contains("needed"));
  CHECK(!plain["files"][0].contains("needed_by"));
}

TEST_CASE("a library that is not found is unknown: who needs it, and where was looked") {
  const TemporaryFolder folder;
  write_system(folder, 80, 80);
  REQUIRE(::unlink((folder.path() + "/libb.so").c_str()) == 0);
  const RunOutput run = verify(folder, {"tool", "--device", "8.0", "--needed", "--brief"});
  CHECK(run.out.find("tool: 1 of 1 covered\n"
                     "archguard: error: <>/liba.so: needs libb.so, which is not found; looked in <>, "
                     "/etc/ld.so.cache, ") == 0);
  CHECK(run.exit_code == 2);

  folder.file("libb.so", "not a library");
  const RunOutput damaged = verify(folder, {"tool", "--device", "8.0", "--needed", "--brief"});
  CHECK(damaged.exit_code == 2);
}

TEST_CASE("--rpath-link finds what the linker found, behind the loader's own folders") {
  const TemporaryFolder folder;
  write_system(folder, 80, 80);
  REQUIRE(::mkdir((folder.path() + "/linked").c_str(), 0755) == 0);
  REQUIRE(::rename((folder.path() + "/libb.so").c_str(), (folder.path() + "/linked/libb.so").c_str()) == 0);
  const RunOutput run = verify(folder, {"tool", "--device", "8.0", "--needed", "--brief", "--rpath-link",
                                        folder.path() + "/no", "--rpath-link", folder.path() + "/linked"});
  CHECK(
      run.out.find("<>/linked/libb.so, needed by <>/liba.so, found where the linker did: 1 of 1 covered\n") !=
      std::string::npos);
  CHECK(run.exit_code == 0);
}

TEST_CASE("what belongs to --needed is refused without it") {
  const TemporaryFolder folder;
  write_system(folder, 80, 80);
  const RunOutput run = verify(folder, {"tool", "--device", "8.0", "--sysroot", "/"});
  CHECK(run.exit_code == 2);
  const RunOutput inspect = run_archguard({"inspect", "tool", "--sysroot", "/"}, folder.path());
  CHECK(inspect.err == run.err);
  CHECK(inspect.exit_code == 2);
  const RunOutput link = run_archguard({"inspect", "tool", "--rpath-link", "/"}, folder.path());
  const RunOutput absent = verify(folder, {"absent", "--device", "8.0", "--needed-only"});
  CHECK(absent.out.find("archguard: error: absent: ") == 0);
  CHECK(absent.exit_code == 2);
}

TEST_CASE(
    "inspect --needed lists the libraries with device code, counts the others, and tells what is not found") {
  const TemporaryFolder folder;
  write_system(folder, 80, 90);
  const RunOutput run = run_archguard({"inspect", "tool", "--needed"}, folder.path());
  CHECK(run.out.find("\n" + folder.path() + "/libb.so: ") != std::string::npos);
  CHECK(run.out.find("\n1 needed library without device code\n") != std::string::npos);
  CHECK(run.exit_code == 0);
  REQUIRE(::unlink((folder.path() + "/libb.so").c_str()) == 0);
  const RunOutput missing = run_archguard({"inspect", "tool", "--needed"}, folder.path());
  CHECK(missing.err.find("archguard: error: " + folder.path() +
                         "/liba.so: needs libb.so, which is not found;") == 0);
  CHECK(missing.exit_code == 2);
}
