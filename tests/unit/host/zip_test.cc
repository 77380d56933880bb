#include "host/zip.h"

#include <cstdlib>
#include <dirent.h>
#include <doctest/doctest.h>
#include <vector>

#include "base/text.h"
#include "support/builders/zip_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

const Bytes kLong(std::size_t{6} << 20, 'x');  // larger than what is kept in memory

// "name=bytes" of each member, with the error in its place; then the directory's.
std::string contents(
    const Bytes& zip, const std::function<bool(ByteView)>& wanted = [](ByteView) { return true; }) {
  const MemorySource source(zip);
  std::string text;
  const Status status = visit_zip(source, [&](const ZipMember& member) {
    text += member.name + "=";
    const auto opened = open_zip_member(source, member, wanted);
    if (!opened) {
      text += opened.error().text();
    } else if (*opened != nullptr) {
      const auto bytes = read_bytes(**opened, 0, (*opened)->size());
      REQUIRE(bytes.ok());
      text += bytes->size() > 100 ? count_of(bytes->size(), "byte") : std::string(ByteView(*bytes).text());
    } else {
      text += "(not wanted)";
    }
    text += "\n";
  });
  return status ? text : text + status.error().text() + "\n";
}

ZipBuilder two() {
  return ZipBuilder{}.stored("a", bytes_of_text("alpha")).deflated("dir/b", bytes_of_text("beta beta beta"));
}

}  // namespace

TEST_CASE("members stored and deflated, behind folders, with a comment, in 64 bits") {
  CHECK(contents(two().bytes()) == "a=alpha\ndir/b=beta beta beta\n");
  CHECK(contents(two().stored("dir/", {}).comment("PK\5\6 is no record").bytes()) ==
        "a=alpha\ndir/b=beta beta beta\n");
  CHECK(contents(two().zip64().bytes()) == "a=alpha\ndir/b=beta beta beta\n");
  CHECK(contents(ZipBuilder{}.bytes()).empty());
  CHECK(contents(ZipBuilder{}.deflated("empty", {}).stored("none", {}).bytes()) == "empty=\nnone=\n");
}

TEST_CASE("behind a script, with offsets that count from its start or not") {
  const std::string script = "#!/usr/bin/env python3\n";
  const std::string members = "a=alpha\ndir/b=beta beta beta\n";
  for (const bool wide : {false, true}) {
    const auto builder = [&](std::string_view before) {
      ZipBuilder zip = two().script(before).comment("text");
      return (wide ? zip.zip64() : zip).bytes();
    };
    Bytes joined = bytes_of_text(script);  // cat script t.zip
    const Bytes zip = builder("");
    joined.insert(joined.end(), zip.begin(), zip.end());
    for (const Bytes& bytes : {builder(script), joined}) {
      CHECK(is_zip(MemorySource(bytes)));
      CHECK(contents(bytes) == members);
      for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_FALSE(is_zip(MemorySource(ByteView{bytes.data(), size})));
    }
  }
  CHECK_FALSE(is_zip(MemorySource(bytes_of_text(script))));
  CHECK_FALSE(is_zip(MemorySource(two().script("#/usr").bytes())));
}

TEST_CASE("a member that is too large for memory goes to a file, which leaves nothing behind") {
  CHECK(contents(ZipBuilder{}.deflated("b", kLong).bytes()) == "b=6291456 bytes\n");
  REQUIRE(setenv("TMPDIR", "/nowhere", 1) == 0);
  CHECK(contents(ZipBuilder{}.deflated("b", kLong).bytes()) ==
        "b=temporary file in /nowhere cannot be made: No such file or directory\n");
  CHECK(contents(two().bytes()) == "a=alpha\ndir/b=beta beta beta\n");
  unsetenv("TMPDIR");
}

TEST_CASE("holes of a large member read as zeros") {
  Bytes bytes(std::size_t{8} << 20);
  bytes.front() = 1;
  bytes[std::size_t{5} << 20] = 2;
  const Bytes zip = ZipBuilder{}.deflated("b", bytes).bytes();
  const MemorySource source(zip);
  const Status status = visit_zip(source, [&](const ZipMember& member) {
    const auto opened = open_zip_member(source, member, [](ByteView start) { return start.data[0] == 1; });
    REQUIRE(opened.ok());
    const auto again = read_bytes(**opened, 0, bytes.size());
    REQUIRE(again.ok());
    CHECK(*again == bytes);
  });
  CHECK(status.ok());
}

TEST_CASE("what is not wanted is read all the same, so that damage shows") {
  const auto never = [](ByteView) { return false; };
  CHECK(contents(two().bytes(), never) == "a=(not wanted)\ndir/b=(not wanted)\n");
  CHECK(contents(two().checksum(7).bytes(), never) ==
        "a=(not wanted)\ndir/b=is a damaged member of a zip file: its CRC-32 must be 0x7, found 0x89a70ec\n");
}

TEST_CASE("lies about a member are named") {
  const auto one = [] { return ZipBuilder{}.deflated("b", bytes_of_text("beta beta beta")); };
  const std::string damaged = "b=is a damaged member of a zip file: ";
  CHECK(contents(one().size(15).bytes()) == damaged + "it must have 15 bytes, found 14\n");
  CHECK(contents(one().size(3).bytes()) == damaged + "it must inflate to 3 bytes, found more\n");
  CHECK(contents(one().size(1 << 20).bytes()) == damaged + "9 stored bytes cannot become 1048576\n");
  CHECK(contents(one().method(0).bytes()) == damaged + "9 stored bytes cannot become 14\n");
  CHECK(contents(one().method(12).bytes()) ==
        "b=is a member of a zip file compressed with method 12; stored (0) and deflate (8) are read\n");
  CHECK(contents(one().flags(1).bytes()) == "b=is an encrypted member of a zip file\n");
  Bytes stream = one().bytes();
  stream[31] = 0xff;
  CHECK(contents(stream) == damaged + "zlib: invalid block type\n");
  stream[3] = 0;
  CHECK(contents(stream) == damaged + "it has no header at 0x0\n");
}

TEST_CASE("lies of the directory are named") {
  const Bytes whole = two().bytes();
  const std::size_t end = whole.size() - 22;
  const auto with = [&](std::size_t at, unsigned value) {
    Bytes bytes = whole;
    bytes[at] = static_cast<std::uint8_t>(value);
    return contents(bytes);
  };
  const std::string members = contents(whole);
  CHECK(with(end, 0) == "is a zip file cut short: it has no directory at its end\n");
  Bytes more = whole;
  more.insert(more.end(), 3, 0);
  CHECK(contents(more) ==
        "is a zip file with bytes behind its directory, where other programs may find another one\n");
  CHECK(with(end + 4, 1) == "is one part of a zip file that was split\n");
  Bytes counts = whole;
  counts[end + 8] = counts[end + 10] = 3;
  CHECK(contents(counts) == members + "zip directory must have 3 entries, found 2\n");
  CHECK(with(end + 13, 1) == "zip directory needs 354 bytes at 0x50, 98 remain\n");
  CHECK(
      with(end + 16, 0x4f) ==
      "zip directory must end at 0xb2, where its end record begins, found 0xb1: other programs find another "
      "directory\n");
  Bytes begin = whole;
  begin[end + 16] = 0x4f;
  begin[end + 12] += 1;
  CHECK(contents(begin) == "no zip directory entry at 0x4f\n");
}

TEST_CASE("two zip files one behind the other are refused: their readers do not agree which is read") {
  for (const bool wide : {false, true}) {
    const auto zip = [&] { return wide ? two().zip64().bytes() : two().bytes(); };
    Bytes joined = zip();
    const Bytes second = zip();
    joined.insert(joined.end(), second.begin(), second.end());
    CHECK(contents(joined) ==
          std::string(wide ? "zip64's end record must end at 0x286, where its locator begins, found 0x12e"
                           : "zip directory must end at 0x17a, where its end record begins, found 0xb2") +
              ": other programs find another directory\n");
  }
}

TEST_CASE("members that overlap are refused: a small file must not inflate without end") {
  Bytes zip = ZipBuilder{}.stored("a", filler(400)).stored("b", filler(1)).bytes();
  const Bytes entry = {'P', 'K', 1, 2};
  auto at = std::search(zip.begin(), zip.end(), entry.begin(), entry.end());
  at = std::search(at + 1, zip.end(), entry.begin(), entry.end());
  at[21] = 2;  // 513 bytes
  CHECK(contents(zip).find("members of the zip file overlap, from 'b' on\n") != std::string::npos);
}

TEST_CASE("every cut is an error, and every flipped byte an error or the same members") {
  for (const Bytes& whole : {two().bytes(), two().zip64().bytes()}) {
    const auto is_error = [](const std::string& text) {
      return text.find("zip") != std::string::npos || text.find("outside") != std::string::npos;
    };
    for (std::size_t size = 0; size < whole.size(); ++size)
      CHECK_MESSAGE(
          is_error(contents(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)))), size);
    for (std::size_t i = 0; i < whole.size(); ++i)
      for (const unsigned mask : {0x01U, 0x02U, 0x80U, 0xffU}) {
        Bytes flipped = whole;
        flipped[i] = static_cast<std::uint8_t>(flipped[i] ^ mask);
        const std::string text = contents(flipped);
        const bool same_bytes =
            text.find("=alpha\n") != std::string::npos && text.find("=beta beta beta\n") != std::string::npos;
        CHECK_MESSAGE((is_error(text) || same_bytes), i << " " << mask << " " << text);
      }
  }
}
