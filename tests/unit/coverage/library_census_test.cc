#include "coverage/library_census.h"

#include <doctest/doctest.h>

#include "coverage/verify.h"
#include "fatbins.h"

using namespace archguard;
using namespace archguard::test;

namespace {

constexpr KernelState kReal = KernelState::real, kEmpty = KernelState::empty, kUnknown = KernelState::unknown;

Kernels kernels(const std::string& name, int count, KernelState state = kReal) {
  Kernels all;
  for (int i = 1000; i < 1000 + count; ++i) all.emplace_back(name + std::to_string(i), state);
  return all;
}

ComputeCapability capability(const std::string& text) {
  return *parse_capability(text);
}

// What the rule says of a device of any driver: "served", "perhaps 20/100", "clear 3/100".
std::string said(const std::vector<FatbinCode>& library, const std::string& device) {
  LibraryCensus census({capability(device)});
  for (const FatbinCode& each : library) census.add(each);
  const KernelSum got = census.with_any_driver(capability(device));
  if (got.working == 0 && census.tells()) {
    const Partly partly = census.told(got);
    return "idle " + std::to_string(partly.kernels) + "/" + std::to_string(partly.best);
  }
  const auto partly = census.judge(got, capability(device));
  if (!partly) return "served";
  const std::string from = partly->core_fatbins == 0 ? ""
                                                     : " from " + std::to_string(partly->fatbins) + "/" +
                                                           std::to_string(partly->core_fatbins);
  return (partly->clear ? "clear " : "perhaps ") + std::to_string(partly->kernels) + "/" +
         std::to_string(partly->best) + " of " + to_string(partly->best_device) + from;
}

}  // namespace

TEST_CASE("what is compiled from PTX for a device and is little was not made for it") {
  const auto main = kernels("main", 90);
  const std::vector<FatbinCode> library = {
      fatbin_of({sass("80", main), sass("90", main)}),
      fatbin_of({sass("80", kernels("x", 10)), ptx("80", "8.0", kernels("x", 10))})};
  CHECK(said(library, "8.0") == "served");
  CHECK(said(library, "8.9") == "served");
  CHECK(said(library, "9.0") == "served");
  CHECK(said(library, "8.7") == "clear 10/100 of 8.0");
  CHECK(said(library, "12.0") == "clear 10/100 of 8.0");
  CHECK(said(library, "7.5") == "idle 0/100");
}

TEST_CASE("between a fifth and three quarters compiled from PTX are in doubt, more are not") {
  const auto library = [](int compiled) {
    const auto main = kernels("main", 100 - compiled), rest = kernels("x", compiled);
    return std::vector<FatbinCode>{fatbin_of({sass("80", main), sass("90", main)}),
                                   fatbin_of({sass("80", rest), ptx("80", "8.0", rest)})};
  };
  CHECK(said(library(19), "8.7") == "clear 19/100 of 8.0");
  CHECK(said(library(20), "8.7") == "perhaps 20/100 of 8.0");
  CHECK(said(library(74), "8.7") == "perhaps 74/100 of 8.0");
  CHECK(said(library(75), "8.7") == "served");
}

TEST_CASE("a library that is linked in, and for more devices, makes no core of its own") {
  const auto of = [](const std::vector<std::string>& archs, const Kernels& all) {
    std::vector<Image> images;
    for (const std::string& arch : archs) images.push_back(sass(arch, all));
    return fatbin_of(images);
  };
  const auto few = kernels("few", 3), many = kernels("many", 100);
  const std::vector<std::string> old = {"35", "50", "60", "61"}, newer = {"70", "75", "80", "86"};
  std::vector<std::string> all = old;
  all.insert(all.end(), newer.begin(), newer.end());
  const std::vector<FatbinCode> library = {of(newer, many), of(all, few)};
  CHECK(said(library, "6.1") == "clear 3/103 of 7.0");
  CHECK(said(library, "7.0") == "served");
  // What is for one device alone is nothing that others miss.
  CHECK(said({of({"90"}, many), of(all, few)}, "8.0") == "perhaps 3/100 of 9.0");
}

TEST_CASE("SASS is made on purpose: a third is enough, and a twentieth is not clear") {
  const auto library = [](int count) {
    const auto main = kernels("main", 100 - count), rest = kernels("x", count);
    return std::vector<FatbinCode>{fatbin_of({sass("80", main), sass("90", main)}),
                                   fatbin_of({sass("70", rest), sass("80", rest)})};
  };
  CHECK(said(library(4), "7.0") == "clear 4/100 of 8.0");
  CHECK(said(library(5), "7.0") == "perhaps 5/100 of 8.0");
  CHECK(said(library(33), "7.0") == "perhaps 33/100 of 8.0");
  CHECK(said(library(34), "7.0") == "served");
}

TEST_CASE("with the core a device is served, or in doubt, however many kernels others have beside it") {
  const auto core = kernels("core", 10);
  const auto library = [&](int more) {
    return std::vector<FatbinCode>{
        fatbin_of({sass("75", core), sass("80", core), sass("90", core), ptx("90", "8.0", core)}),
        fatbin_of({sass("90a", kernels("wgmma", more))})};
  };
  for (const char* device : {"7.5", "8.0", "8.6", "9.0"}) CHECK(said(library(90), device) == "served");
  CHECK(said(library(91), "8.0") == "perhaps 10/101 of 9.0");
  CHECK(said(library(990), "8.0") == "perhaps 10/1000 of 9.0");
  CHECK(said(library(990), "12.0") == "perhaps 10/1000 of 9.0");
  CHECK(said(library(990), "8.7") == "idle 0/1000");
}

TEST_CASE("what stands beside the library's own code is not its core") {
  const auto helper = kernels("cub", 10), main = kernels("main", 990);
  const std::vector<FatbinCode> library = {fatbin_of({sass("52", helper), ptx("52", "8.0", helper)}),
                                           fatbin_of({sass("80", main), sass("90", main)})};
  CHECK(said(library, "5.2") == "clear 10/1000 of 8.0");
  CHECK(said(library, "7.5") == "clear 10/1000 of 8.0");
  CHECK(said(library, "12.0") == "clear 10/1000 of 8.0");
  CHECK(said(library, "8.6") == "served");
}

TEST_CASE("most kernels from few of the fat binaries that others use are in doubt") {
  const auto library = [](int own) {
    std::vector<FatbinCode> all = {
        fatbin_of({sass("50", kernels("cub", 90)), sass("60", kernels("cub", 90)),
                   sass("70", kernels("cub", 90)), sass("80", kernels("cub", 90))}),
        fatbin_of({sass("60", kernels("other", 1))})};
    for (int i = 0; i < own; ++i) {
      const auto main = kernels("main" + std::to_string(i) + "_", 1);
      all.push_back(fatbin_of({sass("60", main), sass("70", main), sass("80", main)}));
    }
    return all;
  };
  CHECK(said(library(3), "5.0") == "served");
  CHECK(said(library(6), "5.0") == "perhaps 90/97 of 6.0 from 1/7");
  CHECK(said(library(10), "5.0") == "perhaps 90/101 of 6.0 from 1/11");
  for (const char* device : {"6.0", "7.0", "7.5", "8.9"}) CHECK(said(library(10), device) == "served");
}

TEST_CASE("half of the kernels from few fat binaries are in doubt, unless some are for the device alone") {
  const auto library = [](int own) {
    const auto codec = kernels("codec", 50);
    std::vector<FatbinCode> all = {
        fatbin_of({sass("50", codec), sass("60", codec), sass("70", codec), sass("80", codec)}),
        fatbin_of({sass("50", kernels("own", own))})};
    for (int i = 0; i < 10; ++i) {
      const auto main = kernels("main" + std::to_string(i) + "_", 5);
      all.push_back(fatbin_of({sass("60", main), sass("70", main), sass("80", main)}));
    }
    return all;
  };
  CHECK(said(library(1), "5.0") == "perhaps 51/100 of 6.0 from 1/11");
  CHECK(said(library(20), "5.0") == "served");
}

TEST_CASE("in a library whose containers have one arch each, no device is far behind") {
  std::vector<FatbinCode> library;
  for (const char* arch : {"50", "60", "70", "75"})
    library.push_back(fatbin_of({sass(arch, kernels("k", 40))}));
  library.push_back(fatbin_of({sass("80", kernels("k", 60))}));
  library.push_back(fatbin_of({sass("90", kernels("k", 100))}));
  for (const char* device : {"5.0", "6.1", "7.0", "7.5", "8.0", "8.9", "9.0"})
    CHECK(said(library, device) == "served");
}

TEST_CASE("kernels that do nothing count for nothing") {
  // Also among the numbers that are told, where they would make another picture.
  auto idle = kernels("idle", 40);
  for (auto& each : idle) each.second = kEmpty;
  const auto one = kernels("one", 1);
  const std::vector<FatbinCode> mostly = {fatbin_of({sass("80", kernels("real", 40))}),
                                          fatbin_of({sass("80", idle), sass("90", idle)}),
                                          fatbin_of({sass("80", one), sass("90", one)})};
  CHECK(said(mostly, "9.0") == "clear 1/41 of 8.0");
  const auto main = kernels("main", 9);
  const std::vector<FatbinCode> library = {
      fatbin_of({sass("80", main), sass("90", main)}),
      fatbin_of({sass("61", {{"probe", kUnknown}}), sass("80", {{"probe", kEmpty}}),
                 ptx("80", "8.0", {{"probe", kEmpty}})})};
  CHECK(said(library, "6.1") ==
        "idle 1/10");  // what its SASS does cannot be told, but that of others does nothing
  CHECK(said(library, "8.7") == "idle 1/10");
  CHECK(said(library, "8.0") == "served");
}

TEST_CASE("kernels whose code cannot be told are taken for real") {
  const auto main = kernels("main", 10, kUnknown);
  CHECK(said({fatbin_of({sass("60", main), sass("80", kernels("main", 10))})}, "6.1") == "served");
  CHECK(said({fatbin_of({sass("60", main)})}, "6.1") == "served");
}

TEST_CASE("a library that does nothing anywhere is not compared") {
  LibraryCensus census({});
  census.add(fatbin_of({sass("80", {{"k", kEmpty}})}));
  CHECK_FALSE(census.tells());
  CHECK(census.with_any_driver(capability("8.0")).fit == 1);
}

TEST_CASE("the best-served device is one of the table, whatever devices are asked for") {
  const auto few = kernels("x", 10), many = kernels("main", 90);
  const std::vector<FatbinCode> library = {fatbin_of({ptx("80", "8.0", few)}),
                                           fatbin_of({sass("103", many)})};
  CHECK(said(library, "12.0") == "clear 10/100 of 10.3");
  CHECK(said(library, "15.0") == "clear 10/100 of 10.3");  // a device that the table lacks
}

TEST_CASE("counts are of all fat binaries, and never exceed their total") {
  LibraryCensus census({capability("8.0"), capability("9.0")});
  census.add(fatbin_of({sass("90a", kernels("a", 5))}));
  CHECK(census.of_image(0, Verdict::sass).fit == 5);
  census.add(fatbin_of({sass("80", {{"k", kReal}}), ptx("90", "8.0", {{"k", kReal}, {"l", kEmpty}})}));
  CHECK(census.of_image(1, Verdict::jit).fit == 2);
  CHECK(census.of_image(1, Verdict::jit).working == 1);
  CHECK(census.of_image(1, Verdict::jit).compiled == 1);
  CHECK(census.of_image(0, Verdict::sass).compiled == 0);
  census.add(fatbin_of({sass("80", kernels("r", 3))}, true, true));  // for linking, in a linked file
  CHECK(census.kernels() == 7);
  CHECK(census.with_any_driver(capability("8.0")).fit == 1);
  CHECK(census.with_any_driver(capability("9.0")).fit == 7);
}

TEST_CASE("LTO-IR stands for all kernels of a container that is about to be linked") {
  LibraryCensus census({capability("9.0")});
  census.add(fatbin_of({sass("80", kernels("k", 4)), ltoir("90")}, false, true));
  CHECK(census.with_any_driver(capability("9.0")).working == 4);
  CHECK(census.tells());
  census.add(fatbin_of({ltoir("80")}, false, true));  // nobody knows what is in it
  CHECK_FALSE(census.tells());
}
