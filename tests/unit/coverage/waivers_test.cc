#include "coverage/waivers.h"

#include <doctest/doctest.h>

using namespace archguard;

TEST_CASE("globs match whole texts") {
  CHECK(glob_matches("*", ""));
  CHECK(glob_matches("fp8*_kernel", "fp8_e4m3_kernel"));
  CHECK(glob_matches("k?", "k1"));
  CHECK_FALSE(glob_matches("k?", "k"));
  CHECK_FALSE(glob_matches("fp8", "fp8_kernel"));
  CHECK_FALSE(glob_matches("", "k"));
  CHECK(glob_matches("a*b*c", "axbxbxc"));
  CHECK_FALSE(glob_matches(std::string(200, '*') + "b", std::string(20000, 'a')));
}

TEST_CASE("a waiver excuses its kernels on its devices, and one that was not needed is told") {
  auto waivers = Waivers::parse(
      "kernel,compute_cap,reason\n# comment\nfp8*,7.*,fp8 needs 8.9, or newer\r\nold,6.1,dropped\n", "w.csv");
  REQUIRE(waivers);
  CHECK(waivers->waive("fp8_add", {7, 5}));
  CHECK_FALSE(waivers->waive("fp8_add", {8, 0}));
  CHECK_FALSE(waivers->waive("add", {7, 5}));
  REQUIRE(waivers->unused().size() == 1);
  CHECK(waivers->unused()[0].origin == "w.csv:4");
}

TEST_CASE("a bad line names itself") {
  CHECK(Waivers::parse("a,b", "w.csv").error().text() ==
        "w.csv:1: a waiver has three columns, kernel,compute_cap,reason");
  CHECK(Waivers::parse("k,7.5,\n", "w.csv").error().text() == "w.csv:1: a waiver needs a reason");
  CHECK(Waivers::parse("\n,7.5,why\n", "w.csv").error().text() == "w.csv:2: the kernel is empty");
  CHECK(Waivers::parse("k,,why\n", "w.csv").error().text() == "w.csv:1: the compute capability is empty");
}
