#include "image/cubin.h"

#include <doctest/doctest.h>

#include "base/bytes.h"
#include "support/builders/cubin_builder.h"

using namespace archguard;
using test::CubinBuilder;

namespace {

CubinIdentity identity_of(const CubinBuilder& builder) {
  return identify_cubin(*parse_elf_header(builder.bytes()));
}

// "100 100f"
std::string names(const CubinIdentity& cubin) {
  std::string all;
  for (const Arch arch : archs_of(cubin)) all += (all.empty() ? "" : " ") + to_string(arch);
  return all;
}

}  // namespace

TEST_CASE("the two generations say arch and suffix each in its way") {
  const CubinIdentity seven = identity_of(CubinBuilder{}.sm(90).generation7(124).marked_a());
  CHECK(seven.abi == 7);
  CHECK(seven.sm == 90);
  CHECK(names(seven) == "90a");
  CHECK(to_string(*seven.toolkit) == "12.4");

  const CubinIdentity eight = identity_of(CubinBuilder{}.sm(120));
  CHECK(eight.abi == 8);
  CHECK(eight.sm == 120);
  CHECK(names(eight) == "120 120a 120f");
  CHECK_FALSE(eight.toolkit);
}

TEST_CASE(
    "before sm_90 the bit of the mark is none: CUDA 8 sets it on sm_60 and sm_61, cuBLAS 11.8 on sm_50 too") {
  for (const int sm : {50, 60, 61}) {
    const CubinIdentity cubin =
        identity_of(CubinBuilder{}.sm(sm).generation7(80).flags(0x400 | 0x100 | 0x800));
    CHECK(names(cubin) == std::to_string(sm));
    CHECK(cubin.unknown_flags == 0);
    CHECK(to_string(*cubin.toolkit) == "8.0");
  }
  CHECK(names(identity_of(CubinBuilder{}.sm(90).generation7(120).flags(0x800))) == "90a");
  CHECK(names(identity_of(CubinBuilder{}.sm(89).flags(0x8))) == "89");
}

TEST_CASE("bits of e_flags that no cubin has are noted") {
  CHECK(identity_of(CubinBuilder{}.generation7(118).flags(0x1000500)).unknown_flags == 0x1000000);
  CHECK(identity_of(CubinBuilder{}.flags(0xff000000)).unknown_flags == 0);
  CHECK(identity_of(CubinBuilder{}.flags(0x50001)).unknown_flags == 0x50001);
}

// NVIDIA's own assembler, "nvasm_internal", leaves `-arch` out of the note.
TEST_CASE("what a cubin does not tell of its suffix is what its toolkit could have left out") {
  const auto noted = [](int sm, const std::string& release) {
    CubinIdentity cubin = identity_of(CubinBuilder{}.sm(sm));
    apply_toolkit_info(test::bytes_of_text("Cuda compilation tools, release " + release + ", V12.9.90"),
                       cubin);
    return cubin;
  };
  CHECK(names(noted(100, "12.8")) == "100");
  CHECK(names(noted(100, "12.9")) == "100 100f");
  CHECK(names(noted(100, "13.0")) == "100 100a 100f");
  CHECK(names(noted(90, "13.0")) == "90 90a");
  CHECK(names(noted(90, "99.0")) == "90 90a 90f");
  CHECK(names(noted(200, "13.0")) == "200 200a 200f");
  CHECK(names(noted(89, "13.0")) == "89");
  CubinIdentity plain = noted(100, "13.0");
  apply_compat(Bytes{2, 9, 0, 0}, plain);
  CHECK(names(plain) == "100 100f");
  plain = noted(90, "13.0");
  apply_compat(Bytes{2, 9, 0, 0}, plain);
  CHECK(names(plain) == "90");
  plain = noted(90, "13.0");
  apply_compat(Bytes{2, 9, 7, 0}, plain);
  CHECK(names(plain) == "90 90a");
  CHECK(names(identity_of(CubinBuilder{}.sm(100).flags(0x8))) == "100a");
}

TEST_CASE("an unknown generation has no ABI and no arch") {
  const CubinIdentity nine = identity_of(CubinBuilder{}.identity(0x41, 9));
  CHECK(nine.abi == 0);
  CHECK(nine.sm == 0);
}

TEST_CASE("notes add the suffix and the toolkit") {
  CubinIdentity cubin = identity_of(CubinBuilder{}.sm(100));
  const std::string note = "Cuda compilation tools, release 13.0, V13.0.88 -arch sm_100f -m 64";
  apply_toolkit_info(test::bytes_of_text(note), cubin);
  CHECK(names(cubin) == "100f");
  CHECK(to_string(*cubin.toolkit) == "13.0");

  CubinIdentity other = identity_of(CubinBuilder{}.sm(90));
  apply_toolkit_info(test::bytes_of_text(note), other);  // a note about another arch
  CHECK(names(other) == "90 90a");
  apply_compat(Bytes{4, 0x0b, 4, 0, 2, 9, 1, 0, 2, 9, 0, 0}, other);  // the mark is inside of another record
  CHECK(names(other) == "90");
  apply_compat(Bytes{2, 2, 1, 0, 2, 9, 1, 0}, other);
  CHECK(names(other) == "90a");
}

TEST_CASE("a release is read whole or not at all") {
  CHECK(to_string(*find_toolkit_release("x Cuda compilation tools, release 12.8, V")) == "12.8");
  CHECK_FALSE(find_toolkit_release("Cuda compilation tools, release 12"));
  CHECK_FALSE(find_toolkit_release("Cuda compilation tools, release .8"));
  CHECK_FALSE(find_toolkit_release("Cuda compilation tools, release 99999.1"));
  CHECK_FALSE(find_toolkit_release(""));
}
