// Fat binaries of variables: what they ask for, and what an image lacks.
#include <doctest/doctest.h>

#include "coverage/expected_images.h"
#include "coverage/judge_fatbin.h"
#include "fatbins.h"

using namespace archguard;
using namespace archguard::test;

namespace {

Image variables(const std::string& arch, const std::vector<std::string>& names = {"dv"}) {
  return with_variables(sass(arch, {}), names);
}

}  // namespace

TEST_CASE("a container of variables asks for an image as one of kernels does") {
  CHECK(judge(fatbin_of({variables("80")}), device("8.6"), {}).verdict == Verdict::sass);
  CHECK(judge(fatbin_of({variables("80")}), device("9.0"), {}).code == kNoKernelImage);
  CHECK(judge(fatbin_of({with_variables(ptx("80", "8.0", {}), {"dv"})}), device("9.0"), {}).verdict ==
        Verdict::jit);
  CHECK(judge(fatbin_of({variables("90a")}), device("8.0"), {}).verdict == Verdict::specific);
  CHECK(judge(fatbin_of({variables("80")}, false, true), device("9.0"), {}).code == kNoKernelImage);
  CHECK(judge(fatbin_of({variables("80")}, true, true), device("9.0"), {}).verdict == Verdict::nothing);
  CHECK(describe_images(fatbin_of({variables("80")})) == "sm_80 cubin, no PTX");
  CHECK(describe_images(fatbin_of({variables("80"), sass("90")})) ==
        "sm_80 cubin without kernels, sm_90 cubin, no PTX");
  CHECK(expect_images(fatbin_of({variables("80")}), {{*parse_arch("90"), true}}).verdict ==
        ExpectVerdict::lacks);

  JudgePolicy plain_ptx;
  plain_ptx.require_ptx = true;
  CHECK(judge(fatbin_of({variables("80"), with_variables(ptx("80", "8.0", {}), {"dv"})}), device("8.0"),
              plain_ptx)
            .verdict == Verdict::sass);
}

TEST_CASE("a variable that the image taken lacks is a gap") {
  const auto code = fatbin_of({variables("80", {"a", "b", "c"}), variables("90", {"b"})});
  CHECK(compare_kernels(code, 0).variables.empty());
  CHECK(compare_kernels(code, 1).variables == std::vector<std::string>{"a", "c"});
}
