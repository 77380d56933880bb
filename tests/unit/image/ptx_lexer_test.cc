#include "image/ptx_lexer.h"

#include <doctest/doctest.h>
#include <string>

using namespace archguard;

namespace {

std::string tokens_of(std::string_view text) {
  PtxLexer lexer(text);
  std::string all;
  for (auto token = lexer.next(); !token.empty(); token = lexer.next()) all += std::string(token) + " ";
  return all + (lexer.broken() ? "broken" : "");
}

}  // namespace

TEST_CASE("words, punctuation, comments and strings") {
  CHECK(tokens_of("@%p1 bra $L_1; // end\n/* { */.loc\t1 \"a ; b\" ld.global.u32 %r1,[%rd1+4];") ==
        "@ %p1 bra $L_1 ; .loc 1 ld.global.u32 %r1 , [ %rd1 + 4 ] ; ");
  CHECK(tokens_of("") == "");
  CHECK(tokens_of("a / b") == "a / b ");
  CHECK(tokens_of("a //") == "a ");
  CHECK(tokens_of("L: red.shared::cta.add x::y::") == "L : red.shared::cta.add x::y:: ");
  CHECK(tokens_of("L:2 ld.min.sp::2:4.f32 x::y:z") == "L : 2 ld.min.sp::2:4.f32 x::y : z ");
}

TEST_CASE("what is not closed is broken") {
  CHECK(tokens_of("a /* b") == "a broken");
  CHECK(tokens_of("a \"b") == "a broken");
}

TEST_CASE("a block ends at its own brace") {
  PtxLexer lexer("{ a { b } \"}\" /* } */ // }\n / } c");
  CHECK(lexer.next() == "{");
  CHECK(lexer.skip_block());
  CHECK(lexer.next() == "c");
  CHECK_FALSE(PtxLexer("{ a").skip_block());
}

TEST_CASE("a block's end is found however much stands before it") {
  for (std::size_t length = 0; length < 200; ++length)
    for (const std::string mark : {"", "{}", "\"}\"", "// }\n", "/* } */", "/"}) {
      const std::string text = std::string(length, 'x') + mark + std::string(length / 2, ';') + "} c";
      PtxLexer lexer(text);
      REQUIRE(lexer.skip_block());
      REQUIRE(lexer.next() == "c");
    }
}
