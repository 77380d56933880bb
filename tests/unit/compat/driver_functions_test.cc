#include "compat/driver_functions.h"

#include <doctest/doctest.h>

using namespace archguard;

TEST_CASE("a function of the driver API is there from one CUDA on") {
  CHECK(first_driver_with("cuGreenCtxCreate") == Version{12, 4});
  CHECK(first_driver_with("cuGetProcAddress") == Version{11, 3});
  CHECK(first_driver_with("cuGetProcAddress_v2") == Version{12, 0});
  CHECK(first_driver_with("cuMemAllocAsync_ptsz") == Version{11, 2});
  CHECK(first_driver_with("cuInit") == std::nullopt);  // of all drivers
  CHECK(first_driver_with("cuNothing") == std::nullopt);
  CHECK(first_driver_with("") == std::nullopt);
}
