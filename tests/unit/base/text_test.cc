#include "base/text.h"

#include <doctest/doctest.h>

#include "base/hex.h"
#include "base/printable.h"

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
  CHECK(printable("a\x1b[31m\n\r\t\x7f") == R"(a\x1b[31m\n\r\t\x7f)");
  CHECK(printable("a\xff\xfe b\xe2\x82") == R"(a\xff\xfe b\xe2\x82)");  // no UTF-8, and a letter cut off
  CHECK(printable("\xc2\x9b") == R"(\u009b)");                          // a control character of two bytes
  CHECK(printable(std::string_view("\0", 1)) == R"(\x00)");
  CHECK(printable(R"(\x1b C:\new)") == R"(\x1b C:\new)");
}

TEST_CASE("what turns the direction of writing is shown, not done") {
  CHECK(printable("a\u202eb") == R"(a\u202eb)");
  for (const char* each : {"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068",
                           "\u2069", "\u2028", "\u2029"}) {
    const std::string shown = printable(each);
    CHECK(shown.size() == 6);
    CHECK(shown.substr(0, 4) == R"(\u20)");
    CHECK(printable(shown) == shown);
  }
  CHECK(printable("\u2025\u202f\u2065\u206a") == "\u2025\u202f\u2065\u206a");  // their neighbours
}

TEST_CASE("no text is a command to the log of a CI service") {
  CHECK(printable("::warning title=x::y") == R"(\x3a:warning title=x::y)");
  CHECK(printable("  ::error::y") == R"(  \x3a:error::y)");
  CHECK(printable("a b ::error::y") == R"(a b \x3a:error::y)");  // CMake wraps its messages at blanks
  CHECK(printable("\n::error::y") == R"(\n\x3a:error::y)");
  CHECK(printable("a##[set-env name=x]y") == R"(a\x23#[set-env name=x]y)");
  CHECK(printable("##vso[task.complete]") == R"(\x23#vso[task.complete])");
  CHECK(printable("ns::f(ns::g)#1") == "ns::f(ns::g)#1");
}

TEST_CASE("no sequence of a terminal passes") {
  CHECK(printable("\x1b[2K\x1b[1A\x1b]0;title\x07\x1b[") == R"(\x1b[2K\x1b[1A\x1b]0;title\x07\x1b[)");
  CHECK(printable("\x1b[8m") == R"(\x1b[8m)");
}

TEST_CASE("bytes that JSON would lose stand beside the text") {
  CHECK_FALSE(bytes_beside("é\n"));
  CHECK(bytes_beside("a\xff") == "61ff");
}

TEST_CASE("bytes are read of whole pairs of hexadecimal digits, and of nothing else") {
  CHECK(bytes_of_hex("") == std::string());
  CHECK(bytes_of_hex("00ff61") == std::string("\0\xff"
                                              "a",
                                              3));
  for (const char* text : {"0", "000", "zz", "0x", "FF", "0 ", "-1"}) {
    CAPTURE(text);
    CHECK_FALSE(bytes_of_hex(text));
  }
}

TEST_CASE("a word of a command line is quoted where a shell would take it for more") {
  CHECK(quoted_for_shell("build/app-1.so") == "build/app-1.so");
  CHECK(quoted_for_shell("my dir") == "'my dir'");
  CHECK(quoted_for_shell("a;$(b)") == "'a;$(b)'");
  CHECK(quoted_for_shell("it's") == "'it'\\''s'");
  CHECK(quoted_for_shell("-rf") == "'./-rf'");
  CHECK(quoted_for_shell("") == "''");
}

TEST_CASE("UTF-16 is told by its mark, or by letters of ASCII in it") {
  const auto wide = [](std::string_view text, bool big) {
    std::string all;
    for (const char letter : text) all += big ? std::string{'\0', letter} : std::string{letter, '\0'};
    return all;
  };
  CHECK(is_utf16("\xff\xfe"));
  CHECK(is_utf16("\xfe\xff"));
  for (const bool big : {false, true}) {
    CHECK(is_utf16(wide("lib/a.so\n", big)));
    CHECK_FALSE(is_utf16(wide("abcdefg", big)));
  }
  CHECK_FALSE(is_utf16(std::string(64, '\0')));
  CHECK_FALSE(is_utf16("lib/a.so\nlib/b.so\n"));
  CHECK_FALSE(is_utf16(std::string("ab\0cd\0ef\0gh\0ij\0kl\0", 18)));
  CHECK(without_byte_order_mark("\xef\xbb\xbfname") == "name");
  CHECK(without_byte_order_mark("\xef\xbbname") == "\xef\xbbname");
}
