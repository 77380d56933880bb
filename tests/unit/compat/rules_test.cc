#include "compat/rules.h"

#include <doctest/doctest.h>

#include "compat/driver.h"
#include "compat/toolkit.h"

using namespace archguard;

namespace {

const char* text(Fit fit) {
  switch (fit) {
    case Fit::yes:
      return "yes";
    case Fit::no:
      return "no";
    case Fit::unknown:
      break;
  }
  return "unknown";
}

// "80 on 8.6"
std::string sass(const char* arch, const char* device) {
  return text(sass_fits(parse_arch(arch).value(), parse_capability(device).value()));
}
std::string ptx(const char* arch, const char* device) {
  return text(ptx_fits(parse_arch(arch).value(), parse_capability(device).value()));
}

}  // namespace

TEST_CASE("plain SASS runs within its major version, from its minor on") {
  CHECK(sass("80", "8.0") == "yes");
  CHECK(sass("80", "8.6") == "yes");
  CHECK(sass("86", "8.9") == "yes");
  CHECK(sass("86", "8.0") == "no");
  CHECK(sass("80", "9.0") == "no");
  CHECK(sass("90", "8.9") == "no");
  CHECK(sass("70", "7.5") == "yes");
  CHECK(sass("50", "5.2") == "yes");
  CHECK(sass("100", "10.7") == "yes");
  CHECK(sass("120", "12.1") == "yes");
  CHECK(sass("120", "12.5") == "yes");  // a device beyond the table: the general rule
  CHECK(sass("130", "13.0") == "yes");
  CHECK(sass("130", "13.1") == "yes");
}

TEST_CASE("the SASS of Tegra and that of desktop GPUs do not mix") {
  CHECK(sass("80", "8.7") == "no");
  CHECK(sass("86", "8.7") == "no");
  CHECK(sass("87", "8.7") == "yes");
  CHECK(sass("87", "8.9") == "no");
  CHECK(sass("72", "7.2") == "yes");
  CHECK(sass("72", "7.5") == "no");
  CHECK(sass("70", "7.2") == "no");
  CHECK(sass("52", "5.3") == "no");
  CHECK(sass("61", "6.2") == "no");
  CHECK(sass("100", "10.1") == "no");
  CHECK(sass("101", "10.3") == "no");
  CHECK(sass("30", "3.2") == "no");
  CHECK(sass("32", "3.5") == "no");
  CHECK(sass("110", "11.0") == "yes");
}

TEST_CASE("8.8, claimed to be Tegra, takes its own SASS alone and gives it to nobody") {
  CHECK(sass("88", "8.8") == "yes");
  CHECK(sass("80", "8.8") == "no");
  CHECK(sass("87", "8.8") == "no");
  CHECK(sass("88", "8.9") == "no");
  CHECK(ptx("80", "8.8") == "yes");
  CHECK_FALSE(is_tegra({8, 8}));
}

TEST_CASE("sm_101 is not trusted on 11.0, though CUDA 13 only renamed it") {
  CHECK(sass("101", "10.1") == "yes");
  CHECK(sass("101", "11.0") == "no");
  CHECK(sass("101a", "11.0") == "no");
  CHECK(sass("101f", "11.0") == "no");
  CHECK(sass("110", "10.1") == "no");
}

TEST_CASE("a: its own device, nothing else") {
  CHECK(sass("90a", "9.0") == "yes");
  CHECK(sass("100a", "10.0") == "yes");
  CHECK(sass("100a", "10.3") == "no");
  CHECK(sass("90a", "10.0") == "no");
  CHECK(sass("130a", "13.0") == "yes");
  CHECK(ptx("90a", "9.0") == "yes");
  CHECK(ptx("90a", "10.0") == "no");
  CHECK(ptx("100a", "10.3") == "no");
}

TEST_CASE("f: its family, as the guide lists it") {
  for (const char* device : {"10.0", "10.3", "10.7"}) CHECK(sass("100f", device) == "yes");
  CHECK(sass("100f", "10.1") == "no");
  CHECK(sass("100f", "11.0") == "no");
  CHECK(sass("103f", "10.0") == "no");
  CHECK(sass("103f", "10.3") == "yes");
  CHECK(sass("103f", "10.7") == "yes");
  CHECK(sass("107f", "10.7") == "yes");
  CHECK(sass("107f", "10.3") == "no");
  CHECK(sass("101f", "10.1") == "yes");
  CHECK(sass("101f", "10.3") == "no");
  CHECK(sass("110f", "11.0") == "yes");
  CHECK(sass("120f", "12.0") == "yes");
  CHECK(sass("120f", "12.1") == "yes");
  CHECK(sass("121f", "12.0") == "no");
  CHECK(sass("121f", "12.1") == "yes");
  CHECK(ptx("120f", "12.1") == "yes");
  CHECK(ptx("121f", "12.0") == "no");
  CHECK(ptx("100f", "12.0") == "no");
}

TEST_CASE("a family, or a member, that the table does not know is unknown within the major version") {
  CHECK(sass("130f", "13.0") == "unknown");
  CHECK(sass("130f", "13.1") == "unknown");
  CHECK(sass("130f", "12.0") == "no");
  CHECK(sass("105f", "10.7") == "unknown");
  CHECK(sass("120f", "12.5") == "unknown");  // 12.5 is in no release of the table
  CHECK(sass("121f", "12.5") == "unknown");
  CHECK(sass("107f", "10.5") == "no");
  CHECK(ptx("130f", "13.0") == "unknown");
  CHECK(ptx("130f", "14.0") == "no");
}

TEST_CASE("plain PTX serves every device that is not below it, Tegra too") {
  CHECK(ptx("80", "8.0") == "yes");
  CHECK(ptx("80", "8.7") == "yes");
  CHECK(ptx("50", "13.0") == "yes");
  CHECK(ptx("87", "9.0") == "yes");
  CHECK(ptx("90", "8.9") == "no");
  CHECK(ptx("86", "8.0") == "no");
  CHECK(ptx("110", "10.1") == "no");
}

TEST_CASE("PTX of 101 serves 11.0 under each of its three names") {
  for (const char* arch : {"101", "101a", "101f"}) {
    CHECK(ptx(arch, "10.1") == "yes");
    CHECK(ptx(arch, "11.0") == "yes");
  }
  CHECK(ptx("101a", "10.3") == "no");
  CHECK(ptx("103a", "11.0") == "no");
  CHECK(later_name({101, Suffix::f}) == Arch{110, Suffix::f});
  CHECK_FALSE(later_name({100, Suffix::none}));
}

TEST_CASE("the best plain image among many; a suffix is never a fallback") {
  const auto& archs = find_toolkit({12, 9})->archs;
  CHECK(newest_sass_for(archs, {8, 9}) == Arch{89, Suffix::none});
  CHECK(newest_sass_for(archs, {10, 7}) == Arch{103, Suffix::none});
  CHECK_FALSE(newest_sass_for(archs, {8, 8}));
  CHECK_FALSE(newest_sass_for(archs, {11, 0}));
  CHECK_FALSE(newest_sass_for({{90, Suffix::a}, {100, Suffix::f}}, {9, 0}));
  CHECK(newest_ptx_for(archs, {11, 0}) == Arch{103, Suffix::none});
  CHECK(newest_ptx_for(archs, {13, 0}) == Arch{121, Suffix::none});
  CHECK_FALSE(newest_ptx_for(archs, {3, 5}));
}

TEST_CASE("what a driver compiles") {
  CHECK(driver_takes_ptx({8, 7}, {12, 8}) == Fit::yes);
  CHECK(driver_takes_ptx({8, 7}, {12, 6}) == Fit::no);
  CHECK(driver_takes_ptx({8, 5}, {12, 5}) == Fit::yes);
  CHECK(driver_takes_ptx({9, 0}, {12, 10}) == Fit::no);
  CHECK(driver_takes_ptx({9, 5}, {14, 0}) == Fit::yes);
  CHECK(driver_takes_ptx({9, 6}, {13, 5}) == Fit::no);
  CHECK(driver_takes_ptx({9, 6}, {13, 6}) == Fit::unknown);
  CHECK(driver_takes_ptx({9, 6}, {12, 0}) == Fit::no);
}

TEST_CASE("zstd from the 12.4 level on") {
  CHECK(driver_takes_zstd({12, 4}));
  CHECK(driver_takes_zstd({13, 0}));
  CHECK_FALSE(driver_takes_zstd({12, 3}));
}

TEST_CASE("devices that no release knows") {
  CHECK(is_beyond_table({13, 0}));
  CHECK(is_beyond_table({8, 1}));
  CHECK(is_beyond_table({1, 3}));
  for (const char* known : {"2.1", "3.0", "7.5", "8.8", "10.1", "10.7", "11.0", "12.1"})
    CHECK_FALSE(is_beyond_table(parse_capability(known).value()));
}

TEST_CASE("sm_120 on 12.1 is the one doubted fit") {
  CHECK(sass_fit_is_doubted({120, Suffix::none}, {12, 1}));
  CHECK_FALSE(sass_fit_is_doubted({120, Suffix::none}, {12, 0}));
  CHECK_FALSE(sass_fit_is_doubted({121, Suffix::none}, {12, 1}));
}
