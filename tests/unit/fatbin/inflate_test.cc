#include <doctest/doctest.h>

#include "reading.h"

using namespace archguard;
using namespace archguard::test;

namespace {

struct OneImage {
  test::Bytes file;
  FatbinEntry entry;
  explicit OneImage(const FatbinBuilder& builder) : file(builder.bytes()) {
    const DeviceCode code = read(file, "t");
    REQUIRE(code.objects.size() == 1);
    REQUIRE(code.objects[0].fatbins.size() == 1);
    entry = code.objects[0].fatbins[0].entries.at(0);
  }
  Result<archguard::Bytes> inflate() const { return archguard::inflate(entry, MemorySource(file)); }
  std::string error() const { return inflate().error().text(); }
};

}  // namespace

TEST_CASE("raw, LZ4 and zstd images come back byte for byte") {
  const auto image = filler(5000);
  CHECK(*OneImage(FatbinBuilder{}.cubin(80, image)).inflate() == image);
  CHECK(*OneImage(FatbinBuilder{}.cubin(80, image).lz4()).inflate() == image);
  CHECK(*OneImage(FatbinBuilder{}.cubin(80, image).zstd()).inflate() == image);
}

TEST_CASE("one inflater serves images of all sizes in turn") {
  Inflater inflater;
  for (const std::size_t size : {5000U, 100U, 70000U, 1U}) {
    const OneImage lz4(FatbinBuilder{}.cubin(80, filler(size)).lz4()),
        raw(FatbinBuilder{}.cubin(80, filler(size * 8)));
    const auto first = inflater.inflate(lz4.entry, MemorySource(lz4.file));
    REQUIRE(first);
    CHECK(test::Bytes(first->data, first->data + first->size) == filler(size));
    CHECK(inflater.inflate(raw.entry, MemorySource(raw.file))->size == size * 8);
  }
}

TEST_CASE("an obfuscated image is refused by name") {
  CHECK(OneImage(FatbinBuilder{}.ltoir("75", filler(64)).obfuscated()).error() ==
        "entry at 0x10: image is obfuscated, it cannot be inflated");
  const OneImage lz4(FatbinBuilder{}.ltoir("75", filler(640)).lz4().obfuscated());
  Inflater inflater;
  CHECK(inflater.stored(lz4.entry, MemorySource(lz4.file))->size == lz4.entry.stored_size);
  CHECK(inflating_needs(lz4.entry) == lz4.entry.stored_size);
}

TEST_CASE("a size that the stored bytes cannot give is refused before memory is taken") {
  const auto image = filler(5000);
  const OneImage lz4(FatbinBuilder{}.cubin(80, image).lz4().uncompressed_size(1 << 29));
  CHECK(lz4.error() == "entry at 0x10: " + std::to_string(lz4.entry.stored_size) +
                           " stored bytes cannot inflate to 536870912");
  const OneImage zstd(FatbinBuilder{}.cubin(80, image).zstd().uncompressed_size(1 << 29));
  CHECK(zstd.error() == "entry at 0x10: " + std::to_string(zstd.entry.stored_size) +
                            " stored bytes cannot inflate to 536870912");
  CHECK(OneImage(FatbinBuilder{}.cubin(80, image).zstd().uncompressed_size(std::uint64_t{1} << 40)).error() ==
        "entry at 0x10: image of 1099511627776 bytes exceeds the limit of 1073741824");
  CHECK(OneImage(FatbinBuilder{}.cubin(80, image).lz4().uncompressed_size(0)).inflate().ok() == false);
}

TEST_CASE("a size that is not the image's is an error") {
  const auto image = filler(5000);
  CHECK(OneImage(FatbinBuilder{}.cubin(80, image).lz4().uncompressed_size(5001)).error() ==
        "entry at 0x10: image must inflate to 5001 bytes, found 5000");
  CHECK(OneImage(FatbinBuilder{}.cubin(80, image).zstd().uncompressed_size(5001)).error() ==
        "entry at 0x10: image must inflate to 5001 bytes, found 5000 in its zstd frame");
  CHECK(OneImage(FatbinBuilder{}.cubin(80, image).lz4().uncompressed_size(4999)).inflate().ok() == false);
}

TEST_CASE("damaged compressed bytes are an error") {
  OneImage zstd(FatbinBuilder{}.cubin(80, filler(5000)).zstd());
  zstd.file[zstd.entry.payload_offset] ^= 0xff;
  CHECK(zstd.error() == "entry at 0x10: image is no zstd frame");

  OneImage cut(FatbinBuilder{}.cubin(80, filler(5000)).zstd());
  cut.entry.stored_size -= 1;
  CHECK(cut.error() == "entry at 0x10: image is damaged: zstd: Src size is incorrect");

  OneImage lz4(FatbinBuilder{}.cubin(80, filler(5000)).lz4());
  lz4.entry.stored_size -= 1;
  CHECK_FALSE(lz4.inflate().ok());

  OneImage outside(FatbinBuilder{}.cubin(80, filler(64)));
  outside.file.pop_back();
  CHECK(outside.error() == "entry at 0x10: image needs 64 bytes, 63 remain");
}
