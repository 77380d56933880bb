#include "image/ptx_text.h"

#include <doctest/doctest.h>
#include <string>

using namespace archguard;

TEST_CASE("PTX begins with .version, after comments, blanks and line markers") {
  CHECK(ptx_start(".version 9.0\n") == PtxStart::yes);
  CHECK(ptx_start("\xef\xbb\xbf\n  // c\n/* d\n */\t.version 9.0") == PtxStart::yes);
  CHECK(ptx_start("# 1 \"k.cu\"\n  #line 2 \"k.h\" 1 3\r\n/* */ .version 9.0") == PtxStart::yes);
  CHECK(ptx_start(".target sm_80") == PtxStart::no);
  CHECK(ptx_start("#!/bin/sh\n.version 9.0") == PtxStart::no);
  CHECK(ptx_start("#define X\n.version 9.0") == PtxStart::no);
  CHECK(ptx_start("# 1\n.version 9.0") == PtxStart::no);
  CHECK(ptx_start(".vex") == PtxStart::no);
  for (const char* open :
       {"", " \n", "/", "// .version 9.0", "/* .version 9.0", "/* *", "// c\n.versio", "# 1 \"k"})
    CHECK(ptx_start(open) == PtxStart::open);
}

TEST_CASE("a line marker names a line and a file") {
  for (const std::string whole : {"# 1 \"x.cu\"\n", "#1 \"x\"\n", "# 1 \"\"\n", "#line 1 \"x\"\n",
                                  "#  line  1  \"x\"  2\r\n", "# 1 \"x\" 1 3 4"})
    CHECK(size_of_line_marker(whole) == whole.size());
  CHECK(size_of_line_marker("# 1 \"x\"\n.version") == 8);
  for (const char* none : {"", "#", "x", "# -1 \"x\"\n", "# 1\n", "# 1 x\n", "# 1 \"x\n\"",
                           "# 1 \"x\" // c\n", "#pragma x\n", "# 1 \"x\" y\n", "# 1 \"x"})
    CHECK(size_of_line_marker(none) == 0);
  CHECK(has_line_marker("// #\n/* # */ # 1 \"x\"\n"));
  CHECK_FALSE(has_line_marker("// # 1 \"x\"\n/* # 1 */\n\t"));
}

TEST_CASE("the head gives version and target") {
  const PtxHead head = read_ptx_head("//\n.version 9.0 // x\n.target sm_90a, debug\n.address_size 64\n");
  CHECK(head.version == "9.0");
  CHECK(head.target == "sm_90a");
  CHECK(read_ptx_head(".version 8.7\n.address_size 64").target == "");
  CHECK(read_ptx_head(".version").version == "");
  CHECK(read_ptx_head(".version 8.7\n.target sm_90, debug, sm_80 /**/ , texmode_unified").target == "sm_80");
  CHECK(read_ptx_head(".version 8.7\n.target sm_90\n.target compute_80,").target == "compute_80");
  CHECK(read_ptx_head(".version 8.7\n.target sm_foo, x").target == "sm_foo");
  // What stands behind `.version` must stand in its line, without a comment between.
  CHECK(read_ptx_head(".version\t 9.0/* */\n.target // c\n /* d */sm_80").target == "sm_80");
  CHECK(read_ptx_head(".version 9.0// c\n.target sm_80").version == "9.0");
  CHECK(read_ptx_head(".version /*8.0*/ 7.0\n.target sm_80").version == "/*8.0*/");
  CHECK(read_ptx_head(".version\n9.0\n.target sm_80").version == "");
  CHECK(read_ptx_head(".version// c\n9.0\n.target sm_80").version == "//");
  // No blank need stand before the next directive.
  CHECK(read_ptx_head(".version 7.8.target sm_90.address_size 64").version == "7.8");
  CHECK(read_ptx_head(".version 7.8.target sm_90.address_size 64").target == "sm_90");
  CHECK(read_ptx_head(".version 7.8.target sm_75.target sm_90.entry k{ret;}").target == "sm_90");
  CHECK(read_ptx_head(".version 7.8.1").version == "7.8.1");
  CHECK(read_ptx_head(".version 7.8.").version == "7.8.");
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
  CHECK(whole("@@DWARF .section {} .entry k() { @%p1 bra $L; $L: } // the last line", ""));
  CHECK(whole(".version 9.0 .entry k() .pragma \"nounroll\" ; { ret; }\n", "{next}"));
  CHECK(whole(".version 9.0 .entry k() {} .pragma \"nounroll\";\n", "{next}"));
  CHECK(whole(".version 9.0 .global .u32 g;\n# 1 \"k.cu\"\n.entry k() { ret; }\n", "#[derive(Debug)]"));
  CHECK(whole(".version 9.0 .entry k() { ret; }\n", "#\0"sv));
  // Tables of jumps and numbers, whose first byte may be any.
  for (const char* sign : {"@", ".", "/", "`", "{"}) {
    for (const std::string_view behind : {"\x0f\x46\xfa"sv, "\xfa\xff\xff"sv, "\0"sv})
      CHECK_MESSAGE(whole(".version 9.0 .entry k() { ret; }\n    ", std::string(sign) + std::string(behind)),
                    std::string(sign));
  }
  for (const std::string_view behind : {"@ \x01"sv, "@\n\0"sv, "@/\x01"sv, "@//\0"sv, ". \x01"sv, "./\x01"sv})
    CHECK(whole(".version 9.0 .entry k() { ret; }\n", behind));
  CHECK(whole(".version 9.0 .global .b8 s[2] = {1, 2} ;\n", "@\x0f"));
  const std::string_view stray = ".version 9.0 .entry k() { ret; };\n.entry l() { ret; }\n";
  CHECK(whole(stray, "\0"sv));  // all of it, for whoever reads it to refuse
  // Text that begins with a dot, as strings of Rust and Go may stand there.
  const std::string_view k = ".version 9.0 .entry k() { ret; }";
  for (const char* text : {".note.gnu",
                           ".note.gnu, \"{",
                           ".debug_line.debug_info",
                           ".so",
                           ".global",
                           ".globals",
                           ".global%d",
                           ".file not found: ",
                           ".file",
                           ".section header",
                           ".pragma once",
                           ".weak symbol",
                           ".visible",
                           "...",
                           ". x",
                           ".e is none",
                           ".text .global .file",
                           ".gnu.version",
                           ".rodata // .x /* \"",
                           ".local share (",
                           ".csv)"})
    CHECK_MESSAGE(whole(k, text), std::string(text));
  CHECK(whole(".version 9.0 .entry k() { ret; }\n", ".note.gnu\0"sv));
  CHECK(whole(".version 9.0 .entry k() { ret; }\n\n", ".file not found: \0"sv));
  CHECK(whole(k, ".note.gnu /* \n.version 9.0 .entry k() { ret; }"));
  // A statement, or what cutting and damage made of one.
  const auto stays = [&](std::string_view statement) {
    for (const std::string_view between : {"\n", "\n\n\t"}) {
      const std::string text = std::string(k) + std::string(between) + std::string(statement);
      for (const std::string_view behind : {""sv, "\0"sv, "\n\0more"sv, "\x01"sv}) {
        const Ended ended = end_of(text + std::string(behind));
        CHECK_MESSAGE((!ended.whole || ended.size >= text.size()), statement);
      }
    }
  };
  const std::string_view statements[] = {".visible .entry l(.param .u64 p)\n{\nret;\n}",
                                         ".entry l()\n{\nret;\n}",
                                         ".func l()\n{\nret;\n}",
                                         ".global .align 4 .b8 v[4];",
                                         ".visible .global .u32 v = 7;",
                                         ".extern .shared .align 16 .b8 s[];",
                                         ".const .f32 c;",
                                         ".alias f, g;",
                                         ".file 1 \"k.cu\"",
                                         ".section .debug_str\n{\n}",
                                         ".weak .func (.reg .b32 r) l(.reg .b32 a)\n{\nret;\n}"};
  for (const std::string_view statement : statements) {
    for (std::size_t size = 2; size <= statement.size(); ++size) {  // cut; a dot alone tells nothing
      const std::string_view cut = statement.substr(0, size);
      stays(cut);
    }
    for (std::size_t at = 0; at < statement.find_first_of(" {("); ++at) {  // one byte is another
      if (at == 0) continue;                                               // no dot
      for (const char c : {'x', '.', '_', '\0', '\x01', '\x80', '7'}) {
        if (at == 1 && (c == '\0' || c == '\x01')) continue;
        std::string damaged(statement);
        damaged[at] = c;
        const std::string text = std::string(k) + "\n" + damaged + "\n";
        const Ended ended = end_of(text);
        const bool cut = c == '\0' || c == '\x01';
        CHECK_MESSAGE((!ended.whole || ended.size >= k.size() + 1 + (cut ? at : damaged.size())), damaged);
      }
    }
  }
  CHECK_FALSE(end_of(".version 9.0\n.target sm_80\n").whole);
  CHECK_FALSE(end_of(".version 9.0 .entry k() { ret;\0}"sv).whole);
  CHECK_FALSE(end_of(".version 9.0 .entry k() { ret; } .entry l(").whole);
  CHECK_FALSE(end_of(".version 9.0 .entry k() { ret; } /* ").whole);
  CHECK_FALSE(end_of(".pragma \";").whole);
}
