// Devices that a fleet leaves out by its column `excluded`.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard::test;

namespace {

// SASS of sm_80 alone, made by CUDA 13.0.
void fill(const TemporaryFolder& folder, const std::string& fleet) {
  const Bytes cubin = CubinBuilder{}
                          .sm(80)
                          .toolkit_info("13.0", "-arch sm_80")
                          .kernel("gemm", sass::join({sass::store(), sass::exit()}))
                          .bytes();
  folder.file("a.fatbin", text_of(FatbinBuilder{}.cubin(80, cubin).bytes()));
  folder.file("fleet.csv", fleet);
}

}  // namespace

TEST_CASE("a device that is left out is told with its reason, and neither judged nor counted") {
  const TemporaryFolder folder;
  fill(folder,
       "name, compute_cap, driver_version, count, excluded\n"
       "NVIDIA A100, 8.0, 580.95.05, 40,\n"
       "NVIDIA GeForce GT 710, 3.5, 470.82, 1, display card\n"
       "NVIDIA K20, [N/A], , 2, \"old, and slow\"\n");
  const RunOutput run =
      run_archguard({"verify", "a.fatbin", "--fleet", "fleet.csv", "--brief"}, folder.path());
  CHECK(run.exit_code == 0);
  CHECK(
      run.out ==
      "a.fatbin: 40 of 40 covered\n"
      "archguard: note: not judged: NVIDIA GeForce GT 710 (3.5, fleet.csv:3): display card\n"
      "archguard: note: not judged: NVIDIA K20 (compute capability unknown, fleet.csv:4) and 1 more like it: "
      "old, and slow\n");
  const auto json = nlohmann::json::parse(
      run_archguard({"verify", "a.fatbin", "--fleet", "fleet.csv", "--format", "json"}, folder.path()).out);
  CHECK(json["verdict"] == "covered");
  CHECK(json["devices"][0]["excluded"].is_null());
  CHECK(json["devices"][2]["excluded"] == "old, and slow");
  CHECK(json["files"][0]["results"].size() == 1);
}

TEST_CASE("of two like lines one is left out; what was left out by the compiler stays told apart") {
  const TemporaryFolder folder;
  fill(folder, "name, compute_cap, excluded\nA100, 8.0,\nMX330, 6.1, in repair\nMX330, 6.1,\n");
  const std::vector<std::string> verify = {"verify", "a.fatbin", "--fleet", "fleet.csv"};
  const RunOutput run = run_archguard(verify, folder.path());
  CHECK(run.exit_code == 1);
  CHECK(run.out.find("cannot run on MX330 (6.1, fleet.csv:4)\n") != std::string::npos);
  CHECK(run.out.find(", or leave this device out: write why into the column excluded of fleet.csv:4 (add "
                     "that column to the header "
                     "where it is missing)\n") != std::string::npos);
  CHECK(run.out.find("a.fatbin: 1 of 2 covered\n") != std::string::npos);
  folder.file("select.json", R"({"schema":"archguard.select/1","excluded":[{"device":{"name":"MX330",)"
                             R"("compute_capability":"6.1"},"reason":"too old","last_toolkit":"12.9"}]})");
  const RunOutput left = run_archguard(
      {"verify", "a.fatbin", "--fleet", "fleet.csv", "--excluded", "select.json", "--brief"}, folder.path());
  CHECK(left.exit_code == 0);
  CHECK(left.out ==
        "a.fatbin: 1 of 2 covered; 1 excluded at configure: 6.1, last toolkit 12.9\n"
        "archguard: note: not judged: MX330 (6.1, fleet.csv:3): in repair\n");
}
