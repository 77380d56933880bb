#include "report/verify_text.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "report/names.h"
#include "report/verify_json.h"

using namespace archguard;

namespace {

Device gpu(const char* name, const char* capability, const char* origin) {
  Device device;
  device.name = name;
  device.capability = parse_capability(capability);
  device.origin = origin;
  return device;
}

DeviceResult covered() {
  DeviceResult result;
  result.coverage = Coverage::covered;
  result.fatbins.total = result.fatbins.sass = 2;
  result.kernels.total = result.kernels.covered = 5;
  return result;
}

DeviceResult uncovered() {
  DeviceResult result;
  result.coverage = Coverage::not_covered;
  result.fatbins.total = result.fatbins.uncovered = 2;
  result.kernels.total = 5;
  result.failures.push_back({209,
                             false,
                             "it needs SASS of sm_75",
                             {{0x40, ".nv_fatbin", ""}, {0x99, ".nv_fatbin", ""}},
                             "sm_80 cubin, no PTX",
                             "libfoo.so(.nv_fatbin+0x40)",
                             "_Z4gemmPf"});
  result.fix = result.failures[0].fix = "add 75-real to CUDA_ARCHITECTURES of target 'foo'";
  return result;
}

// A fleet of three, the last of them twice; the first is not covered.
Verification example() {
  Verification all;
  all.devices = {gpu("NVIDIA T4", "7.5", "fleet.csv:4"), gpu("NVIDIA A100", "8.0", "fleet.csv:5"),
                 gpu("NVIDIA A100", "8.0", "fleet.csv:6")};
  all.classes = classes_of(all.devices);
  FileResult file;
  file.path = "libfoo.so";
  file.has_code = true;
  file.devices = {uncovered(), covered()};
  all.files.push_back(std::move(file));
  return all;
}

}  // namespace

TEST_CASE("devices of one capability and driver are one class") {
  std::vector<Device> devices = {gpu("NVIDIA T4", "7.5", "fleet.csv:4"),
                                 gpu("NVIDIA A100", "8.0", "fleet.csv:5"),
                                 gpu("NVIDIA A100", "8.0", "fleet.csv:6")};
  CHECK(classes_of(devices).size() == 2);
  devices[2].driver_cuda = Version{12, 4};
  CHECK(classes_of(devices).size() == 3);
  devices[1].visible = false;
  devices[0].capability.reset();
  CHECK(classes_of(devices).size() == 1);
}

TEST_CASE("what the fleet leaves out is said with its reason, and counted nowhere") {
  Verification all = example();
  Device card = gpu("NVIDIA GeForce GT 710", "3.5", "fleet.csv:7");
  card.excluded = "display card";
  all.devices.push_back(card);
  card.origin = "fleet.csv:8";
  card.count = 3;
  all.devices.push_back(card);
  card.capability.reset();
  card.excluded = "old\nand slow";
  all.devices.push_back(card);
  all.classes = classes_of(all.devices);
  CHECK(all.classes.size() == 2);
  all.files[0].devices[0] = covered();
  CHECK(outcome_of(all) == Outcome::covered);
  const auto json = nlohmann::json::parse(held_text(VerifyJson(all)));
  CHECK(json["devices"][3]["excluded"] == "display card");
  CHECK(json["devices"][0]["excluded"].is_null());
  CHECK(json["excluded"].empty());
  CHECK(json["files"][0]["results"].size() == 3);
}

TEST_CASE("exclusions at configure time are counted and named in the summary") {
  Verification all = example();
  all.files[0].devices[0] = covered();
  all.excluded.push_back({"GeForce MX330", {6, 1}, "too old", Version{8, 0}, Version{12, 9}});
  CHECK(verify_text(all, {{}, true, {}}) ==
        "libfoo.so: 3 of 4 covered; 1 excluded at configure: 6.1, last toolkit 12.9\n");
}

TEST_CASE("a file that cannot be read is unknown, and its neighbours are still judged") {
  Verification all = example();
  all.files[0].devices[0] = covered();
  FileResult broken;
  broken.path = "broken.so";
  broken.errors.push_back({"broken.so", "is cut short", "build it again"});
  broken.devices.resize(2);
  all.files.push_back(broken);
  CHECK(outcome_of(all) == Outcome::unknown);
}

TEST_CASE("a device without a capability makes the outcome unknown") {
  Verification all = example();
  all.files[0].devices[0] = covered();
  all.devices.push_back(gpu("NVIDIA X", "", "fleet.csv:7"));
  CHECK(outcome_of(all) == Outcome::unknown);
  const std::string text = verify_text(all, {{}, true, {}});
  CHECK(
      text.find("archguard: unknown: NVIDIA X (compute capability unknown, fleet.csv:7): a device without "
                "a compute "
                "capability cannot be judged\n  fix: write its compute_cap (X.Y) into that line, or into its "
                "column excluded why it is left out\n") != std::string::npos);
}

TEST_CASE("images that were asked for and are not there") {
  Verification all;
  all.expects = true;
  FileResult file;
  file.path = "t.o";
  file.expect.fatbins = 2;
  for (const std::uint64_t offset : {0x40U, 0x80U})
    file.expect.failures.push_back({{offset, ".nv_fatbin", ""},
                                    "t.o(.nv_fatbin+" + std::string(offset == 0x40 ? "0x40" : "0x80") + ")",
                                    {{{90, Suffix::none}, true}},
                                    "sm_80 cubin, no PTX",
                                    {}});
  all.files.push_back(file);
  CHECK(outcome_of(all) == Outcome::not_covered);
}

TEST_CASE("no device code is the answer only where no file holds any") {
  Verification all = example();
  all.files[0].devices[0] = covered();
  FileResult host;
  host.path = "host.o";
  host.devices.resize(2);
  all.files.push_back(host);
  CHECK(outcome_of(all) == Outcome::covered);
  all.files.erase(all.files.begin());
  CHECK(outcome_of(all) == Outcome::no_device_code);
  CHECK(verify_text(all, {}) == "host.o: no device code\n");
  all.files[0].has_fatbins = true;  // of a link's stub, say
  CHECK(outcome_of(all) == Outcome::no_device_code);
  CHECK(verify_text(all, {}) == "host.o: no kernels\n");
  all.files.push_back(all.files[0]);
  all.files.push_back(host);
  for (FileResult& file : all.files) file.named = false;
  CHECK(verify_text(all, {}) == "1 file without device code\n2 files without kernels\n");
}

TEST_CASE("variables are named as kernels are, and those that are not registered are error 13") {
  Verification all = example();
  DeviceResult& result = all.files[0].devices[0];
  result.failures[0].kernel.clear();
  result.failures[0].variable = "_ZN4user2dvE";
  CHECK(verify_text(all, {}).find(
            "libfoo.so(.nv_fatbin+0x40): variable 'user::dv' cannot run on NVIDIA T4") != std::string::npos);
  CHECK(verify_text(all, {}).find(
            "  seen as: no kernel image is available for execution on the device; invalid device "
            "symbol; named symbol not found\n") != std::string::npos);

  result = covered();
  result.coverage = Coverage::not_covered;
  result.variables.total = 3;
  result.variables.unregistered = {"_ZN4user2dvE", "cv"};
  result.failures.push_back({13,
                             false,
                             "the sm_75 image that this device takes lacks it",
                             {{0x40, ".nv_fatbin", ""}},
                             "sm_75 cubin, no PTX",
                             "libfoo.so(.nv_fatbin+0x40)",
                             {},
                             "_ZN4user2dvE"});
  result.failures.back().fix = "waive them";
  const std::string text = verify_text(all, {});
  CHECK(text.find(
            "archguard: error 13: libfoo.so(.nv_fatbin+0x40): variable 'user::dv' cannot be used on NVIDIA "
            "T4 (7.5, "
            "fleet.csv:4)\n"
            "  seen as: invalid device symbol\n"
            "  found: sm_75 cubin, no PTX\n"
            "  cause: the sm_75 image that this device takes lacks it\n"
            "  missing: 'user::dv', 'cv'\n"
            "  fix: waive them\n") == 0);
  CHECK(text.find("  error 13   NVIDIA T4 (7.5, fleet.csv:4)                       2 fat binaries: 2 SASS; 2 "
                  "variables are "
                  "not registered\n") != std::string::npos);
  const auto json = nlohmann::json::parse(held_text(VerifyJson(all)));
  CHECK(json["files"][0]["results"][0]["variables"]["total"] == 3);
  CHECK(json["files"][0]["results"][0]["variables"]["missing"][1] == "cv");
}

TEST_CASE("the JSON document has the keys of the contract, and survives names that are no UTF-8") {
  Verification all = example();
  all.files[0].path = "lib\xff.so";
  const auto json = nlohmann::json::parse(held_text(VerifyJson(all)));
  CHECK(json["schema"] == "archguard.verify/1");
  CHECK(json["verdict"] == "not-covered");
  CHECK(json["devices"][0]["compute_capability"] == "7.5");
  const auto& results = json["files"][0]["results"];
  REQUIRE(results.size() == 3);
  CHECK(results[0]["device"] == 0);
  CHECK(results[0]["verdict"] == "not-covered");
  CHECK(results[0]["errors"][0]["code"] == 209);
  CHECK(results[0]["errors"][0]["count"] == 2);
  CHECK(results[0]["errors"][0]["fix"] == "add 75-real to CUDA_ARCHITECTURES of target 'foo'");
  CHECK(results[0]["errors"][0]["containers"][0]["offset"] == 0x40);
  CHECK(results[0]["errors"][0]["containers"][0]["section"] == ".nv_fatbin");
  CHECK(results[0]["errors"][0]["containers"][0]["member"].is_null());
  CHECK(results[2]["verdict"] == "covered");
  CHECK(results[2]["containers"]["sass"] == 2);
  CHECK(results[2]["kernels"]["total"] == 5);
}

TEST_CASE("sizes and paths read well") {
  CHECK(human_size(999) == "999 B");
  CHECK(human_size(541'595'600) == "541.6 MB");
  CHECK(human_size(999'960) == "1.0 MB");
  CHECK(file_name("/a/b.so") == "b.so");
}

TEST_CASE("no colour is a line's but the report's own") {
  Style style;
  style.colour = true;
  CHECK(line_of({style.error("error: "), "\x1b[8mapp", style.good("\x1b[0mgood")}) ==
        "\x1b[1;31merror: \x1b[0m\\x1b[8mapp\x1b[32m\\x1b[0mgood\x1b[0m\n");
}
