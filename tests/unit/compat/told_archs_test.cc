#include "compat/told_archs.h"

#include <doctest/doctest.h>
#include <string>

using namespace archguard;

namespace {

std::string told_by(const char* name) {
  std::string text;
  for (const ToldArchs& told : archs_told_by(name))
    text += std::to_string(told.first) + "-" + std::to_string(told.last) + " ";
  return text;
}

}  // namespace

TEST_CASE("the architectures that a name tells") {
  CHECK(told_by("k_sm_90") == "90-99 ");
  CHECK(told_by("kernel_sm70_noloop") == "70-79 ");
  CHECK(told_by("_ZN7cutlass4Sm90E") == "90-99 ");
  CHECK(told_by("_ZN7cutlass6KernelILi128ENS_4arch4Sm80EEEvv") == "80-89 ");
  CHECK(told_by("gemm_sm103_sm_90a") == "100-109 90-99 ");
  CHECK(told_by("hopper_gemm") == "90-90 ");
  CHECK(told_by("x_Volta_y") == "70-72 ");
  CHECK(told_by("VoltaGemm") == "70-72 ");
  CHECK(told_by("runVoltaGemm") == "70-72 ");
  CHECK(told_by("maxwell_solver") == "50-53 ");
  CHECK(told_by("ampere2gemm") == "80-88 ");
  CHECK(archs_told_by("hopper")[0].has({90, Suffix::a}));
  CHECK_FALSE(archs_told_by("hopper")[0].has({80, Suffix::none}));
}

TEST_CASE("a word that goes on is another word") {
  for (const char* name : {"asm80", "sm_8", "sm_8000", "texturing", "prism90", "smooth", "_Z6adamPf", "",
                           "voltage_update", "_Z14voltage_updatePf", "amperes", "pascals", "turings",
                           "compute_80_bins", "_Z7voltagef", "hoppers", "SMALL_80"})
    CHECK(told_by(name) == "");
}

TEST_CASE("an identifier of a mangled name ends where its length says") {
  CHECK(told_by("_Z8k_hopperf") == "90-90 ");
  CHECK(told_by("_ZL8k_hopperPf") == "90-90 ");
  CHECK(told_by("_ZN6hopper4gemmILi80EEEvv") == "90-90 ");
  CHECK(told_by("_Z5voltaILi5EEvf") == "70-72 ");
  CHECK(told_by("k_hopperf") == "");
  CHECK(told_by("_Z99999999999999999999999999hopper") == "90-90 ");
}

TEST_CASE("the devices that such a kernel is for") {
  const auto is_for = [](const char* name, ComputeCapability device) {
    return archs_told_by(name).at(0).is_for(device);
  };
  CHECK(is_for("sm80_gemm", {8, 0}));
  CHECK(is_for("sm80_gemm", {8, 9}));
  CHECK_FALSE(is_for("sm86_gemm", {8, 0}));
  CHECK(is_for("ampere_gemm", {8, 0}));
  CHECK_FALSE(is_for("ampere_gemm", {8, 9}));
  CHECK_FALSE(is_for("sm80_gemm", {9, 0}));
}
