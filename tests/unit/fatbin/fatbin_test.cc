#include <doctest/doctest.h>

#include "reading.h"

using namespace archguard;
using namespace archguard::test;

TEST_CASE("each entry says kind, arch with suffix, PTX ISA, compression and sizes") {
  const auto bytes = FatbinBuilder{}
                         .cubin(80, filler(64))
                         .cubin("90a", filler(1000))
                         .zstd()
                         .cubin("100f", filler(1000))
                         .lz4()
                         .ptx("120", "9.0", "text")
                         .identifier("a.cu")
                         .ltoir("75", filler(24))
                         .obfuscated()
                         .image(0x40, "75", filler(8))
                         .code_version(8, 7)
                         .bytes();
  const DeviceCode code = read(bytes, "t.fatbin");
  CHECK(errors_of(code) == "");
  CHECK(outline(code) ==
        "t.fatbin: sass 80; sass 90a zstd; sass 100f lz4; ptx 120 9.0; ltoir 75 obfuscated; reloc-ptx 75 "
        "8.7;\n");
  const auto& entries = code.objects[0].fatbins[0].entries;
  CHECK(code.objects[0].fatbins[0].size == bytes.size());
  CHECK(entries[0].offset == 16);
  CHECK(entries[0].payload_offset == 80);
  CHECK(entries[0].stored_size == 64);
  CHECK(entries[0].uncompressed_size == 64);
  CHECK(entries[1].offset == 144);
  CHECK(entries[1].uncompressed_size == 1000);
  CHECK(entries[1].stored_size < 100);
  CHECK(entries[3].identifier == "a.cu");
  CHECK(entries[3].stored_size == 8);  // raw PTX is padded
  CHECK(entries[4].kind_code == 8);
  CHECK(entries[4].flags == 0x10011);
}

TEST_CASE("what is not known is noted on its entry, and the ones behind it are read") {
  const auto outline_of = [](FatbinBuilder builder) {
    const DeviceCode code = read(builder.cubin(75, filler(8)).bytes(), "t");
    CHECK(errors_of(code) == "");
    const std::string text = outline(code);
    return text.substr(3, text.find(';') - 3);
  };
  CHECK(outline_of(FatbinBuilder{}.image(0x80, "90", filler(8))) ==
        "other 90 (CUDA Tile IR, which is not judged)");
  CHECK(outline_of(FatbinBuilder{}.cubin(90, filler(8)).flags(0x4000000)) == "sass 90 (flag 0x4000000)");
  CHECK(outline_of(FatbinBuilder{}.cubin(90, filler(8)).flags(0x4000400)) ==
        "sass 90 (flag 0x400, flag 0x4000000)");
  CHECK(outline_of(FatbinBuilder{}.cubin(90, filler(8)).entry_version(0x0102)) ==
        "sass 90 (entry version 0x102)");
  CHECK(outline_of(FatbinBuilder{}.cubin(90, filler(8)).code_version(1, 9)) == "sass 90 (cubin version 1.9)");
  CHECK(outline_of(FatbinBuilder{}.cubin("90a", filler(8)).flags(0x200000)) ==
        "sass 90a (both suffixes a and f)");
  CHECK(outline_of(FatbinBuilder{}.cubin(9, filler(8))) == "sass 0 (arch 9)");
  CHECK(outline_of(FatbinBuilder{}.cubin(1000, filler(8))) == "sass 0 (arch 1000)");
  for (const char* none : {"22", "81", "84", "104"})
    CHECK(outline_of(FatbinBuilder{}.image(2, none, filler(8)).code_version(1, 7)) ==
          "sass 0 (arch " + std::string(none) + ")");
  for (const char* some :
       {"13", "20", "21", "30", "32", "35", "37", "53", "88", "101", "107", "121", "122", "130"})
    CHECK(outline_of(FatbinBuilder{}.image(2, some, filler(8)).code_version(1, 7)) ==
          "sass " + std::string(some));
}

TEST_CASE("an entry that is not of 64 bits is not known, and options outside of its header are an error") {
  const auto with = [](std::size_t at, unsigned value) {
    test::Bytes bytes = FatbinBuilder{}.ptx("80", "7.8", "text").options("-O3").cubin(75, filler(8)).bytes();
    bytes[16 + at] = static_cast<std::uint8_t>(value);
    const DeviceCode code = read(bytes, "t");
    return errors_of(code) + outline(code);
  };
  const unsigned header = 80;
  CHECK(with(4, header) == "t: ptx 80 7.8; sass 75;\n");
  CHECK(with(40, 0x10) == "t: ptx 80 7.8 (flag 0x1 (64-bit) is missing); sass 75;\n");
  CHECK(with(20, header - 8) == "t: ptx 80 7.8; sass 75;\n");
  for (const unsigned outside : {header - 7, header, 255U})
    CHECK(with(20, outside) == "t(+0x10): entry 0 options lie outside the entry's header\n");
}

TEST_CASE("both generations of cubins and every flag of a host are known") {
  const DeviceCode code = read(FatbinBuilder{}
                                   .cubin(75, filler(8))
                                   .code_version(1, 7)
                                   .cubin(120, filler(8))
                                   .flags(0x1 | 0x2 | 0x4 | 0x10 | 0x20 | 0x40 | 0x1000000)
                                   .bytes(),
                               "t");
  CHECK(outline(code) == "t: sass 75; sass 120;\n");
}

TEST_CASE("an entry of several images says what it is, and what to do") {
  // Its own arch is 0: each image has one, in a table that follows the entry's fields.
  const DeviceCode code =
      read(FatbinBuilder{}.image(0x100, "0", filler(64)).code_version(1, 0).zstd().bytes(), "t");
  const FatbinEntry& entry = code.objects[0].fatbins[0].entries[0];
  CHECK(entry.unknown == "several images compressed as one (nvcc --concat), which are not read");
  CHECK(image_name(entry) == "concatenated");
  CHECK(fix_of_unknown(entry) == "build it without --concat");
  const DeviceCode other = read(FatbinBuilder{}.image(0x55, "90", filler(64)).bytes(), "t");
  CHECK(other.objects[0].fatbins[0].entries[0].unknown == "kind 0x55");
  CHECK(fix_of_unknown(other.objects[0].fatbins[0].entries[0]).empty());
}

TEST_CASE("CUDA Tile IR is known by name, and not when more of it is unknown") {
  const auto entry = [](FatbinBuilder builder) {
    return read(builder.bytes(), "t").objects[0].fatbins[0].entries[0];
  };
  const FatbinEntry tile = entry(FatbinBuilder{}.image(0x80, "90", filler(64)));
  CHECK(is_tile_ir(tile));
  CHECK(image_name(tile) == "Tile IR of 90");
  CHECK_FALSE(is_tile_ir(entry(FatbinBuilder{}.image(0x80, "90", filler(64)).flags(0x4000000))));
}

TEST_CASE("a container without entries is one") {
  const DeviceCode code = read(FatbinBuilder{}.bytes(), "t.fatbin");
  CHECK(errors_of(code) == "");
  REQUIRE(code.objects[0].fatbins.size() == 1);
  CHECK(code.objects[0].fatbins[0].size == 16);
}
