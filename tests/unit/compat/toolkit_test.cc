#include "compat/toolkit.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

using namespace archguard;

namespace {

std::string archs_of(Version version) {
  const Toolkit* toolkit = find_toolkit(version);
  if (toolkit == nullptr) return "no such toolkit";
  std::string text;
  for (const Arch arch : toolkit->archs) text += (text.empty() ? "" : " ") + to_string(arch);
  return text;
}

std::string range_of(ComputeCapability device) {
  const auto first = first_toolkit_for(device), last = last_toolkit_for(device);
  if (!first || !last) return "none";
  return to_string(*first) + " to " + to_string(*last);
}

}  // namespace

TEST_CASE("each target has a first PTX ISA, that of its toolkit or of a driver before it") {
  const auto first = [](const char* target) {
    const auto isa = first_ptx_for(*parse_arch(target));
    return isa ? to_string(*isa) : "unknown";
  };
  CHECK(first("35") == "3.1");
  CHECK(first("60") == "5.0");
  CHECK(first("80") == "7.0");
  CHECK(first("90") == "7.8");
  CHECK(first("90a") == "8.0");
  CHECK(first("100") == "8.6");
  CHECK(first("100a") == "8.6");
  CHECK(first("100f") == "8.8");
  CHECK(first("120a") == "8.7");
  CHECK(first("13") == "unknown");
  CHECK(first("90f") == "unknown");
  CHECK(first("200") == "unknown");
}

TEST_CASE("an arch may have been made by a toolkit that has it, or by one beyond the table") {
  const auto may = [](const char* arch, std::optional<Version> toolkit) {
    return may_be_made(*parse_arch(arch), toolkit);
  };
  CHECK(may("100f", {}));
  CHECK(may("100f", Version{12, 9}));
  CHECK_FALSE(may("100f", Version{12, 8}));
  CHECK_FALSE(may("90f", {}));
  CHECK_FALSE(may("90f", newest_known_toolkit().version));
  CHECK(may("90f", Version{newest_known_toolkit().version.major + 1, 0}));
  CHECK(may("200a", Version{13, 0}));
}

TEST_CASE("the releases of the toolkit") {
  std::string versions;
  for (const Toolkit& toolkit : known_toolkits()) versions += to_string(toolkit.version) + " ";
  CHECK(versions ==
        "8.0 9.0 9.1 9.2 10.0 10.1 10.2 11.0 11.1 11.2 11.3 11.4 11.5 11.6 11.7 11.8 12.0 12.1 12.2 12.3 "
        "12.4 12.5 "
        "12.6 12.8 12.9 13.0 13.1 13.2 13.3 13.4 13.5 ");
  CHECK(newest_known_toolkit().version == Version{13, 5});
  CHECK(newest_known_toolkit().ptx_isa == Version{9, 5});
  CHECK(find_toolkit({12, 7}) == nullptr);
  CHECK(find_toolkit({7, 5}) == nullptr);
}

TEST_CASE("what a release makes") {
  CHECK(archs_of({8, 0}) == "20 21 30 32 35 37 50 52 53 60 61 62");
  CHECK(archs_of({10, 2}) == "30 32 35 37 50 52 53 60 61 62 70 72 75");
  CHECK(archs_of({11, 0}) == "35 37 50 52 53 60 61 62 70 72 75 80");
  CHECK(archs_of({11, 8}) == "35 37 50 52 53 60 61 62 70 72 75 80 86 87 89 90");
  CHECK(archs_of({12, 0}) == "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a");
  CHECK(archs_of({12, 8}) == "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a 100 100a 101 101a 120 120a");
  CHECK(archs_of({12, 9}) ==
        "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a 100 100a 100f 101 101a 101f 103 103a 103f 120 120a "
        "120f 121 "
        "121a 121f");
  CHECK(archs_of({13, 0}) ==
        "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f");
  CHECK(archs_of({13, 5}) ==
        "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 107 107a 107f 110 110a 110f 120 120a 120f 121 "
        "121a "
        "121f");
}

TEST_CASE("the table is in order: releases, ISA and architectures ascend, nothing twice") {
  const auto& toolkits = known_toolkits();
  for (std::size_t i = 0; i < toolkits.size(); ++i) {
    const auto& archs = toolkits[i].archs;
    CHECK(std::is_sorted(archs.begin(), archs.end()));
    CHECK(std::set<Arch>(archs.begin(), archs.end()).size() == archs.size());
    CHECK(toolkits[i].measured == (toolkits[i].version >= Version{11, 7}));
    if (i == 0) continue;
    CHECK(toolkits[i - 1].version < toolkits[i].version);
    CHECK(toolkits[i - 1].ptx_isa <= toolkits[i].ptx_isa);
  }
}

TEST_CASE("first and last toolkit of a device follow from the table") {
  CHECK(range_of({2, 1}) == "8.0 to 8.0");
  CHECK(range_of({3, 0}) == "8.0 to 10.2");
  CHECK(range_of({3, 2}) == "8.0 to 10.2");
  CHECK(range_of({3, 5}) == "8.0 to 11.8");
  CHECK(range_of({6, 1}) == "8.0 to 12.9");
  CHECK(range_of({7, 2}) == "8.0 to 12.9");
  CHECK(range_of({7, 5}) == "8.0 to 13.5");
  CHECK(range_of({12, 0}) == "8.0 to 13.5");  // through PTX before 12.8
  CHECK(range_of({13, 0}) == "8.0 to 13.5");
  CHECK(range_of({1, 3}) == "none");
}

TEST_CASE("advice names a toolkit that the device's driver runs, with SASS where one makes it") {
  const auto text = [](const std::vector<ComputeCapability>& devices, std::optional<Version> driver) {
    const auto newest = newest_toolkit_for(devices, driver);
    return newest ? to_string(*newest) : "none";
  };
  CHECK(text({{8, 0}}, Version{12, 4}) == "12.9");
  CHECK(text({{8, 0}}, std::nullopt) == "13.5");
  CHECK(text({{6, 1}}, std::nullopt) == "12.9");
  CHECK(text({{6, 1}}, Version{11, 4}) == "11.8");
  CHECK(text({{6, 1}, {12, 0}}, Version{12, 8}) == "12.9");
  CHECK(text({{12, 0}, {3, 5}}, Version{12, 8}) == "11.8");  // 12.0 through PTX
  CHECK(text({{13, 0}}, Version{12, 4}) == "12.4");          // through PTX alone
  CHECK(text({{1, 3}}, std::nullopt) == "none");
  const auto range = toolkits_with_sass_for({12, 0}, Version{12, 9});
  REQUIRE(range);
  CHECK(to_string(range->first) + " to " + to_string(range->last) == "12.8 to 12.9");
  CHECK_FALSE(toolkits_with_sass_for({12, 0}, Version{11, 8}));
}
