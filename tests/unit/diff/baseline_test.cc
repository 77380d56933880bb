#include "diff/baseline.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sides.h"

using namespace archguard;
using namespace archguard::test;

namespace {

std::string document_of(const DiffSide& side) {
  HeldText text;
  JsonWriter json(text);
  json.begin_object(JsonLayout::packed);
  json.message("schema", "archguard.inspect/1");
  json.begin_list("errors");
  json.end();
  json.texts("passed_over", {"x.tar.gz"});
  write_baseline(side, json);
  json.end();
  return text.take();
}

std::string error_of(const std::string& text) {
  const auto side = parse_baseline(text, "old.json");
  return side ? "none" : side.error().what;
}

DiffSide some_side() {
  auto one = file("lib/a.so", {fails({0, 2}), covered()});
  one.member = "x\xff.so";  // is not UTF-8
  one.names[2].text = "c\xfe";
  one.names.push_back({true, "a"});  // a variable of that name
  one.verdicts[1].not_all = {{1, Runs::in_some}, {2, Runs::unknown}, {3, Runs::in_some}};
  return side({one, DiffFile{"b.so", {}, "b.so", false}});
}

}  // namespace

TEST_CASE("a baseline is read back as it was written") {
  const auto side = parse_baseline(document_of(some_side()), "old.json");
  REQUIRE(side);
  CHECK(side->name == "old.json");
  CHECK(side->scope == "fatbin");
  CHECK(side->embedded == "warn");
  CHECK(side->passed_over == std::vector<std::string>{"x.tar.gz"});
  CHECK(side->devices == some_side().devices);
  REQUIRE(side->files.size() == 2);
  const DiffFile was = some_side().files[0];
  const DiffFile& is = side->files[0];
  CHECK(is.path == was.path);
  CHECK(is.member == was.member);
  CHECK(is.key == was.key);
  CHECK(is.names == was.names);
  CHECK(is.verdicts == was.verdicts);
  CHECK(total_of(is.sizes).stored == 1000);
  CHECK(!side->files[1].has_code);
}

TEST_CASE("no part of a baseline is taken for the whole") {
  const std::string whole = document_of(some_side());
  REQUIRE(error_of(whole) == "none");
  for (std::size_t size = 0; size + 1 < whole.size(); ++size)
    CHECK(error_of(whole.substr(0, size)) == "is no whole JSON document: it was cut, or is none");
}

TEST_CASE("a document of another kind, or without verdicts, is refused") {
  CHECK(error_of(R"({"schema":"archguard.verify/1"})") ==
        "has the schema 'archguard.verify/1', and 'archguard.inspect/1' is needed");
  CHECK(error_of(R"({"schema":"archguard.inspect/1","errors":[]})") ==
        "is what inspect writes without --coverage: it holds no verdicts to compare");
  CHECK(error_of(R"({"schema":"archguard.inspect/1","errors":[{"what":"cut"}],"coverage":{}})") ==
        "is of files that were not read whole: cut");
  CHECK(error_of("[]") == "is not the JSON of archguard inspect");
  CHECK(error_of(R"({"schema":7})") == "is not the JSON of archguard inspect");
}

TEST_CASE("no member of a baseline can be missing or of another type") {
  const auto whole = nlohmann::json::parse(document_of(some_side()));
  const auto refused = [](const nlohmann::json& document) {
    return error_of(document.dump()) == "is not the JSON of archguard inspect";
  };
  for (const auto& [key, value] : whole["coverage"].items()) {
    auto changed = whole;
    changed["coverage"].erase(key);
    CHECK_MESSAGE(refused(changed), key);
    changed["coverage"][key] = 7;
    CHECK_MESSAGE(refused(changed), key);
  }
  for (const auto& [key, value] : whole["coverage"]["files"][0].items()) {
    if (key.find("_bytes") != std::string::npos) continue;
    auto changed = whole;
    changed["coverage"]["files"][0].erase(key);
    if (key != "member") CHECK_MESSAGE(refused(changed), key);
    changed["coverage"]["files"][0][key] = 7;
    if (key != "member") CHECK_MESSAGE(refused(changed), key);
  }
  for (const char* digits : {"616", "zz", "6A"}) {
    auto odd = whole;
    odd["coverage"]["files"][0]["path_bytes"] = digits;
    CHECK_MESSAGE(refused(odd), digits);
  }
  auto changed = whole;
  auto& verdicts = changed["coverage"]["files"][0]["verdicts"];
  const auto with = [&](const char* key, const nlohmann::json& ranges) {
    auto of = whole;
    of["coverage"]["files"][0]["verdicts"][0][key] = ranges;
    return of;
  };
  REQUIRE(!refused(with("nowhere", {0, 3})));
  CHECK(refused(with("nowhere", {0, 4})));        // there is no such name
  CHECK(refused(with("nowhere", {1, 0})));        // no range
  CHECK(refused(with("nowhere", {0})));           // half of one
  CHECK(refused(with("nowhere", {2, 3, 0, 1})));  // not in order
  CHECK(refused(with("nowhere", {0, 1, 1, 2})));  // twice
  CHECK(refused(with("in_some", {0, 0})));        // which runs nowhere
  CHECK(refused(with("unknown", {-1, 0})));
  verdicts = {verdicts[1]};  // one device has no verdict
  CHECK(refused(changed));
}

TEST_CASE("a baseline is asked for devices that it has verdicts for") {
  const DiffDevice turing{{7, 5}, {}}, other{{8, 6}, {}};
  const auto fewer = for_devices(some_side(), {turing}, {});
  REQUIRE(fewer);
  CHECK(fewer->files[0].verdicts.size() == 1);
  const auto refused = for_devices(some_side(), {turing, other}, " --fleet f.csv");
  REQUIRE(!refused);
  CHECK(refused.error().what == "holds no verdicts for 8.6");
  CHECK(refused.error().fix ==
        "write it with: archguard inspect PATH --coverage --fleet f.csv --format json > side");
}
