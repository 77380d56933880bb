#include <doctest/doctest.h>

#include "result/base64.h"
#include "result/verification_record.h"

using namespace archguard;

namespace {

Verification small() {
  Verification all;
  Device device;
  device.capability = parse_capability("7.5");
  device.driver_cuda = Version{12, 4};
  device.cuda_by_branch = true;
  device.name = "NVIDIA T4";
  device.origin = "fleet.csv";
  device.source["compute_capability"] = "fleet";
  all.devices.push_back(device, 2);
  all.classes = classes_of(all.devices);
  all.excluded.push_back({"GT 710", *parse_capability("3.5"), "too old", {}, Version{11, 8}});
  all.unused_waivers.push_back({{"gemm*", "7.5", "why", "waivers.csv:1"}, true});
  all.passed_over.push_back({"x.deb", UnreadKind::packed});
  all.needed.emplace().errors.push_back({"libx.so", "was not found", "look"});
  all.looked_in = {"build"};
  all.expects = true;
  all.owner_errors.push_back({"RECORD", "is cut", {}});
  FileResult file;
  file.path = "a\xff.so";
  file.has_code = true;
  file.devices.resize(1);
  file.devices[0].coverage = Coverage::not_covered;
  file.devices[0].failures.resize(1);
  file.devices[0].failures[0].code = 209;
  all.files.push_back(file);
  return all;
}

}  // namespace

TEST_CASE("base64 is that of RFC 4648, and reads nothing else") {
  const std::pair<const char*, const char*> known[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : known) {
    CHECK(to_base64(bytes) == text);
    CHECK(from_base64(text) == bytes);
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  CHECK(from_base64(to_base64(all)) == all);
  for (const char* bad : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "Zm 9v", "====", "Zm9v\n", "=Zg="})
    CHECK_FALSE(from_base64(bad));
}

TEST_CASE("a record is read back whole") {
  const Verification all = small();
  const std::string record = record_of(all, "1.2.3", true);
  CHECK(version_of_record(record) == "1.2.3");
  const auto read = read_record(record);
  REQUIRE(read);
  REQUIRE(read->kinds.size() == 1);
  CHECK(read->kinds[0].capability == parse_capability("7.5"));
  CHECK(read->kinds[0].cuda_by_branch);
  CHECK(read->kinds[0].origin == "fleet.csv");
  CHECK(is_of_fleet(read->kinds[0]));
  CHECK(read->verification.excluded.at(0).reason == "too old");
  CHECK(read->verification.unused_waivers.at(0).waiver.origin == "waivers.csv:1");
  CHECK(read->verification.passed_over.at(0).path == "x.deb");
  CHECK(read->verification.needed->errors.at(0).fix == "look");
  CHECK(read->verification.looked_in == std::vector<std::string>{"build"});
  CHECK(read->verification.expects);
  CHECK(read->verification.owner_errors.at(0).what == "is cut");
  CHECK(read->hint_scope);
  const auto file = read_file_record(record_of_file(all.files[0]));
  REQUIRE(file);
  CHECK(file->path == "a\xff.so");
  CHECK(file->devices.at(0).failures.at(0).code == 209);
}

TEST_CASE("what is cut or changed is no record") {
  const std::string record = record_of(small(), "1.2.3", false), file = record_of_file(small().files[0]);
  for (std::size_t size = 0; size < record.size(); ++size) CHECK_FALSE(read_record(record.substr(0, size)));
  for (std::size_t size = 0; size < file.size(); ++size) CHECK_FALSE(read_file_record(file.substr(0, size)));
  CHECK(version_of_record("archguard.verify/1").empty());
  CHECK_FALSE(read_record("archguard.record/1 "));
  CHECK_FALSE(read_record("archguard.record/1 1.0"));
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string changed = file;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    CHECK_FALSE(read_file_record(changed));
  }
  CHECK_FALSE(read_file_record(to_base64(std::string(64, '\xff'))));
}
