#include "coverage/fix.h"

#include <doctest/doctest.h>

#include "containers.h"

using namespace archguard;
using namespace archguard::test;

namespace {

// The fix where these kernels are missing on a device; the first of them is the one that the report names.
std::string fix_for_missing(std::vector<std::string> kernels) {
  DeviceResult result;
  result.failures.push_back({kInvalidDeviceFunction, false, "", {}, "", "", kernels.front()});
  result.kernels.missing = std::move(kernels);
  return fix_for(result, device("9.0"), {}, std::nullopt);
}

std::vector<ExpectedImage> images(const std::vector<std::pair<const char*, bool>>& all) {
  std::vector<ExpectedImage> made;
  for (const auto& [arch, sass] : all) made.push_back({*parse_arch(arch), sass});
  return made;
}

}  // namespace

TEST_CASE("the fix for a missing kernel has the line that waives it") {
  CHECK(
      fix_for_missing({"_Z6secondPfi"}) ==
      "compile every source file that holds these kernels for 90 too, or waive them: --waivers FILE with the "
      "line '\"second(float*, int)\",9.0,why it may be absent'");
  CHECK(fix_for_missing({"_Z6secondv", "third"}) ==
        "compile every source file that holds these kernels for 90 too, or waive them: --waivers FILE with a "
        "line for each, such as 'second(),9.0,why it may be absent'");
}

TEST_CASE("the fix for images that were asked for and are absent has the entries to add") {
  CHECK(fix_for_absent(images({{"90", true}}), {}) ==
        "add 90-real to CMAKE_CUDA_ARCHITECTURES (nvcc: -gencode=arch=compute_90,code=sm_90; "
        "TORCH_CUDA_ARCH_LIST: 9.0)");
  CHECK(fix_for_absent(images({{"86", true}, {"90a", true}, {"90", true}, {"90", false}}), {}) ==
        "add 86-real, 90a-real and 90 to CMAKE_CUDA_ARCHITECTURES (nvcc: -gencode=arch=compute_86,code=sm_86 "
        "-gencode=arch=compute_90a,code=sm_90a -gencode=arch=compute_90,code=sm_90 "
        "-gencode=arch=compute_90,code=compute_90; TORCH_CUDA_ARCH_LIST: 8.6 9.0a 9.0+PTX)");
  CHECK(fix_for_absent(images({{"90", true}}), "foo") ==
        "remove -arch and -gencode flags that override CUDA_ARCHITECTURES of target 'foo' for this source "
        "file");
}
