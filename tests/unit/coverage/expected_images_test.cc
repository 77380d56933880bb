#include "coverage/expected_images.h"

#include <doctest/doctest.h>

#include "fatbins.h"

using namespace archguard;
using namespace archguard::test;

namespace {

std::vector<ExpectedImage> both(const char* arch) {
  return {{*parse_arch(arch), true}, {*parse_arch(arch), false}};
}

}  // namespace

TEST_CASE("every image that was asked for must be there, by arch and kind") {
  CHECK(expect_images(fatbin_of({sass("80"), ptx("80", "9.0")}), both("80")).verdict == ExpectVerdict::holds);
  const Expectation lacks = expect_images(fatbin_of({sass("80"), sass("90")}), both("80"));
  CHECK(lacks.verdict == ExpectVerdict::lacks);
  REQUIRE(lacks.absent.size() == 1);
  CHECK(to_string(lacks.absent[0]) == "PTX of compute_80");
  CHECK(expect_images(fatbin_of({sass("90a")}), {{*parse_arch("90"), true}, {*parse_arch("90a"), true}})
            .verdict == ExpectVerdict::specific);
  CHECK(expect_images(fatbin_of({sass("90a")}), {{*parse_arch("120a"), true}}).verdict ==
        ExpectVerdict::lacks);
}

TEST_CASE("LTO-IR answers for SASS, relocatable PTX for PTX") {
  Image relocatable = ptx("80", "9.0");
  relocatable.entry.kind = EntryKind::reloc_ptx;
  CHECK(expect_images(fatbin_of({ltoir("80"), relocatable}, false, true), both("80")).verdict ==
        ExpectVerdict::holds);
}

TEST_CASE("an image that may be of another arch answers for none") {
  FatbinCode code = fatbin_of({sass("100")});
  CHECK(expect_images(code, {{*parse_arch("100"), true}}).verdict == ExpectVerdict::holds);
  code.fatbin.entries[0].or_archs.push_back(*parse_arch("100f"));
  CHECK(expect_images(code, {{*parse_arch("100"), true}}).verdict == ExpectVerdict::lacks);
}

TEST_CASE("an image with something unknown about it answers for nothing") {
  Image odd = sass("80");
  odd.entry.unknown = "flag 0x4000000";
  CHECK(expect_images(fatbin_of({odd}), {{*parse_arch("80"), true}}).verdict == ExpectVerdict::lacks);
}

TEST_CASE("the linker's own containers are not asked; those of an object always are") {
  CHECK(expect_images(fatbin_of({sass("75", {})}), both("80")).verdict == ExpectVerdict::nothing);
  CHECK(expect_images(fatbin_of({sass("75")}, true, true), both("80")).verdict == ExpectVerdict::nothing);
  CHECK(expect_images(fatbin_of({sass("75", {})}, false, true), both("80")).verdict == ExpectVerdict::lacks);
  CHECK(expect_images(fatbin_of({sass("75")}), {}).verdict == ExpectVerdict::nothing);
}
