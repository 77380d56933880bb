#include "device/device.h"

#include <doctest/doctest.h>

using namespace archguard;

TEST_CASE("a device is named with its capability and its origin") {
  Device device;
  device.name = "NVIDIA T4";
  device.origin = "fleet.csv:4";
  CHECK(describe(device) == "NVIDIA T4 (compute capability unknown, fleet.csv:4)");
  device.capability = ComputeCapability{7, 5};
  CHECK(describe(device) == "NVIDIA T4 (7.5, fleet.csv:4)");
  device.origin.clear();
  CHECK(describe(device) == "NVIDIA T4 (7.5)");
  device.name.clear();
  CHECK(describe(device) == "7.5");
  device.origin = "--device 7.5";
  CHECK(describe(device) == "7.5 (--device 7.5)");
  device.capability.reset();
  CHECK(describe(device) == "device (compute capability unknown, --device 7.5)");
}

TEST_CASE("a name cannot drive the terminal") {
  Device device;
  device.name = "a\033[31m\nb";
  device.capability = ComputeCapability{7, 5};
  CHECK(describe(device) == R"(a\x1b[31m\nb (7.5))");
}
