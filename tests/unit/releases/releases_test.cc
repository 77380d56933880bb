#include "releases/companions.h"
#include "releases/releases.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "base/text.h"
#include "releases/table.h"

using namespace archguard;

namespace {

constexpr ComputeCapability kPascal{6, 1};

const Release& torch(std::string_view version) {
  for (const Release* each : releases_of("torch", "x86_64"))
    if (each->version == version) return *each;
  FAIL("torch " << std::string(version) << " is not in the table");
  return measured_releases().front();
}

}  // namespace

TEST_CASE("every row of the table was understood") {
  const auto words = [](const char* text) {
    std::size_t count = 0;
    for (const std::string_view each : split(text, ' ')) count += each.empty() ? 0U : 1U;
    return count;
  };
  REQUIRE(measured_releases().size() == release_rows().size());
  for (std::size_t i = 0; i < release_rows().size(); ++i) {
    const ReleaseRow& row = release_rows()[i];
    const Release& release = measured_releases()[i];
    CAPTURE(row.package);
    CAPTURE(row.version);
    CHECK(release.devices.size() == words(row.devices));
    CHECK(release.sass.size() == words(row.sass));
    CHECK(release.sass_some.size() == words(row.sass_some));
    CHECK(release.ptx.size() == words(row.ptx));
    CHECK(release.ptxas.size() == words(row.ptxas));
    CHECK(release.pythons.size() == words(row.pythons));
    CHECK_FALSE(release.pythons.empty());
    CHECK_FALSE((release.devices.empty() && release.ptxas.empty()));
    CHECK(release.measured.size() == 10);
    for (const ServedDevice& each : release.devices)
      CHECK(serves(release, {each.device, {}}) == (each.partly ? Serves::partly : Serves::yes));
  }
}

TEST_CASE("Pascal is served by torch up to 2.7.1, through sm_60") {
  CHECK(serves(torch("2.7.1"), {kPascal, {}}) == Serves::yes);
  CHECK(image_for(torch("2.7.1"), kPascal) == "sm_60");
  CHECK(serves(torch("2.8.0"), {kPascal, {}}) == Serves::no);
  CHECK(image_for(torch("2.8.0"), kPascal).empty());
  const Release* last = newest_serving("torch", "x86_64", {{kPascal, {}}});
  REQUIRE(last != nullptr);
  CHECK(last->version == "2.7.1");
}

TEST_CASE("a release whose torch does not support the device does not, since pip installs that torch") {
  const Release* last = newest_serving("torchvision", "x86_64", {{kPascal, {}}});
  REQUIRE(last != nullptr);
  CHECK(last->version == "0.22.1");
  const ReleasesQuestion question{"torchvision", "x86_64", {{kPascal, {}}}, {}};
  CHECK(releases_text(question).find(
            "\n  torchvision 0.25.0 has code for it, but pins torch 2.10.0, which does not\n") == std::string::npos);
  CHECK(releases_text(question).find("\n  torchvision 0.23.0 has code for it, but pins torch 2.8.0, which does not\n") !=
        std::string::npos);
  CHECK(releases_json(question).find("\"pins_another\": \"torchvision 0.23.0 has code") != std::string::npos);
  CHECK(pins_another(choose_release({"torch", "x86_64", {{kPascal, {}}}, {}}), {"torch", "x86_64", {{kPascal, {}}}, {}}).empty());
  // xformers pins a patch that was not measured; that of the same minor release was.
  const Release* xformers = newest_serving("xformers", "x86_64", {{kPascal, {}}});
  REQUIRE(xformers != nullptr);
  CHECK(xformers->companions == std::vector<std::string>{"torch==2.7.0"});
}

TEST_CASE("versions in a range, as PEP 440 compares them") {
  CHECK(is_in_range("2.10.0", ">=2.4,<3"));
  CHECK(is_in_range("2.4", ">=2.4.0"));
  CHECK(is_in_range("2.4.1", ""));
  CHECK_FALSE(is_in_range("3.0", "<3"));
  CHECK_FALSE(is_in_range("2.3.1", ">=2.4,<3"));
  CHECK_FALSE(is_in_range("2.4", "!=2.4.0"));
  CHECK_FALSE(is_in_range("2.4", "~=2.4"));  // not known
}

TEST_CASE("a range of torch is narrowed to one that the driver takes") {
  // bitsandbytes itself runs under CUDA 12.4; the newest torch in its range needs 13.0.
  const ReleasesQuestion question{"bitsandbytes", "x86_64", {{{8, 6}, Version{12, 4}}}, {}};
  const ReleaseChoice choice = choose_release(question);
  REQUIRE(choice.found != nullptr);
  const std::string line = install_line(choice, question);
  const auto at = line.find(" torch==");
  REQUIRE(at != std::string::npos);
  const Release along = torch(line.substr(at + 8));
  CHECK(serves(along, question.devices.front()) == Serves::yes);
  // Where the newest torch supports the device, pip takes it of itself.
  const ReleasesQuestion any{"bitsandbytes", "x86_64", {{{8, 6}, {}}}, {}};
  CHECK(install_line(choose_release(any), any).find("torch==") == std::string::npos);
  // torch 2.10 is the oldest that xformers 0.0.35 takes, and serves no Pascal.
  const ReleasesQuestion pascal{"xformers", "x86_64", {{kPascal, {}}}, {}};
  for (const Release* each : releases_of("xformers", "x86_64"))
    if (each->version == "0.0.35") CHECK(choices_in_ranges(*each, pascal.devices, {}).front().found == nullptr);
}

TEST_CASE("a driver has to be new enough, and not newer than the last for the device") {
  CHECK(serves(torch("2.7.1"), {kPascal, Version{12, 0}}) == Serves::yes);
  CHECK(serves(torch("2.7.1"), {kPascal, Version{13, 0}}) == Serves::yes);
  CHECK(serves(torch("2.7.1"), {kPascal, Version{11, 8}}) == Serves::no);
  CHECK(serves(torch("2.7.1"), {kPascal, Version{13, 1}}) == Serves::no);
}

TEST_CASE("devices that no wheel was asked for are not known") {
  CHECK(serves(torch("2.7.1"), {{99, 0}, {}}) == Serves::unknown);
  CHECK(newest_serving("torch", "x86_64", {{{99, 0}, {}}}) == nullptr);
}

TEST_CASE("several devices need one release that supports all of them") {
  const Release* both = newest_serving("torch", "x86_64", {{kPascal, {}}, {{8, 6}, {}}});
  REQUIRE(both != nullptr);
  CHECK(both->version == "2.7.1");
  CHECK(newest_serving("torch", "x86_64", {{kPascal, {}}, {{12, 0}, {}}}) == nullptr);
}

TEST_CASE("a Python has its own last release") {
  CHECK(has_python(torch("2.7.1"), {3, 9}));
  CHECK_FALSE(has_python(torch("2.7.1"), {3, 14}));
  CHECK(newest_serving("torch", "x86_64", {{kPascal, {}}}, Version{3, 14}) == nullptr);
  Release open;
  open.pythons = {{3, 9}};
  open.newer_pythons = true;
  CHECK(has_python(open, {3, 20}));
  CHECK_FALSE(has_python(open, {3, 8}));
}

TEST_CASE("names of packages are PyPI's, in any spelling") {
  CHECK(releases_of("Torch", "x86_64").size() == releases_of("torch", "x86_64").size());
  CHECK(releases_of("CuPy_cuda13X", "x86_64").size() == releases_of("cupy-cuda13x", "x86_64").size());
  CHECK_FALSE(releases_of("cupy.cuda13x", "x86_64").empty());
  CHECK(releases_of("nonesuch", "x86_64").empty());
}

TEST_CASE("a compiler supports what its ptxas knows") {
  Release triton;
  triton.ptxas = {{12, 8}};
  CHECK(serves(triton, {{12, 0}, {}}) == Serves::yes);
  CHECK(serves(triton, {{12, 1}, {}}) == Serves::no);
  triton.ptxas.push_back({13, 0});
  CHECK(serves(triton, {{12, 1}, {}}) == Serves::yes);
  CHECK(image_for(triton, {12, 1}) == "ptxas 13.0");
  CHECK(image_for(triton, kPascal) == "ptxas 12.8");
  CHECK(image_for(triton, {3, 5}).empty());
}

TEST_CASE("the answer for one device tells release, image, Python, driver and the line to type") {
  const std::string text = releases_text({"torch", "x86_64", {{kPascal, {}}}, {}});
  const std::string first = text.substr(0, text.find('\n'));
  CHECK(starts_with(
      first,
      "torch 2.7.1 is the last on PyPI for 6.1 (through sm_60), for Python 3.9 to 3.13, with a driver of "
      "CUDA 12.0 (driver 525) or newer: pip install torch==2.7.1"));
  CHECK(text.find("documented, not measured: ") != std::string::npos);
  const std::string other = releases_text({"torch", "x86_64", {{kPascal, {}}}, Version{3, 14}});
  CHECK(starts_with(
      other,
      "no measured release of torch that supports 6.1 has a wheel for Python 3.14; with another Python:\n"
      "torch 2.7.1 is the last"));
  const std::string none = releases_text({"torch", "x86_64", {{kPascal, {}}, {{12, 0}, {}}}, {}});
  CHECK(starts_with(none, "no measured release of torch supports all of 6.1, 12.0\n"
                          "  for 6.1 alone: pip install torch==2.7.1 torchvision==0.22.1\n"
                          "  for 12.0 alone: pip install torch=="));
  CHECK(none.find("documented") == std::string::npos);
  CHECK(releases_text({"torch", "x86_64", {{{8, 6}, {}}}, {}}).find("documented") == std::string::npos);
  const std::string older = releases_text({"torch", "x86_64", {{{7, 5}, {}}}, Version{3, 9}});
  CHECK(starts_with(older,
                    "torch 2.8.0 is the last on PyPI for 7.5 with a wheel for Python 3.9, "));
  CHECK(older.find("documented") == std::string::npos);
  CHECK(releases_text({"torch", "x86_64", {{{7, 5}, {}}}, Version{3, 10}})
            .find("  except libtorch_cuda_linalg.so, which has no code for 7.5\n") != std::string::npos);
}

TEST_CASE("an index for desktops is not named for Jetson") {
  CHECK(releases_text({"torch", "x86_64", {{{6, 1}, {}}}, {}}).find("documented") != std::string::npos);
  CHECK(releases_text({"torch", "x86_64", {{{8, 7}, {}}}, {}}).find("documented") == std::string::npos);
}

TEST_CASE("a file beside the main library that lacks the device is named") {
  const std::string text = releases_text({"torch", "x86_64", {{{7, 5}, Version{13, 0}}}, {}});
  CHECK_FALSE(torch("2.13.0").lacking.empty());
  CHECK(torch("2.13.0").lacking.front() == "7.5:libtorch_cuda_linalg.so");
  CHECK(text.find("7.5@13.0") != std::string::npos);
}

TEST_CASE("JSON holds what the text says") {
  const std::string json = releases_json({"torch", "x86_64", {{kPascal, Version{12, 2}}}, Version{3, 12}});
  for (const char* part :
       {"\"schema\": \"archguard.releases/1\"", "\"newest_serving\": \"2.7.1\"", "\"python\": \"3.12\"",
        "\"install\": \"pip install torch==2.7.1", "\"version\": \"2.8.0\"", "\"passed_over_for_driver\": null",
        "\"with_another_python\": null", "\"refused_by_torch_compile\": \"torch.compile refuses 6.1 all the same",
        "\"documented_elsewhere\": \"PyTorch's own index", "\"needs_driver_cuda\":\"12.0\""}) {
    CAPTURE(part);
    CHECK(json.find(part) != std::string::npos);
  }
  const std::string other = releases_json({"torch", "x86_64", {{{9, 0}, Version{12, 4}}}, {}});
  CHECK(other.find("\"version\":\"2.15.0\",\"compute_capability\":\"9.0\",\"driver_cuda\":\"12.4\",\"needs_driver_cuda\":"
                   "\"13.0\"") != std::string::npos);
  CHECK(releases_json({"torch", "x86_64", {{kPascal, {}}}, Version{3, 14}}).find("\"with_another_python\": \"2.7.1\"") !=
        std::string::npos);
  // The ptxas that makes code for 12.0 is the second, of 13.4.
  CHECK(releases_json({"triton", "x86_64", {{{12, 0}, {}}}, {}}).find("\"needs_driver_cuda\":\"13.0\"") !=
        std::string::npos);
}

namespace {

std::string answer(std::string package, std::vector<AskedDevice> devices, std::optional<Version> python = {}) {
  const std::string text = releases_text({std::move(package), "x86_64", std::move(devices), python});
  return text.substr(0, text.find("\n\n") + 1);
}

bool holds(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("builds that are documented alone are promised for no Python without a measured wheel") {
  CHECK_FALSE(holds(answer("torch", {{kPascal, {}}}, Version{3, 12}), "too was not measured"));
  CHECK(holds(answer("torch", {{kPascal, {}}}, Version{3, 15}),
              "which support 5.0 to 9.0 (not Jetson); whether for Python 3.15 too was not measured\n"));
}

TEST_CASE("builds that are documented alone need their driver too") {
  CHECK_FALSE(holds(answer("torch", {{{7, 5}, Version{12, 0}}}), "too old for them"));
  CHECK(holds(answer("torch", {{{7, 5}, Version{11, 4}}}),
              "; the driver of 7.5, CUDA 11.4, is too old for them: update it to one of CUDA 12.0 (driver 525) or newer, or take a measured "
              "release that it supports\n"));
}

TEST_CASE("a newer release that the driver is too old for is told") {
  CHECK(holds(answer("torch", {{{9, 0}, Version{12, 4}}}), "\n  torch 2.15.0 needs a driver of CUDA 13.0 (driver 580) or newer\n"));
  CHECK_FALSE(holds(answer("torch", {{{9, 0}, Version{13, 0}}}), "needs a driver"));
  CHECK_FALSE(holds(answer("torch", {{{7, 0}, Version{12, 4}}}), "needs a driver"));  // 2.15.0 has no code for it
  // Python 3.9 is the reason there, not the driver.
  CHECK_FALSE(holds(answer("torch", {{{9, 0}, Version{12, 4}}}, Version{3, 9}), "needs a driver"));
}

TEST_CASE("of several devices the one is named whose driver is too old") {
  const ReleasesQuestion question{"torch", "x86_64", {{{9, 0}, Version{13, 0}}, {{7, 5}, Version{12, 4}}}, {}};
  const ReleaseChoice choice = choose_release(question);
  REQUIRE(choice.needs_driver);
  CHECK(choice.needs_driver->asked.device == ComputeCapability{7, 5});
  CHECK(choice.needs_driver->driver == Version{13, 0});
  CHECK(needs_driver_text(choice, question) == "torch 2.15.0 needs a driver of CUDA 13.0 (driver 580) or newer for 7.5");
  CHECK(holds(answer("torch", question.devices), "or newer for 7.5\n"));
}

TEST_CASE("the table tells both ptxas of a triton, and the driver that the asked device needs") {
  const auto row = [](std::vector<AskedDevice> devices) {
    const std::string text = releases_text({"triton", "x86_64", std::move(devices), {}});
    const auto at = text.find("\n3.9.0 ");
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  CHECK(starts_with(row({{{9, 0}, {}}}), "3.9.0    ptxas 12.9, 13.4  CUDA 12.0 "));
  CHECK(starts_with(row({{{12, 0}, {}}}), "3.9.0    ptxas 12.9, 13.4  CUDA 13.0 "));
  CHECK(starts_with(row({}), "3.9.0    ptxas 12.9, 13.4  CUDA 12.0 "));
}

TEST_CASE("platforms that were measured are those of the table") {
  for (const Release& each : measured_releases()) {
    const std::vector<std::string> all = platforms(), measured = measured_platforms_of(each.package);
    CHECK(std::count(all.begin(), all.end(), each.platform) == 1);
    CHECK(std::count(measured.begin(), measured.end(), each.platform) == 1);
  }
  CHECK(measured_platforms_of("Torch") == std::vector<std::string>{"x86_64", "aarch64"});
  CHECK(measured_platforms_of("nonesuch").empty());
}

TEST_CASE("what triton's second ptxas makes needs a driver of its own CUDA") {
  Release triton;
  triton.ptxas = {{12, 9}, {13, 1}};
  CHECK(serves(triton, {{12, 0}, Version{12, 9}}) == Serves::no);
  CHECK(serves(triton, {{12, 0}, Version{13, 0}}) == Serves::yes);
  CHECK(serves(triton, {{9, 0}, Version{12, 4}}) == Serves::yes);
  CHECK(serves(triton, {{9, 0}, Version{11, 8}}) == Serves::no);
}

TEST_CASE("torch.compile is not promised below 7.0") {
  constexpr const char* kRefused =
      "\n  torch.compile refuses 6.1 all the same: Triton only supports devices of CUDA Capability >= 7.0\n";
  CHECK(holds(answer("torch", {{kPascal, {}}}), kRefused));
  CHECK(holds(answer("triton", {{kPascal, {}}}), kRefused));
  CHECK_FALSE(holds(answer("triton", {{{7, 0}, {}}}), "torch.compile"));
  CHECK_FALSE(holds(answer("cupy-cuda12x", {{kPascal, {}}}), "torch.compile"));
  CHECK_FALSE(holds(answer("torch", {{{3, 5}, {}}}), "torch.compile"));  // of 1.13, which has none
}
