#include "base/bytes.h"

#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

using namespace archguard;

namespace {

struct TemporaryFile {
  std::string path = "/tmp/archguard-bytes-XXXXXX";
  explicit TemporaryFile(const char* content) {
    const int descriptor = ::mkstemp(path.data());
    REQUIRE(descriptor >= 0);
    std::FILE* file = ::fdopen(descriptor, "w");
    std::fputs(content, file);
    std::fclose(file);
  }
  ~TemporaryFile() { ::unlink(path.c_str()); }
};

}  // namespace

TEST_CASE("a cursor reads little-endian and answers 0 outside") {
  const Bytes bytes{0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
  const Cursor cursor(bytes);
  CHECK(cursor.u32(0) == 0xBA55ED50);
  CHECK(cursor.u16(6) == 16);
  CHECK(cursor.u64(0) == 0x00100001BA55ED50);
  CHECK(cursor.u64(1) == 0);
  CHECK(cursor.u8(8) == 0);
}

TEST_CASE("offsets near the top of 64 bits do not wrap") {
  const Bytes bytes(16);
  const Cursor cursor(bytes);
  const auto top = std::numeric_limits<std::uint64_t>::max();
  CHECK_FALSE(cursor.holds(top, 1));
  CHECK_FALSE(cursor.holds(1, top));
  CHECK_FALSE(cursor.holds(top, top));
  CHECK(cursor.holds(16, 0));
  CHECK(cursor.part(8, top).size == 0);
}

TEST_CASE("a C string must end inside") {
  const Bytes bytes{'a', 'b', 0, 'c'};
  const Cursor cursor(bytes);
  CHECK(cursor.c_string(0) == "ab");
  CHECK(cursor.c_string(3) == "");
  CHECK(cursor.c_string(99) == "");
}

TEST_CASE("read_bytes refuses before it allocates") {
  const Bytes bytes(16);
  const MemorySource source(bytes);
  CHECK(read_bytes(source, 4, 12)->size() == 12);
  const auto refused = read_bytes(source, 8, std::numeric_limits<std::uint64_t>::max());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what == "needs 18446744073709551615 bytes at 0x8, 8 remain");
}

TEST_CASE("a part is clipped to its whole and keeps readers inside") {
  const Bytes bytes{0, 1, 2, 3, 4, 5, 6, 7};
  const MemorySource whole(bytes);
  const PartSource part(whole, 6, 100);
  CHECK(part.size() == 2);
  CHECK((*read_bytes(part, 0, 2))[1] == 7);
  CHECK_FALSE(read_bytes(part, 0, 3));
  CHECK(PartSource(whole, 99, 1).size() == 0);
}

TEST_CASE("a file is read where it is, and what is no file is refused by name") {
  const TemporaryFile file("abcdef");
  const auto source = FileSource::open(file.path);
  REQUIRE(source);
  CHECK(source->size() == 6);
  CHECK((*read_bytes(*source, 2, 2))[0] == 'c');

  CHECK(FileSource::open("/nonexistent").error().text() == "/nonexistent: no such file");
  CHECK(FileSource::open("/tmp").error().text() == "/tmp: is a folder, not a file");
  CHECK(FileSource::open(file.path + std::string("\0x", 2)).error().text() ==
        file.path + ": the name of a file goes on behind a NUL");
  const std::string fifo = file.path + ".fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(FileSource::open(fifo).error().text() == fifo + ": is not a regular file");
  ::unlink(fifo.c_str());
}

TEST_CASE("a file that shrinks while it is read gives an error") {
  const TemporaryFile file("abcdef");
  const auto source = FileSource::open(file.path);
  REQUIRE(source);
  REQUIRE(::truncate(file.path.c_str(), 3) == 0);
  CHECK_MESSAGE(source->data_from(4).begin == 4, "what is gone is no hole");
  CHECK(read_bytes(*source, 0, 6).error().what == "ends at 0x3 while it is read: it shrank");
}
