#include "base/json.h"

#include <doctest/doctest.h>

using namespace archguard;

namespace {

template <class Write>
std::string document(JsonTexts texts, Write write) {
  HeldText text;
  JsonWriter json(text, texts);
  write(json);
  return text.take();
}

std::string quoted_for_verify(const char* text) {
  return json_quote(text, JsonTexts::verify_1);
}

}  // namespace

TEST_CASE("JSON strings are always valid") {
  CHECK(json_quote("a\"\\\n") == "\"a\\\"\\\\\\u000a\"");
  CHECK(json_quote("\xc3\xa9") == "\"\xc3\xa9\"");
  CHECK(json_quote("\xff") == "\"\xef\xbf\xbd\"");
  CHECK(json_quote("\xc0\xaf") == "\"\xef\xbf\xbd\xef\xbf\xbd\"");                  // overlong
  CHECK(json_quote("\xed\xa0\x80") == "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");  // surrogate
}

TEST_CASE("texts of archguard.verify/1 are what they were") {
  CHECK(quoted_for_verify("a\"\\\b\f\n\r\t\x1f") == "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u001f\"");
  CHECK(quoted_for_verify("\xe2\x82x") == "\"\xef\xbf\xbdx\"");                    // breaks off
  CHECK(quoted_for_verify("\xf0\x9f\x92") == "\"\xef\xbf\xbd\"");                  // likewise, at the end
  CHECK(quoted_for_verify("\xf0\x9f\x92\xc3\xa9") == "\"\xef\xbf\xbd\xc3\xa9\"");  // before another
  CHECK(quoted_for_verify("\xc0\xaf") == "\"\xef\xbf\xbd\xef\xbf\xbd\"");          // overlong
  CHECK(quoted_for_verify("\xed\xa0\x80") == "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST_CASE("objects and lists stand as their layout says") {
  const auto write = [](JsonWriter& json, JsonLayout layout) {
    json.begin_object(layout);
    json.number("a", -1);
    json.texts("b", {"x", "y"});
    json.begin_list("none");
    json.end();
    json.begin_object("c");
    json.null("d");
    json.flag("e", true);
    json.end();
    json.end();
  };
  const auto with = [&](JsonLayout layout) {
    return document(JsonTexts::rule, [&](JsonWriter& json) { write(json, layout); });
  };
  CHECK(with(JsonLayout::lines) ==
        "{\n  \"a\": -1,\n  \"b\": [\n    \"x\",\n    \"y\"\n  ],\n  \"none\": [],\n  \"c\": {\n"
        "    \"d\": null,\n    \"e\": true\n  }\n}\n");
  CHECK(with(JsonLayout::row) ==
        "{\"a\": -1, \"b\": [\"x\", \"y\"], \"none\": [], \"c\": {\"d\": null, \"e\": true}}\n");
  CHECK(with(JsonLayout::packed) ==
        "{\"a\":-1,\"b\":[\"x\",\"y\"],\"none\":[],\"c\":{\"d\":null,\"e\":true}}\n");
  CHECK(with(JsonLayout::packed_lines) ==
        "{\n\"a\":-1,\n\"b\":[\n\"x\",\n\"y\"],\n\"none\":[],\n\"c\":{\n\"d\":null,\n\"e\":true}}\n");
}

TEST_CASE("what JSON cannot hold stands beside it") {
  const auto write = [](JsonWriter& json) {
    json.begin_object(JsonLayout::packed);
    json.text("a", "\xff");
    json.text_or_null("b", "");
    json.message("c", "\xff");
    json.texts("d", {"x", "\xfe"});
    json.texts("e", {"y"});
    json.end();
  };
  CHECK(document(JsonTexts::rule, write) ==
        "{\"a\":\"\xef\xbf\xbd\",\"a_bytes\":\"ff\",\"b\":null,\"c\":\"\xef\xbf\xbd\","
        "\"d\":[\"x\",\"\xef\xbf\xbd\"],\"d_bytes\":[null,\"fe\"],\"e\":[\"y\"]}\n");
  CHECK(document(JsonTexts::verify_1, write) ==
        "{\"a\":\"\xef\xbf\xbd\",\"b\":null,\"c\":\"\xef\xbf\xbd\",\"d\":[\"x\",\"\xef\xbf\xbd\"],\"e\":["
        "\"y\"],"
        "\"a_bytes\":\"ff\",\"d_bytes\":[null,\"fe\"]}\n");
}

TEST_CASE("members that many objects share are made once, with their bytes") {
  for (const JsonTexts texts : {JsonTexts::rule, JsonTexts::verify_1}) {
    int made = 0;
    const std::string text = document(texts, [&](JsonWriter& json) {
      json.begin_object(JsonLayout::packed);
      json.begin_list("list");
      std::string members;
      for (int i = 0; i < 2; ++i) {
        json.begin_object();
        json.number("i", i);
        if (members.empty())
          members = json.kept_members([&] {
            ++made;
            json.text("a", "\xff");
          });
        json.members_again(members);
        json.end();
      }
      json.end();
      json.end();
    });
    CHECK(made == 1);
    CHECK(text ==
          "{\"list\":[{\"i\":0,\"a\":\"\xef\xbf\xbd\",\"a_bytes\":\"ff\"},"
          "{\"i\":1,\"a\":\"\xef\xbf\xbd\",\"a_bytes\":\"ff\"}]}\n");
  }
}
