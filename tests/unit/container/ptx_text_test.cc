#include "container/ptx_text.h"

#include <doctest/doctest.h>
#include <string>

using namespace archguard;

TEST_CASE("PTX begins with .version, after comments and blanks") {
  CHECK(is_ptx(".version 9.0\n"));
  CHECK(is_ptx("\xef\xbb\xbf\n  // c\n/* d\n */\t.version 9.0"));
  CHECK_FALSE(is_ptx(""));
  CHECK_FALSE(is_ptx("// .version 9.0"));
  CHECK_FALSE(is_ptx("/* .version 9.0"));
  CHECK_FALSE(is_ptx(".target sm_80"));
}

TEST_CASE("the head gives version and target") {
  const PtxHead head = read_ptx_head("//\n.version 9.0 // x\n.target sm_90a, debug\n.address_size 64\n");
  CHECK(head.version == "9.0");
  CHECK(head.target == "sm_90a");
  CHECK(read_ptx_head(".version 8.7\n.address_size 64").target == "");
  CHECK(read_ptx_head(".version").version == "");
}

TEST_CASE("the end of a module among other bytes") {
  struct Ended {
    std::uint64_t size = 0;
    bool whole = false;
  };
  const auto end_of = [](std::string_view text) {
    Ended ended;
    for (const std::size_t step : {text.size(), std::size_t{1}}) {  // at once, and byte by byte
      PtxEnd end;
      for (std::size_t at = 0; at < text.size(); at += step)
        if (end.take(text.substr(at, step))) break;
      if (step != 1)
        ended = {end.size(), end.whole()};
      else
        CHECK((ended.size == end.size() && ended.whole == end.whole()));
    }
    return ended;
  };
  const auto whole = [&](std::string_view module, std::string_view behind) {
    const std::string text = std::string(module) + std::string(behind);
    const Ended ended = end_of(text);
    return ended.whole && ended.size == module.size();
  };
  using namespace std::string_view_literals;
  CHECK(whole(".version 9.0 .entry k() { ret; }\n", "\0.x"sv));
  CHECK(whole(".version 9.0 .entry k() { ret; }\n", "next"));
  CHECK(whole(".version 9.0 .entry k() { ret; }", "}"));
  CHECK(whole(".version 9.0 .entry k() { ret; }", "/rustc/library/core"));
  CHECK(whole(".version 9.0 .global .b8 s[2] = {1, 2};\n// }{\n/* \" */ ", "\x01"));
  CHECK(whole(".version 9.0 .pragma \"};{\"; .entry k() { ret; } .file 1 \"a.cu\"\n", "\0"sv));
  CHECK(whole("@@DWARF .section {}; .entry k() { @%p1 bra $L; $L: } // the last line", ""));
  CHECK_FALSE(end_of(".version 9.0\n.target sm_80\n").whole);
  CHECK_FALSE(end_of(".version 9.0 .entry k() { ret;\0}"sv).whole);
  CHECK_FALSE(end_of(".version 9.0 .entry k() { ret; } .entry l(").whole);
  CHECK_FALSE(end_of(".version 9.0 .entry k() { ret; } /* ").whole);
  CHECK_FALSE(end_of(".pragma \";").whole);
}
