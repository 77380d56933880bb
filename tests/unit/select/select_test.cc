#include <doctest/doctest.h>

#include "fleet_builder.h"

using namespace archguard;

namespace {

std::string list(const char* devices, const char* toolkit, const SelectPolicy& policy = {}) {
  return format_cmake(select_architectures(fleet(devices), cuda(toolkit), policy));
}

std::string all_told(const char* devices, const char* toolkit, const SelectPolicy& policy = {}) {
  return told(select_architectures(fleet(devices), cuda(toolkit), policy), fleet(devices));
}

std::string versions(const std::vector<Version>& all) {
  std::string text;
  for (const Version version : all) text += (text.empty() ? "" : " ") + to_string(version);
  return text;
}

// "8.0 to 12.9"
std::string range(const Exclusion& excluded) {
  return (excluded.first_toolkit ? to_string(*excluded.first_toolkit) : "nothing") + " to " +
         (excluded.last_toolkit ? to_string(*excluded.last_toolkit) : "nothing");
}

}  // namespace

TEST_CASE("exact SASS for each device, and PTX of the highest") {
  CHECK(list("8.6 8.0", "13.0") == "80-real;86-real;86-virtual");
  CHECK(list("7.5 8.7 12.1 9.0", "13.0") == "75-real;87-real;90-real;121-real;121-virtual");
}

TEST_CASE("equal devices share an entry, whose reason names each model once") {
  auto devices = fleet("8.0 8.0 8.0 8.0 8.0");
  devices[0].name = "NVIDIA A100";
  const auto selection = select_architectures(devices, cuda("13.0"), {});
  REQUIRE(selection.entries.size() == 2);
  CHECK(selection.entries[0].reason ==
        "NVIDIA A100 (8.0, fleet.csv:2), 8.0 (fleet.csv:3) and 3 more like it");
  CHECK(selection.entries[0].devices == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(selection.entries[1].reason == "PTX fallback for GPUs newer than 8.0");
  CHECK(selection.entries[1].devices.empty());
}

TEST_CASE("a device newer than the toolkit lives on the toolkit's highest PTX below it") {
  CHECK(list("8.0 12.0", "12.4") == "80-real;90-virtual");
  CHECK(list("12.0", "12.4") == "90-virtual");
  CHECK(list("8.8 9.0", "12.4") == "90-real;87-virtual;90-virtual");
  CHECK(all_told("8.0 12.0", "12.4") ==
        "80-real: 8.0 (fleet.csv:2)\n"
        "90-virtual: through JIT for 12.0 (fleet.csv:3), for which CUDA 12.4 has no SASS (12.8 is the "
        "first that has); needs a driver "
        "that offers "
        "CUDA 12.8 (driver 570) or newer; PTX fallback for GPUs newer than 9.0\n");
}

TEST_CASE("the oldest PTX reaches every device") {
  CHECK(list("8.0 8.6 12.0", "12.4", with_ptx("oldest")) == "80-real;86-real;80-virtual");
  CHECK(list("8.8 9.0", "12.4", with_ptx("oldest")) == "90-real;87-virtual");
  CHECK(list("12.0 10.0", "12.4", with_ptx("oldest")) == "90-virtual");
  CHECK(all_told("8.0", "12.4", with_ptx("oldest")) ==
        "80-real: 8.0 (fleet.csv:2)\n80-virtual: PTX fallback for every GPU from 8.0 on\n");
}

TEST_CASE("without PTX a device newer than the toolkit is left out") {
  CHECK(list("8.0 8.6", "13.0", with_ptx("none")) == "80-real;86-real");
  CHECK(all_told("8.0 12.0", "12.4", with_ptx("none")) ==
        "80-real: 8.0 (fleet.csv:2)\n"
        "excluded 12.0 (fleet.csv:3): CUDA 12.4 makes no SASS for 12.0, and PTX is ruled out; the first "
        "toolkit that supports it is 12.8\n");
}

TEST_CASE("PTX of a given architecture, with a suffix only on request") {
  CHECK(list("8.0", "13.0", with_ptx("75")) == "80-real;75-virtual");
  CHECK(list("9.0", "13.0", with_ptx("90a")) == "90-real;90a-virtual");
  CHECK(all_told("9.0 12.0", "12.4", with_ptx("90a")) ==
        "90-real: 9.0 (fleet.csv:2)\n"
        "90a-virtual: PTX as asked for\n"
        "excluded 12.0 (fleet.csv:3): CUDA 12.4 makes no SASS for 12.0, and the PTX asked for (compute_90a) "
        "does not run on it; the first toolkit that supports it is 12.8\n");
}

TEST_CASE("a toolkit without the exact architecture: the nearest SASS that runs, and PTX") {
  CHECK(all_told("8.6", "11.0") ==
        "80-real: nearest that runs on 8.6 (fleet.csv:2), for which CUDA 11.0 has no SASS of its own\n"
        "80-virtual: PTX fallback for GPUs newer than 8.0\n");
}

TEST_CASE("the fewest images: one a major version, the newest that fits its oldest device, Tegra apart") {
  CHECK(list("8.0 8.6 8.9", "13.0", minimal()) == "80-real;80-virtual");
  CHECK(list("8.6 8.9", "13.0", minimal()) == "86-real;86-virtual");
  CHECK(list("8.9 8.7 8.6 12.1 12.0", "13.0", minimal(with_ptx("none"))) == "86-real;87-real;120-real");
  CHECK(list("5.3 5.2 5.0", "12.9", minimal(with_ptx("none"))) == "50-real;53-real");
  CHECK(list("8.8 8.9", "13.0", minimal(with_ptx("none"))) == "88-real;89-real");
  CHECK(all_told("8.6 8.0", "13.0", minimal()) ==
        "80-real: 8.0 (fleet.csv:3); runs on 8.6 (fleet.csv:2) too\n"
        "80-virtual: PTX fallback for GPUs newer than 8.0\n");
}

TEST_CASE("a suffix on request: SASS where there is such an image that serves the same devices, never PTX") {
  CHECK(list("8.0 9.0", "13.0", with_suffix(Suffix::a)) == "80-real;90a-real;90-virtual");
  CHECK(list("9.0 10.0 10.3", "13.0", with_suffix(Suffix::f)) == "90-real;100f-real;103f-real;103-virtual");
  // Fewer images than devices: 100a would serve one of the two, 100f serves both.
  CHECK(list("10.0 10.3", "13.0", minimal(with_suffix(Suffix::a))) == "100-real;100-virtual");
  CHECK(list("10.0 10.3", "13.0", minimal(with_suffix(Suffix::f))) == "100f-real;100-virtual");
  CHECK(all_told("9.0", "13.0", with_suffix(Suffix::a)) ==
        "90a-real: 9.0 (fleet.csv:2); with a, as asked for: runs on 9.0 alone\n"
        "90-virtual: PTX fallback for GPUs newer than 9.0\n");
  CHECK(all_told("8.0", "13.0", with_suffix(Suffix::f)) ==
        "80-real: 8.0 (fleet.csv:2)\n"
        "80-virtual: PTX fallback for GPUs newer than 8.0\n"
        "warning: CUDA 13.0 makes no SASS with 'f' that runs on these devices: plain SASS was chosen\n");
}

TEST_CASE(
    "a device that the toolkit dropped is left out with the last toolkit that supports it; the rest goes on") {
  const auto devices = fleet("6.1 8.6 3.5");
  const auto selection = select_architectures(devices, cuda("13.0"), {});
  CHECK(told(selection, devices) ==
        "86-real: 8.6 (fleet.csv:3)\n"
        "86-virtual: PTX fallback for GPUs newer than 8.6\n"
        "excluded 6.1 (fleet.csv:2): CUDA 13.0 makes nothing that runs on 6.1; the last toolkit that does is "
        "12.9\n"
        "excluded 3.5 (fleet.csv:4): CUDA 13.0 makes nothing that runs on 3.5; the last toolkit that does is "
        "11.8\n");
  CHECK(range(selection.why_excluded[0]) == "8.0 to 12.9");
  CHECK(versions(selection.toolkits_for_all) ==
        "8.0 9.0 9.1 9.2 10.0 10.1 10.2 11.0 11.1 11.2 11.3 11.4 11.5 11.6 11.7 11.8");
  CHECK(selection.toolkits_note ==
        "the toolkits that support the whole fleet: 11.0 to 11.8 with SASS for each device; 8.0 to 10.2 with "
        "PTX "
        "for some");
  CHECK(select_architectures(fleet("3.5 9.0@11.8 12.0@11.8"), cuda("13.0"), with_ptx("none")).toolkits_note ==
        "no known toolkit supports the whole fleet");
  CHECK(select_architectures(fleet("8.6 -6.1 ?"), cuda("13.0"), {}).toolkits_note.empty());
}

TEST_CASE("the note tells toolkits with SASS for each device from those that leave some to the JIT") {
  const auto note = [](const char* devices, const SelectPolicy& policy = {}) {
    return select_architectures(fleet(devices), cuda("13.0"), policy).toolkits_note;
  };
  const std::string start = "the toolkits that support the whole fleet: ";
  CHECK(note("10.0 9.0 6.1") ==
        start + "12.8 to 12.9 with SASS for each device; 8.0 to 12.6 with PTX for some");
  CHECK(note("10.0 6.1", with_ptx("none")) == start + "12.8 to 12.9");
  CHECK(note("6.1") == start + "8.0 to 12.9");
  CHECK(note("12.0 2.0") == start + "8.0 with PTX for some");
}

TEST_CASE("nothing left to serve is an empty list, no baseline and no lone PTX") {
  const auto selection = select_architectures(fleet("6.1"), cuda("13.0"), {});
  CHECK(selection.entries.empty());
  CHECK_FALSE(selection.baseline);
  CHECK(list("6.1", "13.0", with_ptx("90")).empty());
  CHECK(list("1.3", "8.0").empty());
  CHECK(range(select_architectures(fleet("1.3"), cuda("8.0"), {}).why_excluded[0]) == "nothing to nothing");
}

TEST_CASE("a device that its driver does not know is warned of, and of its driver nothing else is said") {
  const auto warnings = [](const char* device, const char* toolkit) {
    std::string text;
    for (const std::string& each : select_architectures(fleet(device), cuda(toolkit), {}).warnings)
      text += each + "\n";
    return text;
  };
  CHECK(
      warnings("6.1@13.1", "12.9") ==
      "the driver of 6.1 (fleet.csv:2) offers CUDA 13.1, and the last driver for 6.1 is branch 580 (CUDA "
      "13.0) (error 100, cudaErrorNoDevice): keep its driver at branch 580, or leave this device out of the "
      "fleet\n");
  CHECK(
      warnings("9.0@11.6", "12.9") ==
      "the driver of 9.0 (fleet.csv:2) offers CUDA 11.6, and drivers know 9.0 from CUDA 11.8 on (error 100, "
      "cudaErrorNoDevice): update it to CUDA 11.8 (driver 520) or newer\n");
  CHECK(warnings("12.1@12.8", "12.9") ==
        "the driver of 12.1 (fleet.csv:2) offers CUDA 12.8, and NVIDIA's compilers know 12.1 from CUDA 12.9 "
        "on: "
        "whether it runs there cannot be told: update it to CUDA 12.9 (driver 575) or newer\n");
  CHECK(warnings("10.1@13.0", "12.9").find("name this device 11.0") != std::string::npos);
  CHECK(warnings("6.1@13.0", "12.9").find("error 100") == std::string::npos);
}

TEST_CASE("a device that needs JIT, with a driver too old for it: 222, and the toolkits on either side") {
  const auto devices = fleet("8.0 12.0@12.2");
  const auto selection = select_architectures(devices, cuda("12.4"), {});
  CHECK(told(selection, devices) ==
        "80-real: 8.0 (fleet.csv:2)\n"
        "80-virtual: PTX fallback for GPUs newer than 8.0\n"
        "excluded 12.0 (fleet.csv:3): CUDA 12.4 makes no SASS for 12.0, and a driver that offers CUDA 12.2 "
        "does not "
        "compile its PTX 8.4 (error 222, cudaErrorUnsupportedPtxVersion); the first toolkit that makes SASS "
        "for it "
        "is 12.8\n"
        "warning: the driver of 12.0 (fleet.csv:3) offers CUDA 12.2, and drivers know 12.0 from CUDA 12.8 on "
        "(error 100, cudaErrorNoDevice): update it to CUDA 12.8 (driver 570) or newer\n");
  CHECK(range(selection.why_excluded[1]) == "8.0 to 12.9");
}

TEST_CASE("the toolkits for a fleet heed its drivers: minor-version compatibility and the JIT") {
  const auto toolkits = [](const char* devices) {
    return versions(select_architectures(fleet(devices), cuda("12.4"), {}).toolkits_for_all);
  };
  CHECK(toolkits("7.5@11.4 6.1") ==
        "8.0 9.0 9.1 9.2 10.0 10.1 10.2 11.0 11.1 11.2 11.3 11.4 11.5 11.6 11.7 11.8");
  CHECK(toolkits("9.0@11.6") == "8.0 9.0 9.1 9.2 10.0 10.1 10.2 11.0 11.1 11.2 11.3 11.4 11.5 11.6 11.8");
  CHECK(toolkits("2.0 8.0") == "8.0");
  CHECK(toolkits("1.3 8.0").empty());
  CHECK(toolkits("2.0 -1.3 ?") == "8.0");
  CHECK(versions(select_architectures(fleet("8.9 7.0"), cuda("12.4"), with_ptx("none")).toolkits_for_all) ==
        "11.0 11.1 11.2 11.3 11.4 11.5 11.6 11.7 11.8 12.0 12.1 12.2 12.3 12.4 12.5 12.6 12.8 12.9");
}

TEST_CASE("an nvcc newer than the table: its own list, and JIT only for drivers of its own level") {
  Compiler compiler = cuda("13.5");
  compiler.version = {14, 1};
  compiler.ptx_isa = {};
  compiler.sass.push_back({130, Suffix::none});
  compiler.ptx.push_back({130, Suffix::none});
  const auto devices = fleet("13.0 14.0@14.1 14.0@14.0");
  CHECK(
      told(select_architectures(devices, compiler, {}), devices) ==
      "130-real: 13.0 (fleet.csv:2)\n"
      "130-virtual: through JIT for 14.0 (fleet.csv:3), for which CUDA 14.1 has no SASS; needs a driver that "
      "offers "
      "CUDA 14.1 or newer; PTX fallback for GPUs newer than 13.0\n"
      "excluded 14.0 (fleet.csv:4): CUDA 14.1 makes no SASS for 14.0, and a driver that offers CUDA 14.0 may "
      "not "
      "compile its PTX (error 222, cudaErrorUnsupportedPtxVersion); the last toolkit that supports it is 13.5\n"
      "warning: no toolkit from 8.0 to 13.5 knows 13.0: 13.0 (fleet.csv:2) judged by the general rules\n"
      "warning: no toolkit from 8.0 to 13.5 knows 14.0: 14.0 (fleet.csv:3) and 1 more like it judged by the "
      "general rules\n");
}

TEST_CASE("for clang, an entry with PTX is both") {
  Compiler clang = cuda("11.8");
  clang.clang = "clang 14.0";
  const auto select = [&](const char* devices, const SelectPolicy& policy) {
    return told(select_architectures(fleet(devices), clang, policy), fleet(devices));
  };
  CHECK(select("8.0 9.0", {}) ==
        "80-real: 8.0 (fleet.csv:2)\n90: 9.0 (fleet.csv:3); PTX fallback for GPUs newer than 9.0\n");
  CHECK(select("8.0", with_ptx("60")) ==
        "60: PTX as asked for; with SASS, which clang cannot leave out\n80-real: 8.0 (fleet.csv:2)\n");
  clang.sass = clang.ptx = {{80, Suffix::none}, {86, Suffix::none}};
  CHECK(select("9.0", {}) ==
        "86: through JIT for 9.0 (fleet.csv:2), for which clang 14.0 with CUDA 11.8 has no SASS; needs a "
        "driver "
        "that offers CUDA 11.8 (driver 520) or newer; PTX fallback for GPUs newer than 8.6; with SASS, which "
        "clang "
        "cannot leave out\n");
  const Selection selection = select_architectures({}, clang, {});
  CHECK(format_cmake(selection) == "80");
}
