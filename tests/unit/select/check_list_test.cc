#include "select/check_list.h"

#include <doctest/doctest.h>

#include "fleet_builder.h"

using namespace archguard;

namespace {

// One line a device: "8.6: not-covered 209, nothing in the list runs on 8.6; add 86-real".
std::string judged(const DeviceList& devices, const char* toolkit, const char* list) {
  const auto judgements = judge_list(devices, cuda(toolkit), *parse_arch_list(list));
  std::string text;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const ListJudgement& each = judgements[devices.kind_number(i)];
    const auto& capability = devices.kind(i).capability;
    if (!is_wanted(devices.kind(i))) {
      CHECK(each.reason.empty());
      continue;
    }
    text += (capability ? to_string(*capability) : "N/A") + ": " + to_string(each.verdict) +
            (each.code != 0 ? " " + std::to_string(each.code) : "") + ", " + each.reason +
            (each.fix.empty() ? "" : "; add " + each.fix) + (each.advice.empty() ? "" : ": " + each.advice) +
            "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("SASS of the same major version and PTX of an older one cover") {
  CHECK(judged(fleet("8.6 9.0"), "13.0", "80-real;80-virtual") ==
        "8.6: sass, SASS in the list runs on 8.6\n"
        "9.0: jit, the driver compiles PTX in the list for 9.0\n");
}

TEST_CASE("a device that nothing in the list fits gets 209 and the entry to add") {
  CHECK(judged(fleet("7.5 9.0"), "13.0", "80-real;100a-virtual") ==
        "7.5: not-covered 209, nothing in the list runs on 7.5; add 75-real\n"
        "9.0: not-covered 209, nothing in the list runs on 9.0; add 90-real\n");
}

TEST_CASE("a device that this compiler cannot support has no entry to add") {
  CHECK(judged(fleet("6.1"), "13.0", "80") == "6.1: not-covered 209, nothing in the list runs on 6.1\n");
}

TEST_CASE("a device that this compiler has no SASS for has PTX to add") {
  CHECK(judged(fleet("12.0"), "11.8", "80-real;86-real") ==
        "12.0: not-covered 209, nothing in the list runs on 12.0; add 90-virtual\n");
}

TEST_CASE("PTX newer than the driver's compiler gives 222") {
  CHECK(judged(fleet("9.0@12.2"), "13.0", "80-virtual") ==
        "9.0: not-covered 222, only PTX in the list fits 9.0, and its ISA 9.0 is newer than a driver that "
        "offers "
        "CUDA 12.2 compiles; add 90-real\n");
}

TEST_CASE("no list serves a device that its driver does not know") {
  CHECK(judged(fleet("6.1@13.1"), "12.9", "61-real") ==
        "6.1: not-covered 100, its driver offers CUDA 13.1, and the last driver for 6.1 is branch 580 (CUDA "
        "13.0): keep its driver at branch 580, or leave this device out of the fleet\n");
  CHECK(judged(fleet("9.0@11.6"), "11.8", "90") ==
        "9.0: not-covered 100, its driver offers CUDA 11.6, and drivers know 9.0 from CUDA 11.8 on: "
        "update it to CUDA 11.8 (driver 520) or newer\n");
  CHECK(judged(fleet("12.1@12.8"), "12.9", "121") ==
        "12.1: unknown, its driver offers CUDA 12.8, and NVIDIA's compilers know 12.1 from CUDA 12.9 on: "
        "update it to CUDA 12.9 (driver 575) or newer\n");
}

TEST_CASE("a device without a capability is unknown, a hidden one is not judged") {
  const auto devices = fleet("? -9.0");
  CHECK(judged(devices, "13.0", "80") == "N/A: unknown, its compute capability is not known\n");
}

TEST_CASE("clang makes SASS of each entry, and no PTX where an entry is -real") {
  Compiler clang = cuda("11.8");
  clang.clang = "clang 19.1";
  const auto verdicts = [&](const char* list) {
    std::string text;
    for (const auto& each : judge_list(fleet("8.0 9.0"), clang, *parse_arch_list(list)))
      text += to_string(each.verdict) + " ";
    return text;
  };
  CHECK(verdicts("80") == "sass jit ");
  CHECK(verdicts("80-virtual") == "sass jit ");
  CHECK(verdicts("80-real;80-virtual") == "sass not-covered ");
  CHECK(verdicts("80-real;80") == "sass not-covered ");
}

TEST_CASE("an entry that the compiler cannot make is named with the toolkits that can") {
  const auto unmade = [](const Compiler& compiler, const char* list) {
    std::string text;
    for (const UnmadeEntry& each : unmade_entries(compiler, *parse_arch_list(list)))
      text += to_string(each.entry) + ": " + each.reason + "\n";
    return text;
  };
  CHECK(unmade(cuda("13.0"), "75-real;80;90a-real;120-virtual").empty());
  CHECK(unmade(cuda("13.0"), "61;80;130-real") ==
        "61: CUDA 13.0 makes no 61; the last toolkit that does is 12.9\n"
        "130-real: CUDA 13.0 makes no 130-real; no known toolkit does\n");
  CHECK(unmade(cuda("11.8"), "100-virtual") ==
        "100-virtual: CUDA 11.8 makes no 100-virtual; the first toolkit that does is 12.8\n");

  Compiler clang = cuda("11.8");
  clang.clang = "clang 14.0";
  clang.sass = clang.ptx = {{75, Suffix::none}, {80, Suffix::none}};
  CHECK(unmade(clang, "80;90") == "90: clang 14.0 with CUDA 11.8 makes no 90\n");

  Compiler newer = cuda("13.0");  // lists no names with a suffix, and the table knows none of its own
  newer.version = {14, 0};
  newer.sass = newer.ptx = {{80, Suffix::none}, {130, Suffix::none}};
  CHECK(unmade(newer, "130a;140a") == "140a: CUDA 14.0 makes no 140a; no known toolkit does\n");
}
