// diff: two releases, a baseline that was written down, and two fleets.
#include <doctest/doctest.h>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

std::string library(std::initializer_list<int> archs, const char* kernel = "gemm") {
  FatbinBuilder fatbin;
  for (const int sm : archs)
    fatbin.cubin(sm, CubinBuilder{}.sm(sm).kernel(kernel, sass::join({sass::store(), sass::exit()})).bytes());
  return text_of(ElfBuilder{}.section(".nv_fatbin", fatbin.bytes()).bytes());
}

struct Released {
  Released() {
    folder.file("old/libk.so.1", library({75, 80}));
    folder.file("new/libk.so.2", library({80}));
  }
  RunOutput run(std::vector<std::string> arguments) const { return run_archguard(arguments, folder.path()); }
  // Writes a baseline, as a shell would.
  void write(const std::string& name, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"inspect", "old", "--coverage", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const RunOutput written = run(arguments);
    REQUIRE(written.exit_code == 0);
    folder.file(name, written.out);
  }
  nlohmann::json document(std::vector<std::string> arguments, int status) const {
    arguments.insert(arguments.begin(), "diff");
    arguments.insert(arguments.end(), {"--format", "json"});
    const RunOutput out = run(arguments);
    CHECK(out.exit_code == status);
    return nlohmann::json::parse(out.out);
  }
  TemporaryFolder folder;
};

// What the document says, but for the names of the two sides.
nlohmann::json without_names(nlohmann::json document) {
  document.erase("old");
  document.erase("new");
  return document;
}

}  // namespace

TEST_CASE_FIXTURE(Released, "reports are written beside what is printed") {
  const RunOutput printed = run({"diff", "old", "new", "--format", "json", "--report", "markdown=a.md",
                                 "--report", "text=b.txt", "--report", "json=c.json"});
  CHECK(printed.exit_code == 1);
  CHECK(file_content(folder.path() + "/a.md") == run({"diff", "old", "new", "--format", "markdown"}).out);
  CHECK(file_content(folder.path() + "/b.txt") == run({"diff", "old", "new"}).out);
  CHECK(file_content(folder.path() + "/c.json") == printed.out);
  CHECK(run({"diff", "old", "missing", "--report", "markdown=never.md"}).exit_code == 2);
  CHECK(!std::filesystem::exists(folder.path() + "/never.md"));
}

TEST_CASE_FIXTURE(Released, "a device that is not covered any more is lost, and nothing the other way") {
  const auto lost = document({"old", "new"}, 1);
  CHECK(lost["schema"] == "archguard.diff/1");
  CHECK(lost["verdict"] == "lost");
  REQUIRE(lost["losses"].size() == 1);
  CHECK(lost["losses"][0]["kernels"][0] == "gemm");
  CHECK(lost["losses"][0]["code"] == 209);
  CHECK(lost["devices"][lost["losses"][0]["devices"][0].get<std::size_t>()]["compute_capability"] == "7.5");
  CHECK(document({"new", "old"}, 0)["verdict"] == "kept");
  CHECK(document({"old", "old"}, 0)["verdict"] == "kept");
}

TEST_CASE_FIXTURE(Released, "only the devices that are asked for can be lost") {
  CHECK(document({"old", "new", "--device", "8.0"}, 0)["verdict"] == "kept");
  CHECK(document({"old", "new", "--device", "8.0", "--device", "7.5@13.0"}, 1)["verdict"] == "lost");
}

TEST_CASE_FIXTURE(Released, "a baseline answers what the files did") {
  write("old.json");
  CHECK(without_names(document({"old.json", "new"}, 1)).at("losses").size() == 1);
  auto of_files = without_names(document({"old", "new"}, 1));
  auto of_baseline = without_names(document({"old.json", "new"}, 1));
  CHECK(of_files == of_baseline);
  CHECK(document({"old.json", "old.json"}, 0)["verdict"] == "kept");
}

TEST_CASE_FIXTURE(Released, "a baseline has verdicts for the devices that it was asked for") {
  write("old.json");
  folder.file("fleet.csv", "name,compute_cap,driver_cuda\nT4,7.5,13.0\n");
  const RunOutput refused = run({"diff", "old.json", "new", "--fleet", "fleet.csv"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("archguard inspect PATH --coverage --fleet fleet.csv --format json > old.json") !=
        std::string::npos);
  write("old.json", {"--fleet", "fleet.csv"});
  CHECK(document({"old.json", "new", "--fleet", "fleet.csv"}, 1)["verdict"] == "lost");
  CHECK(run({"diff", "old.json", "new", "--scope", "library"}).exit_code == 2);
}

TEST_CASE_FIXTURE(Released, "inspect without --coverage is no baseline, and its JSON is as it was") {
  folder.file("old.json", run({"inspect", "old", "--format", "json"}).out);
  const RunOutput refused = run({"diff", "old.json", "new"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("holds no verdicts to compare") != std::string::npos);
  CHECK(run({"inspect", "old", "--coverage"}).exit_code == 2);
  CHECK(run({"inspect", "old", "--fleet", "fleet.csv"}).exit_code == 2);
}

TEST_CASE_FIXTURE(Released, "what cannot be read is no loss: exit 2") {
  folder.file("new/libk.so.2", library({80}).substr(0, 300));
  CHECK(run({"diff", "old", "new"}).exit_code == 2);
  CHECK(run({"diff", "old", "nowhere"}).exit_code == 2);
  CHECK(run({"diff", "nowhere", "new"}).exit_code == 2);
}

TEST_CASE_FIXTURE(Released, "the size of device code may be bounded") {
  folder.file("big/libk.so.2", library({75, 80, 90}));
  CHECK(run({"diff", "old", "big"}).exit_code == 0);
  CHECK(run({"diff", "old", "big", "--grow", "100"}).exit_code == 0);
  CHECK(run({"diff", "old", "big", "--grow", "10%"}).exit_code == 1);
  CHECK(run({"diff", "old", "big", "--grow", "-1"}).exit_code == 2);
}

TEST_CASE_FIXTURE(Released, "a fat binary that is for other devices only now has lost the others") {
  const auto cubin = [](bool a) {
    CubinBuilder builder;
    builder.sm(90);
    if (a) builder.marked_a();
    return builder.kernel("gemm", sass::join({sass::store(), sass::exit()})).bytes();
  };
  FatbinBuilder other;
  other.cubin(80, CubinBuilder{}.sm(80).kernel("axpy", sass::join({sass::store(), sass::exit()})).bytes());
  FatbinBuilder was, is;
  was.cubin(80, CubinBuilder{}.sm(80).kernel("gemm", sass::join({sass::store(), sass::exit()})).bytes());
  is.cubin("90a", cubin(true));
  const auto joined = [&](FatbinBuilder& first) {
    test::Bytes bytes = first.bytes();
    const test::Bytes more = other.bytes();
    bytes.insert(bytes.end(), more.begin(), more.end());
    return text_of(ElfBuilder{}.section(".nv_fatbin", bytes).bytes());
  };
  folder.file("a.so", joined(was));
  folder.file("b.so", joined(is));
  REQUIRE(run({"verify", "b.so", "--device", "8.0"}).exit_code == 0);
  CHECK(document({"a.so", "b.so", "--device", "8.0"}, 1)["losses"][0]["kernels"][0] == "gemm");
}

TEST_CASE_FIXTURE(Released, "of two fleets only what comes can break") {
  folder.file("from.csv", "name,compute_cap,driver_cuda\nT4,7.5,12.4\nA100,8.0,12.4\n");
  folder.file("to.csv", "name,compute_cap,driver_cuda\nA100,8.0,12.4\nA100,8.0,13.0\n");
  folder.file("older.csv", "name,compute_cap,driver_cuda\nV100,7.0,12.4\nT4,7.5,12.4\n");
  const auto kept = document({"new", "--fleet-from", "from.csv", "--fleet-to", "to.csv"}, 0);
  CHECK(kept["verdict"] == "kept");
  REQUIRE(kept["devices"].size() == 3);
  CHECK(kept["devices"][0]["move"] == "goes");
  CHECK(kept["devices"][1]["move"] == "stays");
  CHECK(kept["devices"][2]["move"] == "comes");
  const auto lost = document({"new", "--fleet-from", "from.csv", "--fleet-to", "older.csv"}, 1);
  CHECK(lost["verdict"] == "lost");
  CHECK(run({"diff", "new", "--fleet-from", "from.csv"}).exit_code == 2);
  // What was not covered before does not break.
  CHECK(run({"diff", "new", "--fleet-from", "from.csv", "--fleet-to", "from.csv"}).exit_code == 0);
}

TEST_CASE_FIXTURE(Released, "diff takes two") {
  CHECK(run({"diff", "old"}).exit_code == 2);
  CHECK(run({"diff", "old", "new", "new"}).exit_code == 2);
  CHECK(run({"diff"}).exit_code == 2);
}

TEST_CASE_FIXTURE(Released, "names may hold versions, in wheels and folders, too") {
  folder.file("cuda-12.8/lib/libcudart.so.12.8", library({75, 80}));
  folder.file("cuda-12.8/1.2/k.so", library({75}));
  folder.file("cuda-12.9/lib/libcudart.so.12.9", library({80}));
  folder.file("cuda-12.9/1.3/k.so", library({75}));
  const auto lost = document({"cuda-12.8", "cuda-12.9"}, 1);
  REQUIRE(lost["losses"].size() == 1);
  CHECK(lost["losses"][0]["how"] == "lost");
  for (const auto& pair : lost["files"]) CHECK((!pair["old"].is_null() && !pair["new"].is_null()));
}

TEST_CASE_FIXTURE(Released, "a fat binary that moved is looked for where it is now") {
  folder.file("a/liba.so", library({75, 80}, "moved"));
  folder.file("a/libb.so", library({80}, "stays"));
  folder.file("b/libb.so", library({75, 80}, "moved"));
  CHECK(document({"a/liba.so", "b"}, 0)["verdict"] == "kept");
  folder.file("c/libb.so", library({80}, "moved"));
  CHECK(document({"a/liba.so", "c"}, 1)["losses"][0]["kernels"][0] == "moved");
}

TEST_CASE_FIXTURE(Released, "what was passed over is never nothing lost, and never gone") {
  folder.file("packed/rest.tar.gz", std::string("\x1f\x8b\x08\0", 4) + "rest");
  CHECK(run({"diff", "old", "packed"}).exit_code == 2);
  CHECK(run({"diff", "packed", "old"}).exit_code == 2);
  folder.file("packed/other.so", library({80}, "other"));
  const auto doubt = document({"old", "packed", "--device", "8.0"}, 2);
  CHECK(doubt["verdict"] == "unknown");
  CHECK(doubt["losses"][0]["how"] == "unknown");
  CHECK(doubt["passed_over"].size() == 1);
}

TEST_CASE_FIXTURE(Released, "images held as data are compared, too") {
  const auto as_data = [](std::initializer_list<int> archs) {
    test::Bytes data(64);
    for (const int sm : archs) {
      const auto image =
          CubinBuilder{}.sm(sm).kernel("gemm", sass::join({sass::store(), sass::exit()})).bytes();
      data.insert(data.end(), image.begin(), image.end());
      data.resize((data.size() + 64) / 64 * 64);
    }
    return text_of(ElfBuilder{}.section(".rodata", data).bytes());
  };
  folder.file("was.so", as_data({75, 80}));
  folder.file("is.so", as_data({80}));
  CHECK(document({"was.so", "is.so", "--device", "7.5"}, 1)["losses"][0]["kernels"][0] == "gemm");
  CHECK(document({"was.so", "is.so", "--device", "8.0"}, 0)["verdict"] == "kept");
}

TEST_CASE_FIXTURE(Released, "a kernel that does nothing any more is lost, though verify only warns") {
  const auto of = [](bool empty) {
    FatbinBuilder fatbin;
    const auto real = sass::join({sass::store(), sass::exit()});
    fatbin.cubin(75, CubinBuilder{}.sm(75).kernel("gemm", empty ? sass::exit() : real).bytes());
    fatbin.cubin(80, CubinBuilder{}.sm(80).kernel("gemm", real).bytes());
    return text_of(ElfBuilder{}.section(".nv_fatbin", fatbin.bytes()).bytes());
  };
  folder.file("was.so", of(false));
  folder.file("is.so", of(true));
  REQUIRE(run({"verify", "is.so", "--device", "7.5"}).exit_code == 0);
  CHECK(document({"was.so", "is.so"}, 1)["losses"][0]["kernels"][0] == "gemm");
  CHECK(document({"is.so", "is.so"}, 0)["verdict"] == "kept");
}

TEST_CASE_FIXTURE(Released, "a baseline tells how it was judged") {
  write("old.json");
  CHECK(run({"diff", "old.json", "new", "--embedded", "error"}).exit_code == 2);
  write("old.json", {"--embedded", "error"});
  CHECK(run({"diff", "old.json", "new", "--embedded", "error"}).exit_code == 1);
  CHECK(run({"inspect", "old", "--embedded", "error"}).exit_code == 2);
}
