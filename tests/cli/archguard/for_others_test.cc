// Fat binaries for other devices only that a verdict rests on: it is said.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard::test;

namespace {

CubinBuilder cubin(int sm, const std::string& kernel) {
  return CubinBuilder{}.sm(sm).generation7(130).kernel(kernel, sass::join({sass::store(), sass::exit()}));
}
Bytes of_90a(const std::string& kernel) {
  return FatbinBuilder{}.cubin("90a", cubin(90, kernel).marked_a().bytes()).bytes();
}
Bytes of_80(const std::string& kernel) {
  return FatbinBuilder{}.cubin(80, cubin(80, kernel).bytes()).bytes();
}

std::string program(const std::vector<Bytes>& fatbins) {
  Bytes all;
  for (const Bytes& each : fatbins) {
    all.resize((all.size() + 7) / 8 * 8);
    all.insert(all.end(), each.begin(), each.end());
  }
  return text_of(ElfBuilder{}.executable().section(".nv_fatbin", all).bytes());
}

const std::string kFixFor80 =
    "build the source files or libraries that they come from for 80-real too (nvcc: "
    "-gencode=arch=compute_80,code=sm_80; TORCH_CUDA_ARCH_LIST: 8.0), unless the program launches their "
    "kernels on other devices alone";

}  // namespace

TEST_CASE("where as many fat binaries are for other devices as run, a file is covered with one warning") {
  const TemporaryFolder folder;
  folder.file("p", program({of_90a("own"), of_80("helper")}));
  const auto verify = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"verify", "p"});
    return run_archguard(more, folder.path());
  };
  RunOutput run = verify({"--device", "8.0@13.0", "--device", "8.6@13.0", "--device", "8.9@13.0", "--brief"});
  CHECK(
      run.out ==
      "archguard: warning: p: 1 of 2 fat binaries are for other devices only, not asked for on 8.0 "
      "(--device 8.0@13.0), nor on 8.6 (--device 8.6@13.0), 8.9 (--device 8.9@13.0); the first: "
      "p(.nv_fatbin+0x0), kernel 'own' (sm_90a cubin, no PTX)\n"
      "  fix: build the source files or libraries that they come from for 80-real, 86-real and 89-real too "
      "(nvcc: -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_86,code=sm_86 "
      "-gencode=arch=compute_89,code=sm_89; TORCH_CUDA_ARCH_LIST: 8.0 8.6 8.9), unless the program launches "
      "their kernels on other devices alone\n"
      "p: 3 of 3 covered\n");
  CHECK(run.exit_code == 0);
  const auto result = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--format", "json"});
    return nlohmann::json::parse(verify(more).out)["files"][0]["results"][0]["for_other_devices"];
  };
  CHECK(result({"--device", "8.0"}) == nlohmann::json{{"containers", 1},
                                                      {"where", "p(.nv_fatbin+0x0)"},
                                                      {"found", "sm_90a cubin, no PTX"},
                                                      {"kernel", "own"},
                                                      {"fix", kFixFor80}});
  // Nothing rests on it where the device is not covered; a library chooses.
  CHECK(result({"--device", "9.0"}) == nullptr);
  CHECK(result({"--device", "7.5"}) == nullptr);
  CHECK(result({"--device", "8.0", "--scope", "library"}) == nullptr);
  CHECK(verify({"--device", "8.0", "--scope", "library"}).out.find("other devices only,") ==
        std::string::npos);
  // Who waives their kernels has said that they are launched elsewhere alone.
  folder.file("waivers", "own,8.*,the host asks for 9.0 first\n");
  run = verify({"--device", "8.0", "--waivers", "waivers"});
  CHECK(run.out.find("  covered    8.0 ") == 0);
}

TEST_CASE("where fewer are for other devices it is a note") {
  const TemporaryFolder folder;
  folder.file("p", program({of_80("first"), of_90a("own"), of_80("second")}));
  const RunOutput run = run_archguard({"verify", "p", "--device", "8.0"}, folder.path());
  CHECK(run.out.find("archguard: note: p: 1 of 3 fat binaries are for other devices only, not asked for on "
                     "8.0 (--device 8.0); the first: p(.nv_fatbin+0x") == 0);
  CHECK(run.out.find("\n  fix: " + kFixFor80 + "\n") != std::string::npos);
  CHECK(run_archguard({"verify", "p", "--device", "8.0", "--brief"}, folder.path()).out ==
        "p: 1 of 1 covered\n");
}
