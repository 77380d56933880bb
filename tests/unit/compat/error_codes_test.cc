#include "compat/error_codes.h"

#include <doctest/doctest.h>

using namespace archguard;

TEST_CASE("an error has CUDA's number and the runtime's name, where it is one of those that are judged") {
  CHECK(error_text(kInsufficientDriver) == "error 35, cudaErrorInsufficientDriver");
  CHECK(error_text(kNoDevice) == "error 100, cudaErrorNoDevice");
  CHECK(error_text(kUnsupportedPtxVersion) == "error 222, cudaErrorUnsupportedPtxVersion");
  CHECK(error_name(1) == "");
  CHECK(error_text(1) == "error 1");
}
