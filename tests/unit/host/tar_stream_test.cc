#include "host/tar_stream.h"

#include <cstdio>
#include <string>

#include <doctest/doctest.h>

#include "passed_by.h"

namespace archguard {
namespace {

using test::passed_by;

std::string member(char type, const std::string& bytes) {
  std::string head(kTarBlock, '\0');
  head.replace(0, 4, "a.so");
  char size[13];
  std::snprintf(size, sizeof size, "%011zo", bytes.size());
  head.replace(124, 11, size, 11);
  head[156] = type;
  head.replace(257, 5, "ustar");
  head.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : head) sum += static_cast<unsigned char>(c);
  std::snprintf(size, sizeof size, "%06o", sum);
  head.replace(148, 7, size, 7);
  return head + bytes + std::string((kTarBlock - bytes.size() % kTarBlock) % kTarBlock, '\0');
}

const std::string kEnd(2 * kTarBlock, '\0');

}  // namespace

TEST_CASE("a tar archive passes as it is, with the global headers that git and pax write") {
  const std::string comment = "52 comment=0123456789012345678901234567890123456789\n";
  REQUIRE(comment.size() == 52);
  const std::string archive = member('g', comment) + member('0', std::string(1000, 'x')) + member('5', "") +
                              member('g', "8 a=b=c\n" + comment) + member('g', "") + member('0', "y") + kEnd;
  for (const std::size_t at_once : {1, 7, 512, 65536}) {
    CHECK(passed_by<TarStream>(archive, at_once) == archive);
    CHECK(passed_by<TarStream>(archive + "behind the end", at_once) == archive + "behind the end");
  }
}

TEST_CASE("a global header that holds something else is an error") {
  const std::string wrong =
      "is not read: a global header (typeflag g) of the archive holds something else than pax records";
  for (const std::string bytes : {"\x7f"
                                  "ELF",
                                  "8 a=bcd", "8 abcde\n", "9 a=b=c\n", "0 a=b\n", "8 a=b=c\nx", "8"})
    for (const std::size_t at_once : {1, 65536}) {
      CHECK(passed_by<TarStream>(member('0', "x") + member('g', bytes) + member('0', "y") + kEnd, at_once) == wrong);
      CHECK(passed_by<TarStream>(member('g', std::string(3000, 'a')) + kEnd, at_once) == wrong);
    }
  CHECK(passed_by<TarStream>(member('g', std::string((1 << 20) + 1, 'a')) + kEnd, 65536) ==
        "has a global header of 1048577 bytes, which is not read");
  // Within a member it is none; behind a header that is damaged libarchive says what is wrong.
  const std::string within = member('0', member('g', "x")) + kEnd;
  CHECK(passed_by<TarStream>(within, 512) == within);
  const std::string lost = std::string(kTarBlock, 'x') + member('g', "x");
  CHECK(passed_by<TarStream>(lost, 512) == lost);
}

TEST_CASE("skipping a tar archive stops at the next header") {
  const std::string archive = member('0', std::string(1000, 'x')) + member('g', "x") + kEnd;
  const MemorySource source({reinterpret_cast<const std::uint8_t*>(archive.data()), archive.size()});
  SourceStream bytes(source);
  TarStream stream(bytes);
  Bytes buffer(kTarBlock);
  CHECK(stream.skip(100) == 0);
  REQUIRE(stream.next(buffer.data(), buffer.size()).ok());
  CHECK(stream.skip(100) == 100);
  CHECK(stream.skip(10000) == 924);
  REQUIRE(stream.next(buffer.data(), buffer.size()).ok());
  CHECK_FALSE(stream.next(buffer.data(), buffer.size()).ok());
}

}  // namespace archguard
