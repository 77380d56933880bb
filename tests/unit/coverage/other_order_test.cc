#include "coverage/other_order.h"

#include <doctest/doctest.h>

#include "fatbins.h"

using namespace archguard;
using namespace archguard::test;

namespace {

std::string note_on(const Device& on, std::vector<Image> images, const JudgePolicy& policy = {}) {
  const FatbinCode code = fatbin_of(std::move(images));
  return other_order(code, on, policy, judge(code, on, policy)).value_or("");
}

}  // namespace

TEST_CASE("nvJitLink takes the nearest arch across SASS and PTX, SASS first at the same arch") {
  const auto choice = [](std::vector<Image> images, const std::string& on) {
    return linker_choice(fatbin_of(std::move(images)), *parse_capability(on));
  };
  CHECK(choice({sass("80"), ptx("86", "9.0")}, "8.6") == 1);
  CHECK(choice({ptx("80", "9.0"), sass("80")}, "8.6") == 1);
  CHECK(choice({ptx("80", "8.0"), ptx("80", "9.0")}, "9.0") == 0);
  CHECK(choice({ptx("86", "8.0"), ptx("86", "9.0")}, "8.6") == 1);
  CHECK(choice({sass("90"), sass("90a")}, "9.0") == 1);
  CHECK(choice({sass("100"), sass("100f"), sass("100a")}, "10.0") == 2);
  CHECK(choice({sass("100"), sass("100f"), sass("100a")}, "10.3") == 1);
  CHECK_FALSE(choice({sass("80")}, "9.0").has_value());
}

TEST_CASE("a note says where that order would end otherwise") {
  CHECK(note_on(device("8.6", "12.4"), {sass("80"), ptx("86", "9.0")}) ==
        "the verdict goes by sm_80; by nvJitLink's order compute_86 (ISA 9.0) would be taken, and fail with "
        "error "
        "222");
  CHECK(note_on(device("8.6", "12.2"), {sass("80"), zstd(ptx("86", "8.0"))}) ==
        "the verdict goes by sm_80; by nvJitLink's order compute_86 (ISA 8.0) would be taken, and fail with "
        "error "
        "200");
  const Kernels two{{"k", KernelState::real}, {"l", KernelState::real}};
  CHECK(note_on(device("8.6"), {sass("80", two), ptx("86", "8.0")}) ==
        "the verdict goes by sm_80; by nvJitLink's order compute_86 (ISA 8.0) would be taken, and lack a "
        "kernel "
        "or variable");
  JudgePolicy sass_only;
  sass_only.require_sass = true;
  CHECK(note_on(device("8.6"), {sass("80"), ptx("86", "9.0")}, sass_only) ==
        "the verdict goes by sm_80; by nvJitLink's order compute_86 (ISA 9.0) would be taken, and be no "
        "answer to what "
        "was asked for");
}

TEST_CASE("no note where both orders end alike, nothing fits, or the environment decides") {
  CHECK(note_on(device("8.6", "13.0"), {sass("80"), ptx("86", "9.0")}).empty());
  CHECK(note_on(device("8.6", "12.4"), {sass("80"), sass("86"), ptx("86", "9.0")}).empty());
  CHECK(note_on(device("9.0", "12.4"), {sass("80")}).empty());
  CHECK(note_on(device("8.6", "12.4"), {sass("80", {}), ptx("86", "9.0")}).empty());
  JudgePolicy forced;
  forced.environment.disables_jit = "CUDA_DISABLE_PTX_JIT";
  CHECK(note_on(device("8.6", "12.4"), {sass("80"), ptx("86", "9.0")}, forced).empty());
}
