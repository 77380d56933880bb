#include <doctest/doctest.h>

#include "fleet_builder.h"

using namespace archguard;

namespace {

std::string warnings(const char* devices, const char* toolkit, const SelectPolicy& policy = {}) {
  return join(select_architectures(fleet(devices), cuda(toolkit), policy).warnings, "\n");
}

}  // namespace

TEST_CASE("a driver below the toolkit's floor: 35, once for all devices with that driver") {
  CHECK(warnings("7.5@12.2 8.0@13.0 8.6@12.2", "13.0") ==
        "the driver of 7.5 (fleet.csv:2), 8.6 (fleet.csv:4) offers CUDA 12.2, too old for programs of CUDA "
        "13.0 (error "
        "35, cudaErrorInsufficientDriver): update it to CUDA 13.0 (driver 580) or newer, or build with CUDA "
        "12.9");
  CHECK(
      warnings("7.5@10.2", "11.0", with_ptx("none")) ==
      "the driver of 7.5 (fleet.csv:2) offers CUDA 10.2, too old for programs of CUDA 11.0 (error 35, "
      "cudaErrorInsufficientDriver): update it to CUDA 11.0 (driver 450) or newer, or build with CUDA 10.2");
}

TEST_CASE("a driver that runs the program and cannot compile its PTX") {
  CHECK(
      warnings("8.6@12.2 8.0@12.4", "12.4") ==
      "the driver of 8.6 (fleet.csv:2) offers CUDA 12.2 and takes PTX up to 8.2, too old to compile PTX 8.4 "
      "of CUDA 12.4 (error 222, "
      "cudaErrorUnsupportedPtxVersion): only SASS covers it; for JIT update it to CUDA 12.4 (driver 550) or "
      "newer");
  CHECK(warnings("8.6@12.2", "12.4", with_ptx("none")).empty());
  CHECK(warnings("8.6@12.5", "12.6").empty());  // one ISA for both
}

TEST_CASE("nothing is said against a driver that is newer than the table") {
  Device device;
  device.capability = ComputeCapability{9, 0};
  device.driver_version = "700.10";
  device.driver_cuda = Version{13, 4};
  device.cuda_by_branch = device.cuda_at_least = true;
  CHECK(select_architectures({device}, cuda("13.5"), {}).warnings.empty());
  device.cuda_at_least = false;
  CHECK(select_architectures({device}, cuda("13.5"), {}).warnings.size() == 1);
}

TEST_CASE("a Jetson gets no driver branch, but a JetPack") {
  const std::string jetpack =
      "upgrade to a JetPack that offers CUDA 13.0 or newer, or install NVIDIA's package cuda-compat for the "
      "board, and give the CUDA that it then offers as driver_cuda";
  const std::string too_old =
      "offers CUDA 12.6, too old for programs of CUDA 13.0 (error 35, cudaErrorInsufficientDriver): ";
  CHECK(warnings("8.7@12.6", "13.0") ==
        "the driver of 8.7 (fleet.csv:2) " + too_old + jetpack + ", or build with CUDA 12.9");
  CHECK(warnings("8.7@12.6 8.0@12.6", "13.0") ==
        "the driver of 8.7 (fleet.csv:2), 8.0 (fleet.csv:3) " + too_old +
            "update it to CUDA 13.0 (driver 580) or newer (a Jetson: " + jetpack +
            "), or build with CUDA 12.9");
}

TEST_CASE("no update is advised where NVIDIA makes none for the device") {
  CHECK(warnings("3.5@11.4", "11.8") ==
        "the driver of 3.5 (fleet.csv:2) offers CUDA 11.4 and takes PTX up to 7.4, too old to compile PTX "
        "7.8 of CUDA 11.8 (error 222, "
        "cudaErrorUnsupportedPtxVersion): only SASS covers it; no driver for 3.5 is new enough, 470 is the "
        "last "
        "branch");
}

TEST_CASE("of a device that is left out its driver is no matter") {
  CHECK(warnings("6.1@11.4 8.0", "13.0").empty());
}

TEST_CASE("a device beyond the table is marked") {
  CHECK(warnings("13.0 8.0", "13.0") ==
        "no toolkit from 8.0 to 13.5 knows 13.0: 13.0 (fleet.csv:2) judged by the general rules");
}

TEST_CASE("a device under the number that this toolkit no longer uses") {
  CHECK(warnings("10.1", "13.0") == "10.1 is called 11.0 since CUDA 13.0: write 11.0 for 10.1 (fleet.csv:2)");
  CHECK(warnings("10.1", "13.1") == "10.1 is called 11.0 since CUDA 13.0: write 11.0 for 10.1 (fleet.csv:2)");
  CHECK(warnings("10.1", "12.9").empty());
  CHECK(warnings("10.1", "12.4").empty());
}

TEST_CASE("the doubt about sm_120 on 12.1 is passed on") {
  CHECK(warnings("12.0 12.1", "12.9", minimal()) ==
        "sm_120 runs on 12.1 (fleet.csv:3) by NVIDIA's rule, which one report contradicts");
  CHECK(warnings("12.0 12.1", "12.9").empty());
}

TEST_CASE("a PTX that the compiler cannot make is left out aloud") {
  CHECK(warnings("8.0", "13.0", with_ptx("60")) == "CUDA 13.0 makes no PTX of compute_60: left out");
}
