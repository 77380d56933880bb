#include "explain/facts.h"

#include <doctest/doctest.h>

#include "base/text.h"

using namespace archguard;

namespace {

std::string archs_text(std::string_view text) {
  std::vector<std::string> names;
  for (const Arch arch : archs_in(text)) names.push_back(to_string(arch));
  return join(names, " ");
}

std::string device_text(std::string_view text) {
  const auto device = device_in(text);
  return device ? to_string(*device) : "none";
}

}  // namespace

TEST_CASE("architectures are read as tools spell them, each once") {
  CHECK(archs_text("'sm_121a' and compute_90, sm_121a") == "121a 90");
  CHECK(archs_text("--gpu-name=sm_103a") == "103a");
  CHECK(archs_text("only supports sm100f.") == "100f");
  CHECK(archs_text("sm_121z plasm_80 sm_8 sm_ sm_12345") == "");
}

TEST_CASE("a device is read in each spelling of a capability") {
  CHECK(device_text("<= (9, 0) but your GPU has capability (12, 0) (too new)") == "12.0");
  CHECK(device_text("capability <= (9, 0) but your GPU has capability (12, 0)") == "12.0");
  CHECK(device_text("GTX 1080 which is of cuda capability 6.1.") == "6.1");
  CHECK(device_text("with CUDA capability sm_61 is not compatible") == "6.1");
  CHECK(device_text("architectures cc=860 archs=[750]") == "8.6");
  CHECK(device_text("compute capability of this device") == "none");
  CHECK(device_text("capability 123.4") == "none");
}

TEST_CASE("a capability that something asks for is no device, and of several devices none is taken") {
  CHECK(device_text("FP8 quantization requires compute capability 8.9 or higher") == "none");
  CHECK(device_text("CUDA GPUs with compute capability 3.5 and above") == "none");
  CHECK(device_text("with compute capability 8.0 (Ampere) or newer") == "none");
  CHECK(device_text("needs compute capability 7.5; this is a GTX 1080, compute capability 6.1") == "6.1");
  CHECK(device_text("it supports compute capability 7.5, but not compute capability 6.1") == "6.1");
  CHECK(
      device_text("on my 3090 (compute capability 8.6) it works. On my 1080 (compute capability 6.1): no") ==
      "none");
  CHECK(device_text("Device 0: compute capability 8.6; Device 1: compute capability 8.6") == "8.6");
  CHECK(tell_device("no kernel image", "requires compute capability 8.9 or higher").empty());
}

TEST_CASE("what the tables know of the pasted values is told") {
  const auto joined = [](const std::vector<std::string>& told) { return join(told, " | "); };
  CHECK(joined(tell_compilers("Value 'sm_121a'", "")) ==
        "nvcc, ptxas and NVRTC know sm_121a from CUDA 12.9 on");
  CHECK(joined(tell_compilers("Value 'sm_61'", "")) ==
        "nvcc, ptxas and NVRTC know sm_61 up to CUDA 12.9; newer releases dropped it");
  CHECK(joined(tell_compilers("Value 'sm_999'", "")) == "no known CUDA release has sm_999");
  CHECK(joined(tell_compilers("no name", "--gpu-name=sm_103a")) ==
        "nvcc, ptxas and NVRTC know sm_103a from CUDA 12.9 on");
  CHECK(joined(tell_ptx_versions("Unsupported .version 9.3; current version is '9.2'", "")) ==
        "CUDA 13.3 writes PTX 9.3 | drivers compile it from CUDA 13.3 (driver 610) on | "
        "what refused it takes PTX up to 9.2: it is of CUDA 13.2");
  CHECK(joined(tell_device("of cuda capability 6.1.", "")) ==
        "CUDA 8.0 to 12.9 can generate code (SASS) for 6.1 | driver branch 580 is the last that supports 6.1");
  CHECK(joined(tell_device("capability 99.0", "")) == "no known CUDA release makes code for 99.0");
  CHECK(joined(tell_two_cudas("version (11.8) mismatches PyTorch (12.8)", "")) ==
        "nvcc is of CUDA 11.8, torch was built with CUDA 12.8");
  CHECK(joined(tell_arch_specific("only supports sm100f", "")).find("are for 10.0, 10.3, 10.7 alone") !=
        std::string::npos);
  CHECK(joined(tell_torch_names("Unknown CUDA arch (12.0f) or", "")) ==
        "torch takes 12.0, whose code runs wherever that of 120f does");
  CHECK(joined(tell_torch_names("Unknown CUDA arch (8.6,9.0) or", "")).find("is not how torch names") !=
        std::string::npos);
  CHECK(joined(tell_library("libnvrtc.so.12: cannot open", "")).find("built with CUDA 12") !=
        std::string::npos);
  CHECK(tell_library("libcudnn.so.9: cannot open", "").empty());
  CHECK(joined(tell_library("cublas64_12.dll is not found", "")).find("built with CUDA 12") !=
        std::string::npos);
  CHECK(joined(tell_driver("", "too old (found version 11040).")) ==
        "the driver offers CUDA 11.4 (driver 470)");
  CHECK(tell_driver("", "found version 2.3 of it").empty());
  CHECK(joined(tell_condition("", "unsatisfied condition: cuda>=12.8, please")) ==
        "the image asks for CUDA 12.8 (driver 570) or newer");
}

TEST_CASE("a warning about names is told from a GPU without code") {
  const std::string list = "The current PyTorch install supports CUDA capabilities sm_90 sm_120.";
  const auto newer = tell_arch_list("with CUDA capability sm_121 is not compatible", list);
  REQUIRE_FALSE(newer.empty());
  CHECK(newer.front().find("SASS of sm_120 runs on 12.1") != std::string::npos);
  const auto none = tell_arch_list("with CUDA capability sm_61 is not compatible", list);
  REQUIRE_FALSE(none.empty());
  CHECK(none.front() == "SASS of none of these runs on 6.1: sm_90, sm_120");
  const std::string old =
      "The current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_86 compute_37.";
  const auto ptx = tell_arch_list("with CUDA capability sm_120 is not compatible", old);
  REQUIRE_FALSE(ptx.empty());
  CHECK(ptx.front() ==
        "SASS of none of these runs on 12.0: sm_37, sm_50, sm_86; PTX of compute_37 runs there, where the "
        "driver compiles it");
  const auto only = tell_arch_list("with CUDA capability sm_61 is not compatible",
                                   "install supports CUDA capabilities sm_70 compute_70.");
  REQUIRE_FALSE(only.empty());
  CHECK(only.front() == "SASS of none of these runs on 6.1: sm_70, nor PTX of compute_70");
  const std::string range =
      "which is of cuda capability 12.1. Minimum and Maximum cuda capability supported by "
      "this version of PyTorch is (8.0) - (12.0)";
  const auto spark = tell_arch_list(range, range);
  REQUIRE_FALSE(spark.empty());
  CHECK(spark.front().find("SASS of sm_120 runs on 12.1 by NVIDIA's rule, which one report contradicts") !=
        std::string::npos);
  const std::string beyond =
      "which is of cuda capability 6.1. Minimum and Maximum cuda capability supported by "
      "this version of PyTorch is (7.0) - (12.0)";
  CHECK(join(tell_arch_list(beyond, beyond), " ").find("SASS of") == std::string::npos);
  const auto ollama = tell_arch_list("in compiled architectures cc=860 archs=[750 800 1000]", "");
  REQUIRE_FALSE(ollama.empty());
  CHECK(ollama.front().find("SASS of sm_80 runs on 8.6") != std::string::npos);
}
