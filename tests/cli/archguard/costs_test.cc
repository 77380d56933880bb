// inspect --by kernel --sort size: what kernels cost.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

struct Libraries {
  Libraries() {
    folder.file("lib/a.so", library({75, 80}, "gemm"));
    folder.file("lib/b.so", library({80, 90}, "axpy"));
  }
  static std::string library(std::initializer_list<int> archs, const char* kernel) {
    FatbinBuilder fatbin;
    for (const int sm : archs)
      fatbin
          .cubin(sm, CubinBuilder{}.sm(sm).kernel(kernel, sass::join({sass::store(), sass::exit()})).bytes())
          .zstd();
    return text_of(ElfBuilder{}.section(".nv_fatbin", fatbin.bytes()).bytes());
  }
  RunOutput run(const std::vector<std::string>& arguments) const {
    return run_archguard(arguments, folder.path());
  }
  TemporaryFolder folder;
};

using Sums = std::map<std::string, std::uint64_t>;

void add(const nlohmann::json& size, Sums& sums) {
  for (const char* key : {"size", "uncompressed_size"}) sums[key] += size[key].get<std::uint64_t>();
}

}  // namespace

TEST_CASE_FIXTURE(Libraries, "what kernels cost adds up, over all files, to what is listed by arch") {
  const auto out =
      run({"inspect", "lib", "--by", "kernel", "--sort", "size", "--top", "1", "--format", "json"});
  REQUIRE(out.exit_code == 0);
  const auto document = nlohmann::json::parse(out.out);
  const auto& costs = document["costs"];
  CHECK(costs["images"] == 4);
  CHECK(costs["kernels"] == 2);
  CHECK(costs["largest"].size() == 1);
  Sums by_kernel, by_arch, in_files, total;
  for (const char* part : {"others", "shared", "without_kernels"}) add(costs[part], by_kernel);
  for (const auto& kernel : costs["largest"]) add(kernel, by_kernel);
  for (const auto& kind : costs["sizes"])
    for (const auto& arch : kind) add(arch, by_arch);
  for (const auto& file : document["files"])
    for (const auto& fatbin : file["containers"])
      for (const auto& image : fatbin["images"]) add(image, in_files);
  add(costs, total);
  CHECK(by_kernel == total);
  CHECK(by_arch == total);
  CHECK(in_files == total);
}

TEST_CASE_FIXTURE(Libraries, "kernels are ranked by size where kernels are listed, and at least one is") {
  CHECK(run({"inspect", "lib", "--sort", "size"}).exit_code == 2);
  CHECK(run({"inspect", "lib", "--top", "3"}).exit_code == 2);
  CHECK(run({"inspect", "lib", "--by", "kernel", "--top", "0"}).exit_code == 2);
  CHECK(run({"inspect", "lib", "--by", "kernel", "--top", "3"}).exit_code == 0);
}
