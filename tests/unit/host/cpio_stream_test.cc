#include "host/cpio_stream.h"

#include <cstdio>
#include <string>

#include "doctest/doctest.h"

#include "passed_by.h"

namespace archguard {
namespace {

using test::passed_by;

std::string padded(std::string text, std::size_t alignment) {
  text.resize((text.size() + alignment - 1) / alignment * alignment, '\0');
  return text;
}

std::string newc(const std::string& name, const std::string& bytes, std::size_t name_size = 0) {
  char sizes[2][9];
  std::snprintf(sizes[0], sizeof sizes[0], "%08zx", bytes.size());
  std::snprintf(sizes[1], sizeof sizes[1], "%08zX", name_size != 0 ? name_size : name.size() + 1);
  return padded("070701" + std::string(48, '0') + sizes[0] + std::string(32, '0') + sizes[1] +
                    std::string(8, '0') + name + '\0',
                4) +
         padded(bytes, 4);
}

std::string odc(const std::string& name, const std::string& bytes) {
  char sizes[2][12];
  std::snprintf(sizes[0], sizeof sizes[0], "%06zo", name.size() + 1);
  std::snprintf(sizes[1], sizeof sizes[1], "%011zo", bytes.size());
  return "070707" + std::string(53, '0') + sizes[0] + sizes[1] + name + '\0' + bytes;
}

const std::string kNoHeader = "is damaged: bytes that are no header stand between two members, or at its end";

}  // namespace

TEST_CASE("a cpio archive passes as it is") {
  for (const auto member :
       {newc, +[](const std::string&n, const std::string&b, std::size_t) { return odc(n, b); }}) {
    const std::string archive = member("a", "12345", 0) + member("empty", "", 0) +
                                member(std::string(4095, 'n'), "070701", 0) + member("TRAILER!!!", "", 0);
    for (const std::size_t at_once : {1, 7, 512, 65536}) {
      CHECK(passed_by<CpioStream>(archive, at_once) == archive);
      CHECK(passed_by<CpioStream>(archive + "behind the end", at_once) == archive + "behind the end");
    }
  }
}

TEST_CASE("a name that no system takes costs no memory") {
  CHECK(passed_by<CpioStream>(newc("a", "", 0xeeeeeeee), 512) ==
        "has a member whose name has 4008636141 bytes, which no system takes");
  CHECK(passed_by<CpioStream>(newc("a", "", 4097), 512) ==
        "has a member whose name has 4096 bytes, which no system takes");
}

TEST_CASE("bytes that are no header of a cpio archive are an error") {
  const std::string end = newc("TRAILER!!!", "");
  CHECK(passed_by<CpioStream>(newc("a", "1234") + "zzzz" + end, 512) == kNoHeader);
  CHECK(passed_by<CpioStream>(newc("a", "1234") + odc("b", "") + end, 512) == kNoHeader);
  std::string damaged = newc("a", "1234");
  damaged[55] = 'g';
  CHECK(passed_by<CpioStream>(damaged + end, 512) == "is damaged: a header has a field that is not a number, or no name");
}

TEST_CASE("skipping a cpio archive stops at the next header") {
  const std::string archive = newc("a", std::string(1000, 'x')) + newc("TRAILER!!!", "");
  const MemorySource source({reinterpret_cast<const std::uint8_t*>(archive.data()), archive.size()});
  SourceStream bytes(source);
  CpioStream stream(bytes);
  Bytes buffer(112);
  REQUIRE(stream.next(buffer.data(), buffer.size()));
  CHECK(stream.skip(5000) == 1000);
  CHECK(stream.skip(5000) == 0);
}

}  // namespace archguard
