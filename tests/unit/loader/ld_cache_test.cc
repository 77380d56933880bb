#include "loader/ld_cache.h"

#include <doctest/doctest.h>

#include "cache_builder.h"

using namespace archguard;
using namespace archguard::test;

TEST_CASE("the paths of a name, in the file's order, also behind the table for old loaders") {
  for (const bool old : {false, true}) {
    const auto bytes = cache_of(
        {{"libb.so", "/32/libb.so"}, {"liba.so.1", "/64/liba.so.1"}, {"libb.so", "/64/libb.so"}}, old);
    const auto cache = parse_loader_cache(bytes);
    REQUIRE(cache);
    CHECK(cache->size() == 2);
    CHECK(cache->at("libb.so") == std::vector<std::string_view>{"/32/libb.so", "/64/libb.so"});
    CHECK(cache->at("liba.so.1") == std::vector<std::string_view>{"/64/liba.so.1"});
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

TEST_CASE("texts that no file's path has room for are left out, however many entries share them") {
  const std::string long_name(256, 'n'), long_path(4096, 'p');
  const auto bytes =
      cache_of({{long_name, "/a"}, {"a", long_path}, {long_name.substr(1), long_path.substr(1)}});
  const auto cache = parse_loader_cache(bytes);
  REQUIRE(cache);
  REQUIRE(cache->size() == 1);
  CHECK(cache->at(long_name.substr(1)) ==
        std::vector<std::string_view>{std::string_view(long_path).substr(1)});

  // 100,000 entries, each with the same megabyte for its name.
  constexpr std::uint32_t kEntries = 100'000, kTextsAt = 48 + kEntries * 24;
  ByteWriter hostile;
  hostile.text("glibc-ld.so.cache1.1").u32(kEntries).u32(1 << 20).u8(2).zeros(19);
  for (std::uint32_t i = 0; i < kEntries; ++i) hostile.u32(0x303).u32(kTextsAt).u32(kTextsAt).u32(0).u64(0);
  hostile.text(std::string(1 << 20, 'x')).u8(0);
  const auto of_hostile = parse_loader_cache(hostile.bytes());
  REQUIRE(of_hostile);
  CHECK(of_hostile->empty());
}
