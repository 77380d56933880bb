#include <doctest/doctest.h>

#include "select/select.h"

using namespace archguard;

namespace {

// The list in CMake's spelling, or the error and its fix.
std::string parsed(std::string_view text) {
  const auto list = parse_arch_list(text);
  if (!list) return list.error().text() + " | " + list.error().fix;
  std::string spelled;
  for (const auto& entry : *list) spelled += (spelled.empty() ? "" : ";") + to_string(entry);
  return spelled;
}

}  // namespace

TEST_CASE("CMake's spelling") {
  CHECK(parsed("80-real;90-virtual") == "80-real;90-virtual");
  CHECK(parsed("75") == "75");
  CHECK(parsed("90a-real;103f-virtual;120f") == "90a-real;103f-virtual;120f");
  const auto both = parse_arch_list("75");
  CHECK(both->front().real);
  CHECK(both->front().virtual_);
}

TEST_CASE("torch's spelling: SASS, with +PTX both") {
  CHECK(parsed("8.0;9.0a;12.0+PTX") == "80-real;90a-real;120");
  CHECK(parsed("7.5 8.6,10.3f+PTX") == "75-real;86-real;103f");
}

TEST_CASE("separators are free, order is kept, what is there twice counts once") {
  CHECK(parsed("; 90 ,, 80-real\t;\n90;80-real;80-virtual;") == "90;80-real;80-virtual");
}

TEST_CASE("the error names the token and what was meant") {
  CHECK(parsed("80;sm_90") == "'sm_90' is no architecture | write 90");
  CHECK(parsed("sm90a") == "'sm90a' is no architecture | write 90a");
  CHECK(parsed("compute_86") == "'compute_86' is no architecture | write 86-virtual");
  CHECK(parsed("8.6-real") == "'8.6-real' is no architecture | write 86-real");
  CHECK(parsed("86+PTX") == "'86+PTX' is no architecture | write 86");
  CHECK(parsed("90A") == "'90A' is no architecture | write 90a");
  CHECK(parsed("8.6+ptx") == "'8.6+ptx' is no architecture | write 86");
  CHECK(parsed("80-REAL") == "'80-REAL' is no architecture | write 80-real");
  CHECK(parsed("80-virtual-real") == "'80-virtual-real' is no architecture | write 80-virtual");
  CHECK(parsed("native") ==
        "'native' is no architecture | write the architectures themselves: 'native' depends on the compiler "
        "or the "
        "machine");
  for (const char* wild : {"RAPIDS", "Hopper", "OFF", "8", "8.6.1", "1000", "-real", "+PTX", "sm_"})
    CHECK(parsed(wild) ==
          "'" + std::string(wild) +
              "' is no architecture | write architectures as in 80-real;90-virtual or 8.0;9.0+PTX");
}

TEST_CASE("an empty list is an error, a monstrous token is cut") {
  for (const char* empty : {"", ";", " ,; "})
    CHECK(parsed(empty) == "the list of architectures is empty | write for example 80-real;90-virtual");
  CHECK(parsed(std::string(100000, 'x')).size() < 200);
}
