#include "base/text.h"

#include <doctest/doctest.h>

using namespace archguard;

TEST_CASE("split keeps empty pieces") {
  CHECK(split("a;;b", ';') == std::vector<std::string_view>{"a", "", "b"});
  CHECK(split("", ';').size() == 1);
}

TEST_CASE("trim and join") {
  CHECK(trim(" \t a b \r\n") == "a b");
  CHECK(trim("  ").empty());
  CHECK(join({"a", "b"}, ", ") == "a, b");
  CHECK(join({}, ", ").empty());
}

TEST_CASE("numbers are digits only and never wrap") {
  CHECK(parse_number("42", 99) == 42);
  CHECK(parse_number("18446744073709551615", UINT64_MAX) == UINT64_MAX);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "0x1", "100", "18446744073709551616"})
    CHECK_MESSAGE(!parse_number(bad, 99), bad);
}

TEST_CASE("counts read as English") {
  CHECK(count_of(1, "kernel") == "1 kernel");
  CHECK(count_of(0, "kernel") == "0 kernels");
  CHECK(count_of(2, "library", "libraries") == "2 libraries");
}

TEST_CASE("JSON strings are always valid") {
  CHECK(json_quote("a\"\\\n") == "\"a\\\"\\\\\\u000a\"");
  CHECK(json_quote("\xc3\xa9") == "\"\xc3\xa9\"");
  CHECK(json_quote("\xff") == "\"\xef\xbf\xbd\"");
  CHECK(json_quote("\xc0\xaf") == "\"\xef\xbf\xbd\xef\xbf\xbd\"");                  // overlong
  CHECK(json_quote("\xed\xa0\x80") == "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");  // surrogate
}

TEST_CASE("a likely meaning is offered, an unlikely one is not") {
  CHECK(did_you_mean("--flet", {"--fleet", "--format"}) == "--fleet");
  CHECK(did_you_mean("newset", {"newest", "oldest", "none"}) == "newest");
  CHECK_FALSE(did_you_mean("xyz", {"newest"}));
  CHECK_FALSE(did_you_mean("a", {"b"}));
  CHECK(did_you_mean("driver_versoni", {"driver_version"}) == "driver_version");
  CHECK(did_you_mean("drivr_versoin", {"driver_version"}) == "driver_version");
  CHECK_FALSE(did_you_mean("drivr_versn", {"driver_version"}));
  CHECK(did_you_mean("jsno", {"json", "csv"}) == "json");
  CHECK_FALSE(did_you_mean("node", {"name"}));  // two of four letters are another word
}

TEST_CASE("what a terminal prints") {
  CHECK(printable("NVIDIA A100, é…") == "NVIDIA A100, é…");
  CHECK(printable("a\x1b[31m\n\x7f") == "a?[31m??");
  CHECK(printable("a\xff\xfe b\xe2\x82") == "a?? b??");  // no UTF-8, and a letter cut off
  CHECK(printable("\xc2\x9b") == "?");                   // a control character of two bytes
}
