// What the CMake package runs after the build of a target: check-target, check-changes.
#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "running.h"
#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard::test;
using Json = nlohmann::json;

namespace {

std::string library(const std::vector<int>& archs) {
  FatbinBuilder fatbin;
  for (const int sm : archs)
    fatbin.cubin(sm, CubinBuilder{}.sm(sm).kernel("gemm", sass::join({sass::store(), sass::exit()})).bytes());
  return text_of(ElfBuilder{}.shared().section(".nv_fatbin", fatbin.bytes()).bytes());
}

Bytes bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

struct Target {
  TemporaryFolder folder;
  std::string fleet = folder.file("fleet.csv", "name, compute_cap\nA100, 8.0\n");
  std::string built_file = folder.file("app.built", "");
  Json parameters{{"schema", "archguard.check/2"},
                  {"folder", "/none"},
                  {"named", true},
                  {"devices", true},
                  {"severity", "error"},
                  {"device_severity", "error"},
                  {"needed", "off"},
                  {"verify", {{"fleets", {fleet}}}}};
  std::string lines;

  explicit Target(const std::string& content) {
    lines = "target app\nlinked ON\ncuda-source main.cu\nword all 80-real;90-real\nfile " +
            folder.file("app", content) + "\n";
  }
  RunOutput check(std::vector<std::string> more = {}) {
    folder.file("app.json", parameters.dump());
    folder.file("app.built", lines);
    more.insert(more.begin(), {"check-target", folder.path() + "/app.json", "--built", built_file});
    return run_archguard(more);
  }
};

bool exists(const Target& target, const std::string& name) {
  return std::filesystem::exists(target.folder.path() + "/" + name);
}

}  // namespace

TEST_CASE("A target that covers its devices passes, and one that does not fails with the reason") {
  Target good(library({80}));
  auto done = good.check();
  CHECK(done.exit_code == 0);
  CHECK(done.out.find("app: 1 of 1 covered") != std::string::npos);
  Target bad(library({90}));
  done = bad.check();
  CHECK(done.exit_code == 1);
  CHECK(done.err.find("archguard: error: target 'app' does not cover every device") != std::string::npos);
  bad.parameters["device_severity"] = "warn";
  done = bad.check();
  CHECK(done.exit_code == 0);
  CHECK(done.err.find("archguard: warning: target 'app' does not cover every device") != std::string::npos);
}

TEST_CASE(
    "What the objects hold is compared with CUDA_ARCHITECTURES, in CMake's spellings of true and false") {
  Target target(library({80}));
  const std::string object = "object " + target.folder.path() + "/app\n";
  const std::string good = target.lines;
  const auto asks = [&](const std::string& more) {
    target.lines = good + object + more;
    return target.check();
  };
  CHECK(asks("architectures 80-real\n").exit_code == 0);
  auto done = asks("architectures all\n");
  CHECK(done.exit_code == 1);
  CHECK(done.err.find("target 'app' lacks code that its CUDA_ARCHITECTURES asks for") != std::string::npos);
  done = asks("architectures native\n");
  CHECK(done.exit_code == 1);
  CHECK(done.err.find("asks for 'native' in CUDA_ARCHITECTURES") != std::string::npos);
  for (const char* off : {"OFF", "Off", "no", "N", "0", "x-NOTFOUND"})
    CHECK(asks("architectures " + std::string(off) + "\n").exit_code == 0);
  // A target that compiles to PTX holds one kind of image, whatever the list says.
  for (const char* on : {"ON", "On", "yes", "Y", "1"})
    CHECK(asks("architectures 90\none-kind " + std::string(on) + "\n").exit_code == 0);
  for (const char* off : {"Off", "no", "N", "False"})
    CHECK(asks("architectures 90\none-kind " + std::string(off) + "\n").exit_code == 1);
}

TEST_CASE("Parameters that are not understood are an error, never a question less") {
  Target target(library({80}));
  const auto wrong = [&](const char* key, const Json& value, const std::string& text) {
    const Json before = target.parameters;
    target.parameters[key] = value;
    const auto done = target.check();
    CHECK(done.exit_code == 2);
    CHECK_MESSAGE(done.err.find(text) != std::string::npos, done.err);
    target.parameters = before;
  };
  wrong("schema", "archguard.check/1", "is no archguard.check/2");
  wrong("color", "red", "has a member 'color' that is not understood");
  wrong("severity", "loud", "has a member 'severity' that is not understood");
  wrong("verify", {{"fleet", "f.csv"}}, "has a member 'fleet' that is not understood");
  wrong("named", "yes", "has a member 'named' that is not understood");
  target.lines += "colour red\n";
  CHECK(target.check().exit_code == 2);
  target.lines = "file " + target.folder.path() + "/app\n";
  CHECK(target.check().err.find("names no target") != std::string::npos);
  target.lines = "target app\nfile " + target.folder.path() + "/gone\n";
  const auto done = target.check();
  CHECK(done.exit_code == 2);
  CHECK(done.err.find("gone is missing") != std::string::npos);
}

TEST_CASE("An answer is kept while every file is the same, and a replaced one is noticed") {
  Target target(library({80}));
  const std::string base = target.folder.path() + "/app";
  const std::vector<std::string> keeping{"--stamp", base + ".stamp", "--state", base + ".state"};
  const std::string checks = target.folder.file("checks", base + "\n");
  std::this_thread::sleep_for(
      std::chrono::milliseconds(20));  // a file that is as new as the check is not kept
  CHECK(target.check(keeping).exit_code == 0);
  CHECK(exists(target, "app.stamp"));
  CHECK(exists(target, "app.state"));
  CHECK(run_archguard({"check-changes", checks}).exit_code == 0);
  CHECK(exists(target, "app.changed"));  // what build rules depend on is made where it is missing
  target.folder.file("app.changed", "old");
  CHECK(run_archguard({"check-changes", checks}).exit_code == 0);
  CHECK(file_content(base + ".changed") == "old");

  target.folder.file("fleet.csv", "name, compute_cap\nH100, 9.0\n");
  CHECK(run_archguard({"check-changes", checks}).exit_code == 0);
  CHECK(file_content(base + ".changed").empty());
  CHECK(target.check(keeping).exit_code == 1);
  CHECK_FALSE(exists(target, "app.stamp"));
}

TEST_CASE("Several targets are checked at once, and later those alone that changed") {
  Target group(library({80}));
  const std::string base = group.folder.path() + "/all";
  const auto lines_of = [&](const std::string& name, const std::vector<int>& archs) {
    return "target " + name + "\nlinked ON\nfile " + group.folder.file(name, library(archs)) + "\n";
  };
  group.parameters["named"] = false;
  group.lines = lines_of("one", {80}) + lines_of("two", {90}) + lines_of("three", {80});
  const std::vector<std::string> keeping{"--stamp",       base + ".stamp",   "--state",
                                         base + ".state", "--report-folder", base};
  const auto check = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // what is as new as the check is not kept
    return group.check(keeping);
  };
  auto done = check();
  CHECK(done.exit_code == 1);
  CHECK(done.out.find("one: 1 of 1 covered") != std::string::npos);
  CHECK(done.out.find("three: 1 of 1 covered") != std::string::npos);
  CHECK(done.err.find("target 'two' does not cover every device") != std::string::npos);
  CHECK_FALSE(exists(group, "all.stamp"));
  CHECK(exists(group, "all/one.json"));
  done = check();  // what failed is told of again, and nothing else
  CHECK(done.exit_code == 1);
  CHECK(done.out.find("one:") == std::string::npos);
  CHECK(done.err.find("target 'two' does not cover every device") != std::string::npos);

  lines_of("two", {80});
  done = check();
  CHECK(done.exit_code == 0);
  CHECK(done.out.find("two: 1 of 1 covered") != std::string::npos);
  CHECK(done.out.find("one:") == std::string::npos);
  CHECK(exists(group, "all.stamp"));
  const std::string checks = group.folder.file("checks", base + "\n");
  group.folder.file("all.changed", "old");
  CHECK(run_archguard({"check-changes", checks}).exit_code == 0);
  CHECK(file_content(base + ".changed") == "old");
  lines_of("three", {90});
  CHECK(run_archguard({"check-changes", checks}).exit_code == 0);
  CHECK(file_content(base + ".changed").empty());

  CHECK(group.check({"--only", "one"}).exit_code == 0);
  CHECK(group.check({"--only", "three"}).exit_code == 1);
  done = group.check({"--only", "four"});
  CHECK(done.exit_code == 2);
  CHECK(done.err.find("has no target 'four'") != std::string::npos);
}

namespace {

// An app that finds liba.so through its RUNPATH, "<folder>/first:<folder>/second", and asks what of the
// answer is kept.
struct Searching : Target {
  const std::string base = folder.path() + "/app", checks = folder.file("checks", base + "\n");

  explicit Searching(const char* needed) : Target("") {
    lines = "target app\nlinked ON\nfile " +
            folder.file("app", text_of(ElfBuilder{}
                                           .needed("liba.so")
                                           .runpath(folder.path() + "/first:" + folder.path() + "/second")
                                           .bytes())) +
            "\n";
    parameters["named"] = false;
    parameters["needed"] = needed;
    parameters["verify_needed"] = {{"fleets", {fleet}}};
    for (const char* name : {"first", "second"})
      std::filesystem::create_directories(folder.path() + "/" + name);
  }
  RunOutput check() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // what is as new as the check is not kept
    return Target::check({"--stamp", base + ".stamp", "--state", base + ".state"});
  }
  bool is_noticed() {
    folder.file("app.changed", "old");
    CHECK(run_archguard({"check-changes", checks}).exit_code == 0);
    return file_content(base + ".changed").empty();
  }
};

}  // namespace

TEST_CASE("A library that comes to stand before the checked one is noticed") {
  Searching app("error");
  app.folder.file("second/liba.so", library({80}));
  CHECK(app.check().exit_code == 0);
  CHECK_FALSE(app.is_noticed());
  app.folder.file("first/other.so", library({90}));
  CHECK_FALSE(app.is_noticed());
  app.folder.file("first/liba.so", library({90}));
  CHECK(app.is_noticed());
  const auto done = app.check();
  CHECK(done.exit_code == 1);
  CHECK(done.err.find("needs libraries that do not cover every device") != std::string::npos);
  CHECK_FALSE(app.is_noticed());
  std::filesystem::remove(app.folder.path() + "/first/liba.so");
  CHECK(app.is_noticed());
  CHECK(app.check().exit_code == 0);
}

TEST_CASE("So is one for another machine that the loader passed over, when it is replaced") {
  Searching app("error");
  app.folder.file("first/liba.so", text_of(ElfBuilder{}.shared().machine(183).bytes()));
  app.folder.file("second/liba.so", library({80}));
  CHECK(app.check().exit_code == 0);
  CHECK_FALSE(app.is_noticed());
  app.folder.file("first/liba.so", library({90}));
  CHECK(app.is_noticed());
}

TEST_CASE("That a library is not found is an answer to be kept, until it is there") {
  Searching app("warn");
  auto done = app.check();
  CHECK(done.exit_code == 0);
  CHECK(done.err.find("needs libraries that could not be judged") != std::string::npos);
  CHECK(exists(app, "app.state"));
  CHECK_FALSE(app.is_noticed());
  const std::string state = file_content(app.base + ".state");
  CHECK(state.find("/etc/ld.so.cache") != std::string::npos);
  CHECK(app.check().err == done.err);
  app.folder.file("second/liba.so", library({80}));
  CHECK(app.is_noticed());
  done = app.check();
  CHECK(done.exit_code == 0);
  CHECK(done.err.empty());
}

TEST_CASE("A fix names the CUDA libraries that the target links, a few of them") {
  const auto fix_with = [](const std::vector<std::string>& linked) {
    Target target(library({90}));
    target.lines += "architectures 90-real\n";
    for (const std::string& each : linked) target.lines += "linked-cuda " + each + "\n";
    const std::string out = target.check().out;
    const std::size_t begin = out.find("  fix: ") + 7;
    return out.substr(begin, out.find('\n', begin) - begin);
  };
  const std::string own = "add 80-real to CUDA_ARCHITECTURES of target 'app'";
  CHECK(fix_with({""}) == own);
  CHECK(fix_with({"olib"}) == own + " and of the CUDA library that it links (olib)");
  CHECK(fix_with({"a", "b"}) == own + " and of the CUDA libraries that it links (a, b)");
  CHECK(fix_with({"a", "b", "c", "d", "e", "f"}) ==
        own + " and of the CUDA libraries that it links (a, b, c, d and 2 more)");
}

TEST_CASE("Objects of LLVM's bitcode are passed over where no CUDA source was compiled to them") {
  const std::string bitcode = "BC\xc0\xde and more";
  const auto check = [&](const std::string& file, const std::string& name) {
    Target target(file);
    const std::string object = target.folder.file("k.cu.o", library({80}));
    target.lines +=
        "object " + object + "\nobject " + target.folder.file(name, bitcode) + "\narchitectures 80-real\n";
    target.lines += "cuda-source k.cu\ncuda-source also.cpp\n";
    return target.check();
  };
  const auto archive = [&](const std::string& name) {
    return text_of(
        ArchiveBuilder{}.member(name, bytes_of(bitcode)).member("k.cu.o", bytes_of(library({80}))).bytes());
  };
  const std::string note =
      "archguard: note: target 'app' has 1 object of LLVM bitcode or MSVC's /GL, passed over, since ";
  auto done = check(library({80}), "main.cpp.o");
  CHECK(done.exit_code == 0);
  CHECK(done.err.find(note) == 0);
  done = check(archive("main.cpp.o"), "main.cpp.o");
  CHECK(done.exit_code == 0);
  // Where a CUDA compiler made it: what became of it in the file that it is linked into was judged.
  for (const char* name : {"other.cu.o", "also.cpp.o", "also.o"}) {
    done = check(library({80}), name);
    CHECK(done.exit_code == 0);
    CHECK(done.err.find(note + "the file that they are linked into was judged (") == 0);
    CHECK(check(library({90}), name).exit_code == 1);
    done = check(archive(name), name);
    CHECK(done.exit_code == 1);
    CHECK(done.err.find("target 'app' could not be judged") != std::string::npos);
  }
}

TEST_CASE("A file that cannot be looked at is an error, and no crash") {
  Target target(library({80}));
  const std::string loop = target.folder.path() + "/loop";
  std::filesystem::create_symlink("loop", loop);
  target.lines = "target app\nlinked ON\ncuda-source main.cu\nword all 80-real;90-real\nfile " + loop + "\n";
  const auto asked = target.check();
  CHECK(asked.exit_code == 2);
  CHECK(asked.err.find("archguard: error: " + loop + ": ") != std::string::npos);
  const std::string deep = target.folder.path() + "/" + std::string(300, 'x');
  for (const std::string& base : {loop + "/app", deep}) {
    const auto done = run_archguard({"check-changes", target.folder.file("all.checks", base + "\n")});
    CHECK(done.exit_code == 2);
    CHECK(done.err.find("archguard: error: " + base + ".stamp: cannot be looked at: ") != std::string::npos);
  }
}
