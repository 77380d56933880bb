#include "result/join.h"

#include <doctest/doctest.h>

using namespace archguard;

namespace {

FileResult judged(const std::string& path, Coverage coverage) {
  FileResult file;
  file.path = path;
  file.has_code = true;
  file.devices.resize(1);
  file.devices[0].coverage = coverage;
  file.devices[0].fatbins.total = file.devices[0].fatbins.sass = 1;
  return file;
}

ResultPart part(const std::string& name, std::vector<FileResult> files, const char* capability = "8.0") {
  Verification all;
  Device device;
  device.capability = parse_capability(capability);
  device.origin = std::string("--device ") + capability;
  all.devices.push_back(device);
  all.classes = classes_of(all.devices);
  all.files = std::move(files);
  return {name, std::move(all), false};
}

constexpr Coverage kRuns = Coverage::covered, kFails = Coverage::not_covered;

}  // namespace

TEST_CASE("parts make the answer of all their files") {
  const auto outcome = [](Coverage a, Coverage b) {
    const auto joined = join_parts({part("1", {judged("a", a)}), part("2", {judged("b", b)})});
    REQUIRE(joined);
    CHECK((*joined).files.size() == 2);
    return outcome_of(*joined);
  };
  CHECK(outcome(kRuns, kRuns) == Outcome::covered);
  CHECK(outcome(kRuns, kFails) == Outcome::not_covered);
  CHECK(outcome(kFails, Coverage::unknown) == Outcome::unknown);
}

TEST_CASE("one file in two parts is one, unless they disagree") {
  const auto same =
      join_parts({part("1", {judged("a", kRuns), judged("b", kRuns)}), part("2", {judged("b", kRuns)})});
  REQUIRE(same);
  CHECK((*same).files.size() == 2);
  const auto other =
      join_parts({part("1.json", {judged("a", kRuns)}), part("2.json", {judged("a", kFails)})});
  REQUIRE_FALSE(other);
  CHECK(other.error().text() == "2.json: disagrees with 1.json on a");
  FileResult in_folder = judged("d/a.so", kRuns), named = judged("d/a.so", kRuns);
  in_folder.found_under = "d";
  in_folder.named = false;
  const auto both = join_parts({part("1.json", {in_folder}), part("2.json", {named})});
  REQUIRE(both);
  CHECK((*both).files.size() == 1);
  FileResult member = judged("p.whl", kRuns);
  member.member = "x.so";
  CHECK(join_parts({part("1", {judged("p.whl", kFails)}), part("2", {member})}));
}

TEST_CASE("a library that is named counts as named, whoever else needs it") {
  FileResult needed = judged("lib", kFails), named = judged("lib", kRuns);
  needed.needed_by = "a";
  for (const bool turned : {false, true}) {
    std::vector<ResultPart> parts = {part("1", {needed}), part("2", {named})};
    if (turned) std::swap(parts[0], parts[1]);
    const auto joined = join_parts(std::move(parts));
    REQUIRE(joined);
    REQUIRE((*joined).files.size() == 1);
    CHECK((*joined).files[0].needed_by.empty());
    CHECK(outcome_of(*joined) == Outcome::covered);
  }
}

TEST_CASE("parts that were asked something else are refused") {
  CHECK_FALSE(join_parts({part("1", {judged("a", kRuns)}), part("2", {judged("b", kRuns)}, "9.0")}));
  auto expects = part("2", {judged("b", kRuns)});
  expects.verification.expects = true;
  CHECK_FALSE(join_parts({part("1", {judged("a", kRuns)}), expects}));
  auto groups = part("2", {judged("b1", kRuns), judged("b2", kFails)});
  find_alternatives(groups.verification, {"b?"});
  CHECK_FALSE(join_parts({part("1", {judged("a", kRuns)}), groups}));
}

TEST_CASE("alternatives are found among the files of all parts") {
  auto first = part("1", {judged("b1", kFails)}), second = part("2", {judged("b2", kRuns)});
  for (ResultPart* each : {&first, &second}) find_alternatives(each->verification, {"b?"});
  REQUIRE(outcome_of(first.verification) == Outcome::not_covered);
  const auto joined = join_parts({first, second});
  REQUIRE(joined);
  CHECK(outcome_of(*joined) == Outcome::covered);
}

TEST_CASE("a waiver is unused where no part had a use for it") {
  auto first = part("1", {judged("a", kRuns)}), second = part("2", {judged("b", kRuns)});
  const UnusedWaiver one{{"one", "*", "why", "w.csv:1"}, false}, two{{"two", "*", "why", "w.csv:2"}, false};
  first.verification.unused_waivers = {one, two};
  second.verification.unused_waivers = {{two.waiver, true}};
  const auto joined = join_parts({first, second});
  REQUIRE(joined);
  REQUIRE((*joined).unused_waivers.size() == 1);
  CHECK((*joined).unused_waivers[0].waiver.kernel == "two");
  CHECK((*joined).unused_waivers[0].kernel_read);
}
