#include "report/failure_groups.h"

#include <doctest/doctest.h>

#include "report/coverage_table.h"
#include "report/failure_text.h"
#include "report/names.h"

using namespace archguard;

namespace {

Device gpu(const char* capability) {
  Device device;
  device.capability = parse_capability(capability);
  device.origin = std::string("--device ") + capability;
  return device;
}

DeviceResult fails(int code, const std::string& reason, std::vector<Addition> add) {
  DeviceResult result;
  result.coverage = Coverage::not_covered;
  Failure failure;
  failure.code = code;
  failure.reason = reason;
  failure.found = "sm_80 cubin";
  failure.fix = "add " + reason;
  failure.add = std::move(add);
  result.failures.push_back(failure);
  return result;
}

DeviceResult runs(std::uint64_t sass, std::uint64_t jit) {
  DeviceResult result;
  result.coverage = Coverage::covered;
  result.fatbins.total = sass + jit;
  result.fatbins.sass = sass;
  result.fatbins.jit = jit;
  return result;
}

FileResult file(const std::string& path, std::vector<DeviceResult> devices) {
  FileResult result;
  result.path = path;
  result.has_code = true;
  result.devices = std::move(devices);
  return result;
}

Addition sass(const char* arch) {
  return {*parse_arch(arch), true, false};
}
Addition ptx(const char* arch) {
  return {*parse_arch(arch), false, true};
}

Verification of(std::vector<const char*> devices, std::vector<FileResult> files) {
  Verification all;
  std::vector<Device> list;
  for (const char* capability : devices) list.push_back(gpu(capability));
  all.devices = std::move(list);
  all.classes = classes_of(all.devices);
  all.files = std::move(files);
  return all;
}

}  // namespace

TEST_CASE("targets that lack the same entries are one group, and the fix names them") {
  Verification all =
      of({"9.0"}, {file("a", {fails(209, "90", {sass("90")})}), file("b", {fails(209, "90", {sass("90")})})});
  all.files[0].target.name = "a";
  all.files[1].target.name = "b";
  all.files[1].target.linked = {"k"};
  for (FileResult& each : all.files)
    each.devices[0].failures[0].fix = fix_by_adding({sass("90")}, each.target);
  const auto groups = group_failures(all);
  REQUIRE(groups.size() == 1);
  CHECK(
      fix_in(all, groups[0], groups[0].first()) ==
      "add 90-real to CUDA_ARCHITECTURES of 2 targets ('a', 'b') and of the CUDA library that they link (k)");
  all.files[1].target = {};
  CHECK(group_failures(all).size() == 2);
}

TEST_CASE("the unfolded table has a row for each file") {
  const Verification all = of({"8.0"}, {file("a", {runs(1, 0)}), file("b", {runs(1, 0)})});
  CHECK(coverage_table(all).rows.size() == 1);
  CHECK(coverage_table(all, TableRows::unfolded).rows.size() == 2);
}

TEST_CASE("equal failures of files and devices are one group") {
  const auto bad = [] {
    return std::vector<DeviceResult>{fails(209, "75", {sass("75")}), runs(1, 0),
                                     fails(209, "90", {sass("90")})};
  };
  const Verification all = of({"7.5", "8.0", "9.0"}, {file("a", bad()), file("b", bad()), file("c", bad())});
  const auto groups = group_failures(all);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].files == std::vector<std::size_t>{0, 1, 2});
  REQUIRE(groups[0].classes.size() == 2);
  CHECK(groups[0].classes[0].device == 0);
  CHECK(groups[0].classes[1].device == 2);
  CHECK(groups[0].fatbins == 3);
  CHECK(groups[0].same_found);
  const auto add = additions_of(groups[0]);
  REQUIRE(add.size() == 2);
  CHECK(add[0].arch == *parse_arch("75"));
  CHECK(add[1].arch == *parse_arch("90"));
}

TEST_CASE("what differs in the error, the cause, the fix or the files stays apart") {
  const DeviceResult base = fails(209, "75", {sass("75")});
  DeviceResult other_code = base, other_reason = base, other_fix = base, unknown = base;
  other_code.failures[0].code = 222;
  other_reason.failures[0].reason = "something else";
  other_fix.failures[0].fix = "another line";
  unknown.failures[0].unknown = true;
  for (const DeviceResult& other : {other_code, other_reason, other_fix, unknown})
    CHECK(group_failures(of({"7.5"}, {file("a", {base}), file("b", {other})})).size() == 2);
  CHECK(group_failures(of({"7.5"}, {file("a", {base}), file("b", {base})})).size() == 1);
  // 7.5 fails in one more file than 9.0 does.
  const Verification files =
      of({"7.5", "9.0"}, {file("a", {base, fails(209, "90", {sass("90")})}), file("b", {base, runs(1, 0)})});
  CHECK(group_failures(files).size() == 2);
}

TEST_CASE("failures of alternatives, and of nobody, make no group") {
  FileResult alternative = file("a", {fails(209, "75", {})});
  alternative.alternative = true;
  CHECK(group_failures(of({"7.5"}, {alternative, file("b", {runs(1, 0)})})).empty());
  CHECK(group_failures({}).empty());
}

TEST_CASE("a class that fails twice in one way is in two groups") {
  DeviceResult twice = fails(209, "75", {});
  twice.failures.push_back(fails(209, "of another module", {}).failures[0]);
  CHECK(group_failures(of({"7.5"}, {file("a", {twice})})).size() == 2);
}

TEST_CASE("one fix for all where each is to add entries, and nothing else") {
  const auto of_two = [](std::vector<Addition> first, std::vector<Addition> second) {
    const Verification all =
        of({"7.5", "9.0"},
           {file("a", {fails(209, "75", std::move(first)), fails(209, "90", std::move(second))})});
    return additions_of(group_failures(all).at(0));
  };
  CHECK(of_two({sass("75")}, {}).empty());
  CHECK(of_two({sass("75")}, {sass("90")}).size() == 2);
  const auto joined = of_two({sass("90")}, {ptx("90")});
  REQUIRE(joined.size() == 1);
  CHECK(joined[0].sass);
  CHECK(joined[0].ptx);
}

TEST_CASE("a table has a row for each set of answers, and a title for each class") {
  Verification all =
      of({"7.5", "9.0"}, {file("a", {fails(209, "75", {}), runs(1, 0)}), file("b", {runs(0, 1), runs(2, 0)}),
                          file("c", {fails(209, "other", {}), runs(3, 0)})});
  const CoverageTable table = coverage_table(all);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].files == std::vector<std::size_t>{0, 2});
  CHECK(table.titles == std::vector<std::string>{"7.5", "9.0"});
  CHECK(letter_of(table.rows[0].cells[0]) == "209");
  CHECK_FALSE(is_good(table.rows[0].cells[0]));
  CHECK(letter_of(table.rows[1].cells[0]) == "P");
  CHECK(letter_of(table.rows[1].cells[1]) == "S");
  CHECK(legend_of(table) == "S SASS; P compiled from PTX when it is loaded; numbers are CUDA's errors");
}

TEST_CASE("what is unknown, or fails by a policy, is never a letter of what runs") {
  DeviceResult unknown = fails(209, "x", {}), policy = fails(0, "x", {});
  unknown.failures[0].unknown = true;
  unknown.coverage = Coverage::unknown;
  const Verification all = of({"7.5", "9.0"}, {file("a", {unknown, policy})});
  CHECK(letter_of(cell_of(all, all.files[0], 0)) == "?");
  CHECK(letter_of(cell_of(all, all.files[0], 1)) == "error");
  DeviceResult nothing;
  const Verification blank = of({"7.5"}, {file("a", {nothing})});
  CHECK(letter_of(cell_of(blank, blank.files[0], 0)) == "?");
}

TEST_CASE("a long name loses its middle, and no character is cut") {
  const std::string name =
      "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false>, true>(Params)";
  CHECK(shortened(name, 0) == name);
  CHECK(shortened(name, 200) == name);
  CHECK(shortened(name, name.size()) == name);
  const std::string cut = shortened(name, 50);
  CHECK(cut == "void flash_fwd_kernel<Fla…4, false>, true>(Params)");
  CHECK(shortened(name, 5) == shortened(name, 40));
  std::string wide;
  for (int i = 0; i < 60; ++i) wide += "ü";
  CHECK(shortened(wide, 60) == wide);
  std::string expected;
  for (int i = 0; i < 39; ++i) expected += i == 20 ? "…ü" : "ü";
  CHECK(shortened(wide, 40) == expected);
  CHECK(shortened(std::string(60, '\x80'), 40) == std::string(60, '\x80'));
  CHECK(name_list({name, "b"}, 50) == "'" + cut + "', 'b'");
}
