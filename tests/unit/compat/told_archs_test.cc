#include "compat/told_archs.h"

#include <doctest/doctest.h>
#include <string>

using namespace archguard;

namespace {

std::string told_by(const char* name) {
  std::string text;
  for (const ArchRange& range : archs_told_by(name))
    text += std::to_string(range.first) + "-" + std::to_string(range.last) + " ";
  return text;
}

}  // namespace

TEST_CASE("the architectures that a name tells") {
  CHECK(told_by("k_sm_90") == "90-99 ");
  CHECK(told_by("kernel_sm70_noloop") == "70-79 ");
  CHECK(told_by("_ZN7cutlass4Sm90E") == "90-99 ");
  CHECK(told_by("gemm_sm103_compute_100") == "100-109 100-109 ");
  CHECK(told_by("hopper_gemm") == "90-90 ");
  CHECK(told_by("x_Volta_y") == "70-72 ");
  CHECK(told_by("maxwell_solver") == "50-53 ");
  for (const char* name : {"asm80", "sm_8", "sm_8000", "texturing", "prism90", "smooth", "_Z6adamPf", ""})
    CHECK(told_by(name) == "");
  CHECK(archs_told_by("hopper")[0].has({90, Suffix::a}));
  CHECK_FALSE(archs_told_by("hopper")[0].has({80, Suffix::none}));
}
