#include <doctest/doctest.h>

#include "base/process.h"
#include "fleet_builder.h"

using namespace archguard;

namespace {

Selection selection_of(const char* list) {
  SelectPolicy policy;
  policy.baseline = parse_arch_list(list).value();
  return select_architectures({}, cuda("12.9"), policy);
}

std::string notes(const Selection& selection) {
  return join(torch_notes(selection), "\n");
}

}  // namespace

TEST_CASE("SASS and PTX, in each spelling") {
  const auto selection = selection_of("80-real;86-real;86-virtual");
  CHECK(format_cmake(selection) == "80-real;86-real;86-virtual");
  CHECK(format_torch(selection) == "8.0;8.6+PTX");
  CHECK(notes(selection).empty());
  CHECK(format_gencode(selection) ==
        "-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_86,code=sm_86 "
        "-gencode=arch=compute_86,code=compute_86");
}

TEST_CASE("suffixes and three digits") {
  const auto selection = selection_of("90a-real;103f-real;120");
  CHECK(format_torch(selection) == "9.0a;10.3;12.0+PTX");
  CHECK(notes(selection) == "torch takes no 10.3f: 10.3 stands for it");
  CHECK(format_gencode(selection) ==
        "-gencode=arch=compute_90a,code=sm_90a -gencode=arch=compute_103f,code=sm_103f "
        "-gencode=arch=compute_120,code=sm_120 -gencode=arch=compute_120,code=compute_120");
}

TEST_CASE("torch cannot say PTX alone, and is told so") {
  const auto selection = selection_of("80-real;90-virtual");
  CHECK(format_torch(selection) == "8.0;9.0+PTX");
  CHECK(notes(selection) == "torch has no spelling for PTX alone: 9.0+PTX also builds SASS for 9.0");
  CHECK(format_torch(selection_of("90-real;80-virtual")) == "8.0+PTX;9.0");
}

TEST_CASE("torch gets names that it takes alone, the nearest for the others") {
  CHECK(format_torch(selection_of("100-real;100f-real;101-real")) == "10.0+PTX");
  CHECK(notes(selection_of("101-real")) == "torch takes no 10.1: 10.0+PTX stands for it, through JIT");
  const auto of_13_4 = select_architectures(fleet("8.8 10.7"), cuda("13.4"), {});
  CHECK(format_cmake(of_13_4) == "88-real;107-real;107-virtual");
  CHECK(format_torch(of_13_4) == "8.7+PTX;10.3+PTX");
  const auto old = select_architectures(fleet("3.0"), cuda("8.0"), {});
  CHECK(format_torch(old).empty());
  CHECK(notes(old) == "torch takes no 3.0 and nothing like it: left out");
}

TEST_CASE("a shell takes the gencode line as it is") {
  const auto echoed =
      run_process({"/bin/sh", "-c", "printf '%s\\n' " + format_gencode(selection_of("80;90a-real"))},
                  std::chrono::seconds(20));
  REQUIRE(echoed.ok());
  CHECK(echoed->out ==
        "-gencode=arch=compute_80,code=sm_80\n-gencode=arch=compute_90a,code=sm_90a\n"
        "-gencode=arch=compute_80,code=compute_80\n");
}

TEST_CASE("nothing selected is an empty line") {
  const Selection nothing;
  CHECK(format_cmake(nothing).empty());
  CHECK(format_torch(nothing).empty());
  CHECK(format_gencode(nothing).empty());
}
