#include "compat/driver_text.h"

#include <doctest/doctest.h>

#include "compat/toolkit.h"

using namespace archguard;

namespace {

std::string why(const char* device, const char* driver) {
  return unknown_to_driver_text(*parse_capability(device), *parse_version(driver));
}

std::string advice(const char* device) {
  return last_driver_advice(*parse_capability(device));
}

}  // namespace

TEST_CASE("a number that no CUDA compiles for is no compute capability") {
  CHECK(unknown_device_text({42, 0}).find("42.0 is not a compute capability of any CUDA up to ") == 0);
  for (const ComputeCapability device : known_devices()) CHECK(unknown_device_text(device).empty());
}

TEST_CASE("why a driver does not know a device: it is older than the first, or newer than the last") {
  CHECK(why("9.0", "11.6") == "drivers know 9.0 from CUDA 11.8 on");
  CHECK(why("12.1", "12.8") == "NVIDIA's compilers know 12.1 from CUDA 12.9 on");
  CHECK(why("6.1", "13.1") == "the last driver for 6.1 is branch 580 (CUDA 13.0)");
  CHECK(why("5.3", "11.0") == "the last driver for 5.3 offers CUDA 10.2");
  CHECK(why("10.1", "13.0") == "10.1 is called 11.0 by drivers that offer more than CUDA 12.9");
}

TEST_CASE("a device whose last driver is older keeps it, is left out, or has another name") {
  CHECK(advice("6.1") == "keep its driver at branch 580, or leave this device out of the fleet");
  CHECK(advice("5.3") == "state the CUDA that its JetPack offers");
  CHECK(advice("10.1") == "name this device 11.0");
}
