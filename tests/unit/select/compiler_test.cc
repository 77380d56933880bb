#include <doctest/doctest.h>

#include "fleet_builder.h"

using namespace archguard;

TEST_CASE("a compiler by its version") {
  const Compiler compiler = cuda("12.0");
  CHECK(compiler.version == Version{12, 0});
  CHECK(compiler.ptx_isa == Version{8, 0});
  CHECK(compiler.path.empty());
  std::string archs;
  for (const Arch arch : compiler.sass) archs += to_string(arch) + " ";
  CHECK(archs == "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a ");
  CHECK(compiler.ptx == compiler.sass);
}

TEST_CASE("sm_21, which has no PTX of its own, is left out; sm_20 serves its devices") {
  CHECK(format_cmake(select_architectures(fleet("2.1"), cuda("8.0"), {})) == "20-real;20-virtual");
}

TEST_CASE("a version that the table lacks") {
  const auto newer = compiler_of_toolkit({14, 0});
  REQUIRE_FALSE(newer.ok());
  CHECK(newer.error().text() == "CUDA 14.0 is not in the table: newest known is 13.5; pass --nvcc");
  for (const Version version : {Version{12, 7}, Version{7, 5}}) {
    const auto unknown = compiler_of_toolkit(version);
    REQUIRE_FALSE(unknown.ok());
    CHECK(unknown.error().text() == "CUDA " + to_string(version) + " is no toolkit that the table knows");
    CHECK(unknown.error().fix == "choose a release from 8.0 to 13.5, or pass --nvcc");
  }
}
