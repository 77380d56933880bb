// Zeros where the tools write none.
#include "image/cubin_damage.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "image/image.h"
#include "support/builders/cubin_builder.h"

using namespace archguard;
using namespace archguard::test;

TEST_CASE("attributes are records of a known form, and fill their section") {
  const auto broken = [](const Bytes& section) { return find_broken_attribute(section); };
  CHECK_FALSE(broken({}));
  CHECK_FALSE(broken({1, 5, 0, 0, 2, 6, 7, 0, 3, 0x19, 16, 0, 4, 9, 2, 0, 0xaa, 0xbb}));
  CHECK(broken(Bytes(16)) == 0);
  CHECK(broken({3, 0x19, 16, 0, 0, 0, 0, 0}) == 4);
  CHECK(broken({3, 0x19, 16, 0, 5, 0, 0, 0}) == 4);
  CHECK(broken({3, 0x19, 16, 0, 3, 0}) == 4);              // cut off
  CHECK(broken({3, 0x19, 16, 0, 4, 9, 3, 0, 1, 2}) == 4);  // its bytes end behind the section
}

TEST_CASE("no relocation is all zeros") {
  Bytes entries(48);
  entries[0] = 1;
  entries[30] = 1;
  CHECK_FALSE(find_empty_relocation(entries, kElfRelocationsWithAddends, true));
  CHECK(find_empty_relocation(entries, kElfRelocations, true) == 32);
  CHECK(find_empty_relocation(entries, kElfRelocationsWithAddends, false) == 12);
  CHECK_FALSE(find_empty_relocation({}, kElfRelocations, true));
}

TEST_CASE("a cubin whose tables were overwritten by zeros is refused") {
  const auto whole = CubinBuilder{}.kernel("k", sass::join({sass::store(), sass::exit()})).parameters(24);
  const auto zeroed = [&](const Bytes& from) {
    Bytes bytes = whole.bytes();
    const auto at = std::search(bytes.begin(), bytes.end(), from.begin(), from.end());
    REQUIRE(at != bytes.end());
    std::fill_n(at, from.size(), std::uint8_t{0});
    const auto code = read_cubin(bytes);
    return code ? std::string("whole") : code.error().what;
  };
  const auto text = [](std::string_view name) { return Bytes(name.begin(), name.end()); };
  CHECK(read_cubin(whole.bytes()).ok());
  CHECK(zeroed({3, 0x19, 24, 0}) == "section '.nv.info.k' of the cubin has no attribute at 0x8");
  CHECK(zeroed(text(".nv.info.k")).find("of the cubin has no name") != std::string::npos);
}
