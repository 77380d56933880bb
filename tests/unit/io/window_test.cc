#include "io/window.h"

#include <doctest/doctest.h>

using namespace archguard;

namespace {

// Counts the reads that reach it.
class CountingSource final : public ByteSource {
 public:
  explicit CountingSource(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  Status read(std::uint64_t offset, void* out, std::size_t count) const override {
    ++reads;
    for (std::size_t i = 0; i < count; ++i)
      static_cast<std::uint8_t*>(out)[i] = static_cast<std::uint8_t>(offset + i);
    return Done{};
  }
  mutable int reads = 0;

 private:
  std::uint64_t size_;
};

}  // namespace

TEST_CASE("reads close together cost one") {
  const CountingSource source(200);
  Window window(source, 64, 32);
  CHECK(window.at(10, 4)->data[0] == 10);
  CHECK(window.at(30, 12)->data[11] == 41);
  CHECK(source.reads == 1);
  CHECK(window.at(9, 1)->data[0] == 9);
  CHECK(window.at(190, 10)->data[9] == 199);
  CHECK(source.reads == 3);
}

TEST_CASE("a window refuses what lies outside, and more than it holds") {
  const CountingSource source(100);
  Window window(source, 64, 32);
  CHECK(window.at(90, 11).error().what == "needs 11 bytes at 0x5a, 10 remain");
  CHECK(window.at(0, 65).error().what == "needs 65 bytes at 0x0, 64 remain");
  CHECK(window.at(101, 0).ok());
  CHECK(window.at(~std::uint64_t{0}, 1).error().what == "needs 1 byte at 0xffffffffffffffff, 0 remain");
  CHECK(source.reads == 0);
}

TEST_CASE("a text is cut at its limit and must end inside") {
  const Bytes bytes{'a', 'b', 'c', 0, 'd'};
  const MemorySource source(bytes);
  Window window(source, 64, 32);
  CHECK(*window.text_at(0, 10) == "abc");
  CHECK(*window.text_at(0, 2) == "ab");
  CHECK(*window.text_at(4, 10) == "");
  CHECK(*window.text_at(99, 10) == "");
}
