#include "container/cubin.h"

#include <doctest/doctest.h>

#include "base/bytes.h"
#include "support/builders/cubin_builder.h"

using namespace archguard;
using test::CubinBuilder;

namespace {

CubinIdentity identity_of(const CubinBuilder& builder) {
  return identify_cubin(*parse_elf_header(builder.bytes()));
}

}  // namespace

TEST_CASE("the two generations say arch and suffix each in its way") {
  const CubinIdentity seven = identity_of(CubinBuilder{}.sm(90).generation7(124).marked_a());
  CHECK(seven.abi == 7);
  CHECK(seven.sm == 90);
  CHECK(seven.suffix == 'a');
  CHECK(seven.suffix_known);
  CHECK(to_string(*seven.toolkit) == "12.4");

  const CubinIdentity eight = identity_of(CubinBuilder{}.sm(120));
  CHECK(eight.abi == 8);
  CHECK(eight.sm == 120);
  CHECK(eight.suffix == 0);
  CHECK_FALSE(eight.suffix_known);
  CHECK_FALSE(eight.toolkit);
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
  CHECK(cubin.suffix == 'f');
  CHECK(to_string(*cubin.toolkit) == "13.0");

  CubinIdentity other = identity_of(CubinBuilder{}.sm(90));
  apply_toolkit_info(test::bytes_of_text(note), other);  // a note about another arch
  CHECK_FALSE(other.suffix_known);
  apply_compat(Bytes{4, 0x0b, 4, 0, 2, 9, 1, 0, 2, 9, 0, 0}, other);  // the mark is inside of another record
  CHECK(other.suffix == 0);
  apply_compat(Bytes{2, 2, 1, 0, 2, 9, 1, 0}, other);
  CHECK(other.suffix == 'a');
  CHECK(other.suffix_known);
}

TEST_CASE("a release is read whole or not at all") {
  CHECK(to_string(*find_toolkit_release("x Cuda compilation tools, release 12.8, V")) == "12.8");
  CHECK_FALSE(find_toolkit_release("Cuda compilation tools, release 12"));
  CHECK_FALSE(find_toolkit_release("Cuda compilation tools, release .8"));
  CHECK_FALSE(find_toolkit_release("Cuda compilation tools, release 99999.1"));
  CHECK_FALSE(find_toolkit_release(""));
}
