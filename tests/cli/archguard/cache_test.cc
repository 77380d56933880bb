// verify --cache: the verdicts on needed libraries, taken again.
#include <dirent.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "kept/fields.h"
#include "kept/file_result_record.h"
#include "kept/kept_folder.h"
#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

test::Bytes library(int sm) {
  const test::Bytes cubin =
      CubinBuilder{}.sm(sm).kernel("gemm", sass::join({sass::store(), sass::exit()})).bytes();
  return ElfBuilder{}.section(".nv_fatbin", FatbinBuilder{}.cubin(sm, cubin).bytes()).bytes();
}

void pause_until_settled() {
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
}

struct Fixture {
  Fixture() {
    folder.file("tool", text_of(ElfBuilder{}.executable().needed("liba.so").rpath("$ORIGIN").bytes()));
    folder.file("liba.so", text_of(library(80)));
    pause_until_settled();
  }

  RunOutput verify(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"verify", "tool",    "--needed-only", "--device",
                                          "8.0",    "--brief", "--cache",       "cache"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_archguard(arguments, folder.path());
  }
  std::vector<std::string> records() const {
    std::vector<std::string> names;
    DIR* all = ::opendir((folder.path() + "/cache/verdicts").c_str());
    if (all == nullptr) return names;
    while (const dirent* entry = ::readdir(all))
      if (const std::string name = entry->d_name; name.find(".verdict") != std::string::npos)
        names.push_back(name);
    ::closedir(all);
    return names;
  }
  // Makes each record say something that no reading of the library does.
  void forge() const {
    for (const std::string& name : records()) {
      const KeptFolder kept(folder.path() + "/cache/verdicts");
      const std::uint64_t key = std::stoull(name, nullptr, 16);
      FileIdentity identity;
      std::string path, question, bytes;
      const auto content = kept.read(key);
      REQUIRE(content);
      kept::FieldReader reader(*content);
      reader(identity, path, question, bytes);
      auto result = decode_file_result(bytes);
      REQUIRE(result);
      result->warnings = {{path, "was not read", {}}};
      bytes = encode(*result);
      kept::FieldWriter writer;
      writer(identity, path, question, bytes);
      kept.write(key, writer.take());
    }
  }
  std::string forged() const {
    return "archguard: warning: " + folder.path() + "/liba.so: was not read\n" + covered;
  }

  TemporaryFolder folder;
  std::string covered = folder.path() + "/liba.so, needed by tool: 1 of 1 covered\n";
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a verdict is kept, and taken again while file and question are the same") {
  CHECK(verify().out == covered);
  REQUIRE(records().size() == 1);
  CHECK(verify().out == covered);
  forge();
  CHECK(verify().out == forged());
  CHECK(verify({"--target", "app", "--expect", "90-real", "--hollow", "error"}).out == forged());

  // Who asks for something else has it read.
  CHECK(verify({"--partly", "warn"}).out == covered);
  CHECK(verify({"--env", "CUDA_DISABLE_PTX_JIT=1"}).out == covered);
  CHECK(verify({"--device", "9.0"}).exit_code == 1);
  CHECK(records().size() == 4);
  folder.file("waivers.csv", "gemm,9.0,none\n");
  CHECK(verify({"--waivers", "waivers.csv"}).out.find("was not read") == std::string::npos);
  CHECK(records().size() == 4);
  CHECK(run_archguard(
            {"verify", "liba.so", "tool", "--needed", "--device", "8.0", "--brief", "--cache", "cache"},
            folder.path())
            .out.find("was not read") == std::string::npos);
  CHECK(records().size() == 4);
  const RunOutput alone =
      run_archguard({"verify", "tool", "--device", "8.0", "--cache", "cache"}, folder.path());
  CHECK(alone.exit_code == 2);

  // The JSON says the same, who needs the file included.
  const RunOutput json = verify({"--format", "json"});
  CHECK(json.out.find("\"" + folder.path() + "/liba.so: was not read\"") != std::string::npos);
  CHECK(json.out.find("\"needed_by\": \"tool\"") != std::string::npos);

  // Several folders: what one holds is enough.
  CHECK(run_archguard({"verify", "tool", "--needed", "--device", "8.0", "--brief", "--cache", "none",
                       "--cache", "cache"},
                      folder.path())
            .out.find("was not read") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a library that was replaced by an older one, damaged or cut is found") {
  CHECK(verify().out == covered);
  forge();
  struct stat before {};
  const std::string path = folder.path() + "/liba.so";
  REQUIRE(::stat(path.c_str(), &before) == 0);
  SUBCASE("by an older one of the same size") {
    folder.file("new", text_of(library(90)));
    const timespec old[2] = {{before.st_mtim.tv_sec - 1000, 0}, {before.st_mtim.tv_sec - 1000, 0}};
    REQUIRE(::utimensat(AT_FDCWD, (folder.path() + "/new").c_str(), old, 0) == 0);
    REQUIRE(::rename((folder.path() + "/new").c_str(), path.c_str()) == 0);
    struct stat now {};
    REQUIRE(::stat(path.c_str(), &now) == 0);
    CHECK(now.st_size == before.st_size);
    CHECK(verify().exit_code == 1);
  }
  SUBCASE("cut") {
    REQUIRE(::truncate(path.c_str(), before.st_size - 16) == 0);
    CHECK(verify().exit_code == 2);
  }
  CHECK(verify().out.find("was not read") == std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "what cannot be kept is judged each time, and nobody is told") {
  folder.file("cache", "no folder");
  CHECK(verify().out == covered);
  CHECK(verify().out == covered);
  const RunOutput nowhere = verify({"--cache", "/proc/nowhere"});
  CHECK(nowhere.out == covered);
  CHECK(nowhere.err.empty());
}

TEST_CASE_FIXTURE(Fixture, "checks of a parallel build say the same") {
  std::vector<std::thread> builds;
  std::vector<RunOutput> runs(6);
  for (RunOutput& run : runs) builds.emplace_back([&] { run = verify(); });
  for (std::thread& each : builds) each.join();
  for (const RunOutput& run : runs) CHECK(run.out == covered);
  CHECK(records().size() == 1);
}
