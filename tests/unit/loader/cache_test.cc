#include "loader/cache.h"

#include <doctest/doctest.h>

#include "cache_builder.h"

using namespace archguard;
using namespace archguard::test;

TEST_CASE("the paths of a name, in the file's order, also behind the table for old loaders") {
  for (const bool old : {false, true}) {
    const auto cache = parse_loader_cache(cache_of(
        {{"libb.so", "/32/libb.so"}, {"liba.so.1", "/64/liba.so.1"}, {"libb.so", "/64/libb.so"}}, old));
    REQUIRE(cache);
    CHECK(cache->size() == 2);
    CHECK(cache->at("libb.so") == std::vector<std::string>{"/32/libb.so", "/64/libb.so"});
    CHECK(cache->at("liba.so.1") == std::vector<std::string>{"/64/liba.so.1"});
  }
}

TEST_CASE("another format, and a table that is cut, are errors; an entry without texts is left out") {
  CHECK(parse_loader_cache(bytes_of_text("x")).error().text() == "is no cache of glibc's loader");
  CHECK(parse_loader_cache(bytes_of_text("ld.so-1.7.0")).error().text() == "is no cache of glibc's loader");
  auto bytes = cache_of({{"a", "/a"}, {"b", "/b"}});
  for (std::size_t size = 0; size < bytes.size(); ++size) (void)parse_loader_cache({bytes.data(), size});
  CHECK(parse_loader_cache({bytes.data(), 95}).error().text() ==
        "cache of glibc's loader needs 96 bytes, has 95");
  bytes[48 + 7] = 0xff;
  const auto cache = parse_loader_cache(bytes);
  REQUIRE(cache);
  CHECK(cache->size() == 1);
}
