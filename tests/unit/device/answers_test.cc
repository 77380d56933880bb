#include "device/answers.h"

#include <doctest/doctest.h>

using namespace archguard;

TEST_CASE("PCI bus ids of both libraries become one") {
  CHECK(normal_pci_bus_id("0000:3b:00.0") == "00000000:3B:00.0");
  CHECK(normal_pci_bus_id("00000000:3B:00.0") == "00000000:3B:00.0");
  CHECK(normal_pci_bus_id("1:2:3") == "00000001:02:03.0");
  for (const char* bad : {"", "3b:00.0", "0000:3b:00.0:1", "0000:xx:00.0", "0000:100:00.0", "0000:3b:20.0",
                          "0000:3b:00.8", "123456789:3b:00.0", "0000:3b:00.-1"})
    CHECK_MESSAGE(normal_pci_bus_id(bad).empty(), bad);
}

TEST_CASE("the kernel driver's version is in the first line") {
  CHECK(kernel_driver_version(
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
            "GCC version:  gcc version 12.2.0\n") == "535.104.05");
  CHECK(kernel_driver_version(
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n") ==
        "580.95.05");
  CHECK(kernel_driver_version("").empty());
  CHECK(kernel_driver_version("GCC version: 12.2.0\n").empty());
  CHECK(kernel_driver_version("NVRM version: none\n").empty());
}

TEST_CASE("records that make no sense are passed over") {
  ChildOutcome outcome;
  outcome.end = ChildOutcome::End::finished;
  outcome.records = {
      {""}, {"stage"}, {"device", "too", "few"}, {"failure", "cuInit", "100"}, {"unknown", "x"}};
  const auto answers = read_answers(outcome);
  CHECK(answers.stage.empty());
  CHECK(answers.devices.empty());
  REQUIRE(answers.failures.size() == 1);
  CHECK(answers.failures[0].call == "cuInit");
  CHECK(answers.failures[0].code == 100);
}
