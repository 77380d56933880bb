#include "base/version.h"

#include <doctest/doctest.h>

using namespace archguard;

TEST_CASE("versions are two numbers") {
  CHECK(parse_version("12.10") == Version{12, 10});
  CHECK(Version{12, 9} < Version{12, 10});
  CHECK(to_string(Version{9, 0}) == "9.0");
  for (const char* bad : {"", "12", "12.", ".1", "12.1.3", "v12.1", "12.x", "12. 1"})
    CHECK_MESSAGE(!parse_version(bad), bad);
}

TEST_CASE("the first two parts of a version") {
  CHECK(major_minor("2.7.1") == "2.7");
  CHECK(major_minor("8.0.0.1") == "8.0");
  CHECK(major_minor("2.7") == "2.7");
  CHECK(major_minor("2") == "2");
  CHECK(major_minor("") == "");
}

TEST_CASE("CUDA's version number; garbage is no version") {
  CHECK(version_from_cuda_number(12080) == Version{12, 8});
  CHECK(version_from_cuda_number(8000) == Version{8, 0});
  CHECK(version_from_cuda_number(13000) == Version{13, 0});
  CHECK_FALSE(version_from_cuda_number(0));
  CHECK_FALSE(version_from_cuda_number(-1));
  CHECK_FALSE(version_from_cuda_number(2147483647));
}
