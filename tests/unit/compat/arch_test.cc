#include "compat/arch.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

using namespace archguard;

TEST_CASE("compute capabilities: one digit behind the dot") {
  CHECK(parse_capability("9.0") == ComputeCapability{9, 0});
  CHECK(parse_capability("12.1") == ComputeCapability{12, 1});
  CHECK(parse_capability("99.9") == ComputeCapability{99, 9});
  for (const char* bad : {"", ".", "9", "9.", ".0", "9.00", "9.12", "100.0", "0.5", "09.0", "-9.0", " 9.0",
                          "9.0 ", "9.0a", "9,0", "[N/A]", "9.0.0", "99999999999999999999.0"})
    CHECK_MESSAGE(!parse_capability(bad), bad);
  CHECK(to_string(ComputeCapability{10, 3}) == "10.3");
}

TEST_CASE("architectures: two or three digits, perhaps a or f") {
  CHECK(parse_arch("75") == Arch{75, Suffix::none});
  CHECK(parse_arch("90a") == Arch{90, Suffix::a});
  CHECK(parse_arch("103f") == Arch{103, Suffix::f});
  for (const char* bad :
       {"", "a", "9", "9a", "1000", "090", "08", "sm_90", "90A", "90b", "90af", "90 ", "9.0", "-90"})
    CHECK_MESSAGE(!parse_arch(bad), bad);
  for (const char* name : {"20", "90a", "100f", "121"}) CHECK(to_string(*parse_arch(name)) == name);
}

TEST_CASE("an architecture and its device") {
  CHECK(capability_of({103, Suffix::f}) == ComputeCapability{10, 3});
  CHECK(capability_of({75, Suffix::none}) == ComputeCapability{7, 5});
  CHECK(arch_of({10, 3}) == Arch{103, Suffix::none});
}

TEST_CASE("architectures sort by number, then none, a, f; capabilities by number") {
  std::vector<Arch> archs;
  for (const char* name : {"100f", "90a", "100", "90", "100a", "75"}) archs.push_back(*parse_arch(name));
  std::sort(archs.begin(), archs.end());
  std::string sorted;
  for (const Arch arch : archs) sorted += to_string(arch) + " ";
  CHECK(sorted == "75 90 90a 100 100a 100f ");
  CHECK(ComputeCapability{9, 0} < ComputeCapability{10, 0});
  CHECK(ComputeCapability{8, 6} < ComputeCapability{8, 9});
  CHECK_FALSE(ComputeCapability{8, 6} < ComputeCapability{8, 6});
}
