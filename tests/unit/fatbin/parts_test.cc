#include <doctest/doctest.h>

#include "base/parallel.h"
#include "reading.h"

// Large files are read in parts on all cores. What comes out must be what one thread reads from begin to end.

using namespace archguard;
using namespace archguard::test;

namespace {

constexpr std::size_t kPart = std::size_t{4} << 20;

std::string outline_of(const test::Bytes& bytes) {
  const DeviceCode code = read(bytes, "t.so");
  return outline(code) + errors_of(code);
}

std::string outline_on_one_thread(const test::Bytes& bytes) {
  return InOrder<std::string>(
             1, 1, [&](std::size_t, unsigned) { return outline_of(bytes); }, 1)
      .next();
}

// An ELF file whose one section is data of this size with these pieces in it, at offsets within the section.
struct Placed {
  std::size_t offset;
  test::Bytes bytes;
};
test::Bytes data_with(std::size_t size, const std::vector<Placed>& pieces) {
  test::Bytes data(size);
  for (const Placed& piece : pieces)
    std::copy(piece.bytes.begin(), piece.bytes.end(),
              data.begin() + static_cast<std::ptrdiff_t>(piece.offset));
  return object_with(".data", data);
}

test::Bytes cubin(int arch, std::size_t payload) {
  return FatbinBuilder{}.cubin(arch, filler(payload)).bytes();
}

}  // namespace

TEST_CASE("containers around the seams of the parts are found once") {
  const std::size_t seam = kPart - kFirstSectionAt;  // parts count from the file's start
  for (const std::size_t shift : {0U, 1U, 2U, 3U, 4U, 8U, 16U, 80U, 87U, 88U, 89U}) {
    const auto bytes =
        data_with(4 * kPart, {{seam - shift, cubin(80, 8)}, {2 * kPart, cubin(90, 8)}, {0, cubin(75, 8)}});
    const std::string text = outline_of(bytes);
    CHECK(text == outline_on_one_thread(bytes));
    CHECK(text.find("sass 80") != std::string::npos);
  }
}

TEST_CASE("a container over whole parts hides what it holds") {
  auto large = cubin(80, 3 * kPart);
  const auto inner = cubin(90, 64);
  for (const std::size_t at : {kPart, 2 * kPart + 128})
    std::copy(inner.begin(), inner.end(), large.begin() + static_cast<std::ptrdiff_t>(at));
  const std::size_t end = large.size() + 64;
  const auto bytes = data_with(5 * kPart, {{64, large}, {end, cubin(100, 8)}});
  const std::string text = outline_of(bytes);
  CHECK(text == outline_on_one_thread(bytes));
  CHECK(text ==
        "t.so(.data+0x40): sass 80;\n"
        "t.so(.data+0xc00090): sass 100;\n");
}

TEST_CASE("a container that ends within one of the next part's finds reads that part again") {
  // What the second part finds first stands in the first part's fat binary and reaches over its end.
  auto large = cubin(80, kPart);
  const std::size_t inner_at = kPart - 256;
  const auto inner = cubin(90, 1024);
  const auto data_at = kPart / 2;
  auto bytes = data_with(4 * kPart, {{data_at, large}, {data_at + large.size() + 512, cubin(100, 8)}});
  std::copy(inner.begin(), inner.begin() + 88,
            bytes.begin() + static_cast<std::ptrdiff_t>(kFirstSectionAt + data_at + inner_at));
  const std::string text = outline_of(bytes);
  CHECK(text == outline_on_one_thread(bytes));
  CHECK(text ==
        "t.so(.data+0x200000): sass 80;\n"
        "t.so(.data+0x600250): sass 100;\n");
}

TEST_CASE("damage in parts is told as one thread tells it, and as often") {
  std::vector<Placed> pieces;
  for (std::size_t i = 0; i < 40; ++i) {
    auto fatbin = cubin(80, 64);
    if (i % 2 == 1) fatbin[16 + 41] = 0xA0;  // both LZ4 and zstd
    pieces.push_back({i * (kPart / 8) + 512, fatbin});
  }
  const auto bytes = data_with(6 * kPart, pieces);
  const std::string text = outline_of(bytes);
  CHECK(text == outline_on_one_thread(bytes));
  CHECK(text.find("is damaged in many places") != std::string::npos);
}
