#include <doctest/doctest.h>

#include "compat/toolkit.h"

using namespace archguard;

namespace {

std::string cuda_of(const char* driver) {
  const auto cuda = driver_cuda_of(driver);
  return cuda ? to_string(*cuda) : "nothing";
}

}  // namespace

TEST_CASE("a driver's CUDA is that of the largest known branch not above it") {
  CHECK(cuda_of("535.104.05") == "12.2");
  CHECK(cuda_of("535") == "12.2");
  CHECK(cuda_of("580.65.06") == "13.0");
  CHECK(cuda_of("550.54.14") == "12.4");
  CHECK(cuda_of("537.13") == "12.2");  // Windows
  CHECK(cuda_of("566.36") == "12.7");  // Windows; a CUDA without a toolkit
  CHECK(cuda_of("390.157") == "9.1");
  CHECK(cuda_of("470.256.02") == "11.4");
  CHECK(cuda_of(" 595.71.05\r") == "13.2");
  CHECK(cuda_of("615.10") == "13.4");
  CHECK(cuda_of("700.1") == "13.4");  // at least: the branch of 13.5 is not known
  CHECK(cuda_of("194.9") == "nothing");
}

TEST_CASE("the number of a Tegra device's driver tells no CUDA") {
  for (const ComputeCapability device : {ComputeCapability{7, 2}, {8, 7}, {8, 8}, {10, 1}, {11, 0}})
    CHECK_FALSE(driver_cuda_of("540.4.0", device));
  CHECK(driver_cuda_of("580.95.05", ComputeCapability{12, 1}) == Version{13, 0});
  CHECK(driver_cuda_of("540.4.0", std::nullopt) == Version{12, 2});
}

TEST_CASE("a branch above the table") {
  for (const char* driver : {"616.1", "700.10"}) CHECK(is_driver_beyond_table(driver));
  for (const char* driver : {"615.99", "580.95.05", "1", "", "[N/A]"})
    CHECK_FALSE(is_driver_beyond_table(driver));
}

TEST_CASE("text that is no driver version has no CUDA") {
  for (const char* bad : {"", "[N/A]", "535.", ".104", "535.104.05.1", "535.104-beta", "v535", "535,104",
                          "-535", "99999999999999999999.1", "5 35"})
    CHECK_MESSAGE(cuda_of(bad) == "nothing", bad);
}

TEST_CASE("PTX ISA and driver") {
  CHECK(newest_ptx_for_driver({12, 8}) == Version{8, 7});
  CHECK(newest_ptx_for_driver({12, 7}) == Version{8, 6});
  CHECK(newest_ptx_for_driver({12, 5}) == newest_ptx_for_driver({12, 6}));
  CHECK(newest_ptx_for_driver({12, 10}) == Version{8, 8});
  CHECK_FALSE(newest_ptx_for_driver({13, 6}));
  CHECK_FALSE(newest_ptx_for_driver({0, 9}));

  CHECK(lowest_driver_cuda_for_ptx({8, 7}) == Version{12, 8});
  CHECK(lowest_driver_cuda_for_ptx({8, 5}) == Version{12, 5});
  CHECK(lowest_driver_cuda_for_ptx({9, 5}) == Version{13, 5});
  CHECK_FALSE(lowest_driver_cuda_for_ptx({9, 6}));
}

TEST_CASE("branches for messages") {
  CHECK(driver_branch_of({12, 8}) == 570);
  CHECK_FALSE(driver_branch_of({13, 5}));
  CHECK_FALSE(driver_branch_of({12, 10}));
  CHECK(last_driver_branch_for({3, 7}) == 470);
  CHECK(last_driver_branch_for({6, 1}) == 580);
  CHECK(last_driver_branch_for({7, 2}) == 580);
  CHECK_FALSE(last_driver_branch_for({7, 5}));
}

TEST_CASE("minor-version compatibility starts with CUDA 11") {
  CHECK(lowest_driver_cuda_for_toolkit({12, 4}) == Version{12, 0});
  CHECK(lowest_driver_cuda_for_toolkit({13, 5}) == Version{13, 0});
  CHECK(lowest_driver_cuda_for_toolkit({11, 8}) == Version{11, 0});
  CHECK(lowest_driver_cuda_for_toolkit({10, 2}) == Version{10, 2});
  CHECK(driver_branch_of(lowest_driver_cuda_for_toolkit({12, 9})) == 525);
  CHECK(driver_branch_of(lowest_driver_cuda_for_toolkit({13, 1})) == 580);
}
