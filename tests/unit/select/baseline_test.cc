#include <doctest/doctest.h>

#include "fleet_builder.h"

using namespace archguard;

namespace {

std::string baseline(const char* toolkit, const SelectPolicy& policy = {}) {
  return format_cmake(select_architectures({}, cuda(toolkit), policy));
}

SelectPolicy given(const char* list) {
  SelectPolicy policy;
  policy.baseline = parse_arch_list(list).value();
  return policy;
}

}  // namespace

TEST_CASE("without a device: the compiler's all-major without Tegra, and PTX of the highest") {
  CHECK(baseline("13.0") == "75-real;80-real;90-real;100-real;120-real;120-virtual");
  CHECK(baseline("12.8") == "50-real;60-real;70-real;80-real;90-real;100-real;120-real;120-virtual");
  CHECK(baseline("12.4") == "50-real;60-real;70-real;80-real;90-real;90-virtual");
  CHECK(baseline("11.8") == "35-real;50-real;60-real;70-real;80-real;90-real;90-virtual");
  CHECK(baseline("8.0") == "20-real;30-real;50-real;60-real;60-virtual");
}

TEST_CASE("for an aarch64 target every Tegra architecture joins") {
  SelectPolicy policy;
  policy.tegra_in_baseline = true;
  CHECK(baseline("13.0", policy) == "75-real;80-real;87-real;90-real;100-real;110-real;120-real;120-virtual");
  CHECK(baseline("11.8", policy) ==
        "35-real;50-real;53-real;60-real;62-real;70-real;72-real;80-real;87-real;90-real;90-virtual");
}

TEST_CASE("the PTX policy holds for the baseline too") {
  CHECK(baseline("12.4", with_ptx("none")) == "50-real;60-real;70-real;80-real;90-real");
  CHECK(baseline("12.4", with_ptx("oldest")) == "50-real;60-real;70-real;80-real;90-real;50-virtual");
  CHECK(baseline("12.4", with_ptx("80")) == "50-real;60-real;70-real;80-real;90-real;80-virtual");
}

TEST_CASE("a baseline says of itself what it is") {
  const auto selection = select_architectures({}, cuda("13.0"), {});
  CHECK(selection.baseline);
  CHECK(selection.toolkits_for_all.empty());
  CHECK(told(selection, {}) ==
        "75-real: baseline: 7.x from 7.5 on, without Tegra\n"
        "80-real: baseline: 8.x from 8.0 on, without Tegra\n"
        "90-real: baseline: 9.x from 9.0 on, without Tegra\n"
        "100-real: baseline: 10.x from 10.0 on, without Tegra\n"
        "120-real: baseline: 12.x from 12.0 on, without Tegra\n"
        "120-virtual: PTX fallback for GPUs newer than 12.0\n");
}

TEST_CASE("a given baseline is taken as it is, in order and once") {
  CHECK(baseline("13.0", given("90;80-real;90a-real;80-real;90-virtual")) ==
        "80-real;90-real;90a-real;90-virtual");
  CHECK(told(select_architectures({}, cuda("13.0"), given("80-real")), {}) ==
        "80-real: baseline, as given\n");
}

TEST_CASE("what the compiler cannot make is refused beforehand and left out with a warning") {
  auto policy = given("60;80-real");
  CHECK(told(select_architectures({}, cuda("13.0"), policy), {}) ==
        "80-real: baseline, as given\n"
        "warning: CUDA 13.0 makes no PTX of compute_60: left out\n"
        "warning: CUDA 13.0 makes no SASS of sm_60: left out\n");
  const auto refused = check_policy(policy, cuda("13.0"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().text() == "CUDA 13.0 makes no SASS of sm_60, no PTX of compute_60");
  CHECK(refused.error().fix ==
        "choose among 75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 "
        "121a "
        "121f");
  CHECK(check_policy(given("80;90a"), cuda("13.0")).ok());
  CHECK(check_policy({}, cuda("13.0")).ok());
  CHECK(check_policy(with_ptx("110"), cuda("13.0")).ok());
  CHECK(check_policy(with_ptx("110"), cuda("12.9")).error().text() ==
        "CUDA 12.9 makes no PTX of compute_110");
}

TEST_CASE("devices that cannot be selected are no reason for a baseline") {
  const auto devices = fleet("? -8.0");
  const auto selection = select_architectures(devices, cuda("13.0"), {});
  CHECK_FALSE(selection.baseline);
  CHECK(told(selection, devices) ==
        "excluded device (compute capability unknown, fleet.csv:2): its compute capability is not known\n"
        "excluded 8.0 (fleet.csv:3): hidden by the environment (CUDA_VISIBLE_DEVICES)\n");
}
