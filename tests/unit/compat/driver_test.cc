#include "compat/driver.h"

#include <doctest/doctest.h>

#include "compat/rules.h"

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
  CHECK_FALSE(lowest_driver_cuda_for_ptx({8, 9}));  // no such ISA
  CHECK(driver_takes_ptx({8, 9}, {13, 0}) == Fit::unknown);
}

TEST_CASE("branches for messages") {
  CHECK(driver_branch_of({12, 8}) == 570);
  CHECK_FALSE(driver_branch_of({13, 5}));
  CHECK_FALSE(driver_branch_of({12, 10}));
  CHECK(last_driver_branch_for({3, 7}) == 470);
  CHECK(last_driver_branch_for({6, 1}) == 580);
  for (const ComputeCapability tegra : {ComputeCapability{5, 3}, {6, 2}, {7, 2}, {8, 7}})
    CHECK_FALSE(last_driver_branch_for(tegra));
  CHECK_FALSE(last_driver_branch_for({7, 5}));
}

TEST_CASE("the last CUDA of a device is that of its last branch, or of its last JetPack") {
  CHECK(last_driver_cuda_for({2, 0}) == Version{9, 1});
  CHECK(last_driver_cuda_for({3, 5}) == Version{11, 4});
  CHECK(last_driver_cuda_for({7, 0}) == Version{13, 0});
  CHECK(last_driver_cuda_for({3, 2}) == Version{6, 5});
  CHECK(last_driver_cuda_for({5, 3}) == Version{10, 2});
  CHECK(last_driver_cuda_for({6, 2}) == Version{10, 2});
  CHECK(last_driver_cuda_for({7, 2}) == Version{12, 2});
  CHECK(last_driver_cuda_for({10, 1}) == Version{12, 9});
  for (const ComputeCapability device : {ComputeCapability{7, 5}, {8, 7}, {9, 0}, {11, 0}, {13, 0}})
    CHECK_FALSE(last_driver_cuda_for(device));
}

TEST_CASE("a driver knows devices from its compiler's first on, to their last branch") {
  CHECK(first_driver_cuda_for({12, 0}) == Version{12, 8});
  CHECK(first_driver_cuda_for({10, 0}) == Version{12, 7});
  CHECK(first_driver_cuda_for({5, 2}) == Version{6, 5});
  CHECK_FALSE(first_driver_cuda_for({13, 0}));
  CHECK(driver_knows({12, 0}, {12, 8}) == Fit::yes);
  CHECK(driver_knows({12, 0}, {12, 0}) == Fit::no);
  CHECK(driver_knows({9, 0}, {11, 0}) == Fit::no);
  CHECK(driver_knows({8, 6}, {11, 0}) == Fit::unknown);  // it runs SASS of 8.0
  CHECK(driver_knows({12, 1}, {12, 8}) == Fit::unknown);
  CHECK(driver_knows({6, 1}, {13, 0}) == Fit::yes);
  CHECK(driver_knows({6, 1}, {13, 2}) == Fit::no);
  CHECK(driver_knows({5, 3}, {11, 0}) == Fit::no);
  CHECK(driver_knows({10, 1}, {13, 0}) == Fit::no);
  CHECK(driver_knows({13, 0}, {12, 0}) == Fit::yes);  // not known: not judged
}

TEST_CASE("which drivers load a cubin") {
  const auto takes = [](std::optional<Version> toolkit, int abi, Version driver) {
    return driver_takes_sass({toolkit, abi}, driver);
  };
  CHECK(takes(Version{13, 5}, 8, {13, 0}) == Fit::yes);
  CHECK(takes(Version{13, 0}, 8, {12, 9}) == Fit::unknown);
  CHECK(takes(Version{13, 0}, 8, {12, 6}) == Fit::no);
  CHECK(takes(std::nullopt, 8, {12, 6}) == Fit::no);
  CHECK(takes(Version{12, 8}, 8, {12, 8}) == Fit::yes);
  CHECK(takes(Version{12, 9}, 7, {12, 0}) == Fit::yes);
  CHECK(takes(Version{12, 0}, 7, {11, 8}) == Fit::no);
  CHECK(takes(Version{11, 8}, 7, {11, 0}) == Fit::yes);
  CHECK(takes(Version{11, 0}, 7, {10, 2}) == Fit::unknown);
  CHECK(takes(Version{10, 1}, 7, {10, 2}) == Fit::yes);
  CHECK(takes(std::nullopt, 7, {9, 0}) == Fit::yes);
  CHECK(lowest_driver_cuda_for_sass({Version{12, 8}, 8}) == Version{12, 7});
  CHECK(lowest_driver_cuda_for_sass({Version{13, 2}, 8}) == Version{13, 0});
  CHECK(lowest_driver_cuda_for_sass({Version{12, 8}, 7}) == Version{12, 0});
  CHECK_FALSE(lowest_driver_cuda_for_sass({std::nullopt, 7}));
}

TEST_CASE("how a Jetson gets its driver") {
  const auto says = [](ComputeCapability device, Version cuda, const char* what) {
    return jetpack_advice(cuda, device).find(what) != std::string::npos;
  };
  CHECK(says({8, 7}, {12, 6}, "upgrade to a JetPack that offers CUDA 12.6"));
  CHECK(says({8, 7}, {12, 6}, "cuda-compat"));
  CHECK(says({5, 3}, {10, 2}, "JetPack"));
  CHECK_FALSE(says({5, 3}, {10, 2}, "cuda-compat"));
  CHECK_FALSE(says({7, 2}, {12, 0}, "JetPack"));
  CHECK(says({7, 2}, {12, 0}, "cuda-compat for the board, of CUDA 12.0 to 12.2"));
}

TEST_CASE("a device is dropped by the branches behind its last") {
  CHECK(is_dropped_by_branch("590.44.01", {6, 1}));
  CHECK_FALSE(is_dropped_by_branch("580.65.06", {6, 1}));
  CHECK_FALSE(is_dropped_by_branch("590.44.01", {9, 0}));
  CHECK_FALSE(is_dropped_by_branch("", {6, 1}));
}

TEST_CASE("minor-version compatibility starts with CUDA 11") {
  CHECK(lowest_driver_cuda_for_toolkit({12, 4}) == Version{12, 0});
  CHECK(lowest_driver_cuda_for_toolkit({13, 5}) == Version{13, 0});
  CHECK(lowest_driver_cuda_for_toolkit({11, 8}) == Version{11, 0});
  CHECK(lowest_driver_cuda_for_toolkit({10, 2}) == Version{10, 2});
  CHECK(driver_branch_of(lowest_driver_cuda_for_toolkit({12, 9})) == 525);
  CHECK(driver_branch_of(lowest_driver_cuda_for_toolkit({13, 1})) == 580);
}
