#include <algorithm>
#include <doctest/doctest.h>

#include "reading.h"
#include "support/builders/elf_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

test::Bytes shared_library() {
  return ElfBuilder{}.section(".text", filler(32), 1, 6).section(".nv_fatbin", filler(48)).bytes();
}

// The 64-bit header's fields.
constexpr std::size_t kClassAt = 4, kOrderAt = 5, kTypeAt = 16, kTableAt = 40, kEntrySizeAt = 58,
                      kCountAt = 60;

}  // namespace

TEST_CASE("sections have names, places, and say whether they hold bytes and machine code") {
  for (const bool bits32 : {false, true}) {
    ElfBuilder elf;
    if (bits32) elf.bits32();
    const auto bytes = elf.section(".text", filler(32), 1, 6)
                           .section(".nv_fatbin", filler(48))
                           .no_bits(".bss", 4096)
                           .bytes();
    const HostFile file = read(bytes, "t.so");
    CHECK(errors_of(file) == "");
    REQUIRE(file.objects.size() == 1);
    const HostObject& object = file.objects[0];
    CHECK(object.format == HostFormat::elf);
    CHECK(object.linked);
    CHECK(object.size == bytes.size());
    REQUIRE(object.sections.size() == 4);  // and .shstrtab
    CHECK(object.sections[0].name == ".text");
    CHECK(object.sections[0].executable);
    CHECK(object.sections[1].name == ".nv_fatbin");
    CHECK(object.sections[1].size == 48);
    CHECK(bytes[object.sections[1].offset] == 1);
    CHECK_FALSE(object.sections[1].executable);
    CHECK(object.sections[2].name == ".bss");
    CHECK_FALSE(object.sections[2].has_bytes);
  }
}

TEST_CASE("only a relocatable file is not linked") {
  CHECK_FALSE(read(ElfBuilder{}.relocatable().bytes(), "t.o").objects[0].linked);
  CHECK(read(ElfBuilder{}.executable().bytes(), "t").objects[0].linked);
}

TEST_CASE("a file without a section table is an object without sections") {
  const HostFile file = read(ElfBuilder{}.section(".data", filler(8)).without_section_table().bytes(), "t");
  CHECK(errors_of(file) == "");
  CHECK(file.objects[0].sections.empty());
}

TEST_CASE("counts that do not fit the header stand in section 0") {
  auto bytes = shared_library();
  const std::size_t table = bytes[kTableAt] | bytes[kTableAt + 1] << 8;
  bytes[table + 32] = bytes[kCountAt];      // sh_size of section 0: the count
  bytes[table + 40] = bytes[kCountAt + 2];  // sh_link: the index of the names
  bytes[kCountAt] = 0;
  bytes[kCountAt + 2] = bytes[kCountAt + 3] = 0xff;
  const HostFile file = read(bytes, "t.so");
  CHECK(errors_of(file) == "");
  REQUIRE(file.objects[0].sections.size() == 3);
  CHECK(file.objects[0].sections[1].name == ".nv_fatbin");
}

TEST_CASE("a file of a big-endian machine is one without sections") {
  auto bytes = shared_library();
  bytes[kOrderAt] = 2;  // alone it is damage: the system does not look at it
  CHECK(errors_of(bytes, "t.so") == "t.so: ELF byte order must be 1 (little-endian), found 2\n");
  bytes[18] = 0;  // the number of a machine, its higher byte first
  const HostFile file = read(bytes, "t.so");
  CHECK(errors_of(file) == "");
  REQUIRE(file.objects.size() == 1);
  CHECK(file.objects[0].format == HostFormat::foreign);
  CHECK(file.objects[0].sections.empty());
}

TEST_CASE("a damaged header is named, and the object stays in the list") {
  auto bytes = shared_library();
  SUBCASE("byte order") {
    bytes[kOrderAt] = 3;
    CHECK(errors_of(bytes, "t.so") == "t.so: ELF byte order must be 1 (little-endian), found 3\n");
  }
  SUBCASE("class") {
    bytes[kClassAt] = 3;
    CHECK(errors_of(bytes, "t.so") == "t.so: ELF class must be 1 or 2, found 3\n");
  }
  SUBCASE("type") {
    bytes[16] = 0;
    CHECK(errors_of(bytes, "t.so") == "t.so: ELF file of type 0x0 is no object, program or library\n");
  }
  SUBCASE("size of a section header") {
    bytes[kEntrySizeAt] = 63;
    CHECK(errors_of(bytes, "t.so") == "t.so: ELF section headers must have 64 bytes, found 63\n");
  }
  SUBCASE("section table at the end of the address space") {
    for (std::size_t i = 0; i < 8; ++i) bytes[kTableAt + i] = 0xff;
    CHECK(errors_of(bytes, "t.so") ==
          "t.so: ELF section table at 0xffffffffffffffff needs 4 headers of 64 bytes, 0 bytes remain\n");
  }
  SUBCASE("cut inside the header") {
    bytes.resize(63);
    CHECK(errors_of(bytes, "t.so") == "t.so: ELF header needs 64 bytes, the file has 63\n");
  }
  CHECK(read(bytes, "t.so").objects.size() == 1);
}

TEST_CASE("a cubin under the header of another machine is an error, not a file without device code") {
  for (const char* name : {".nv.info", ".nv.info.gemm"}) {
    const auto with = [&](unsigned machine) {
      return errors_of(ElfBuilder{}.machine(machine).executable().section(name, filler(8)).bytes(),
                       "t.cubin");
    };
    CHECK(with(190).empty());
    CHECK(with(191) == "t.cubin: has the section " + std::string(name) +
                           " of a cubin, and its e_machine is 191, not 190: its header was overwritten\n");
  }
  CHECK(errors_of(ElfBuilder{}.section(".nv_fatbin", filler(8)).bytes(), "t.so").empty());
}

TEST_CASE("a file one byte short has lost the end of its section table") {
  auto bytes = shared_library();
  bytes.pop_back();
  CHECK(errors_of(bytes, "t.so") ==
        "t.so: ELF section table at 0xb0 needs 4 headers of 64 bytes, 255 bytes remain\n");
}

TEST_CASE("a section table that was overwritten with zeros to its end is an error") {
  test::Bytes bytes = ElfBuilder{}.section(".nv_fatbin", filler(64)).bytes();
  const auto table = static_cast<std::size_t>(bytes[40] | bytes[41] << 8);
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(table), bytes.end(), std::uint8_t{0});
  CHECK(errors_of(read(bytes, "t.so")) ==
        "t.so: section 2 should hold the section names, and is no string table: the section table was "
        "overwritten\n");
}

TEST_CASE("a section table whose last bytes were overwritten with zeros is an error") {
  test::Bytes bytes = ElfBuilder{}.section(".nv_fatbin", filler(64)).bytes();
  std::fill(bytes.end() - 32, bytes.end(), std::uint8_t{0});  // the size of the names, of 64 bytes
  CHECK(errors_of(read(bytes, "t.so")) ==
        "t.so: section 2 should hold the section names, and is no string table: the section table was "
        "overwritten\n");
}

TEST_CASE("a section with bytes and no name is an error") {
  const test::Bytes bytes =
      ElfBuilder{}.section(".nv_fatbin", filler(64)).section("", filler(32)).section(".data", {}).bytes();
  CHECK(errors_of(read(bytes, "t.so")) ==
        "t.so: section 2 holds 32 bytes and has no name: the names of sections were overwritten\n");
  CHECK(errors_of(read(ElfBuilder{}.section("", {}).section(".data", filler(32)).bytes(), "t.so")) == "");
}

TEST_CASE("a section whose entry in the table was overwritten with zeros is an error") {
  constexpr std::size_t kEntry = 64;
  test::Bytes bytes = ElfBuilder{}.section(".nv_fatbin", filler(64)).bytes();
  const auto table = static_cast<std::size_t>(bytes[40] | bytes[41] << 8);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(table + kEntry), kEntry, std::uint8_t{0});
  CHECK(errors_of(read(bytes, "t.o")) ==
        "t.o: section 1 is zeros in the section table, which was overwritten\n");
}

TEST_CASE("section names that were overwritten are an error") {
  const test::Bytes whole = ElfBuilder{}.section(".nv_fatbin", filler(64)).bytes();
  const std::string_view text(reinterpret_cast<const char*>(whole.data()), whole.size());
  const auto names = static_cast<std::ptrdiff_t>(text.rfind(".nv_fatbin")) - 1;
  const auto own = static_cast<std::ptrdiff_t>(text.rfind(".shstrtab"));
  const auto end = own + static_cast<std::ptrdiff_t>(std::string_view(".shstrtab").size());
  struct Damage {
    std::ptrdiff_t begin, end;
    std::uint8_t byte;
  };
  for (const Damage& damage :
       {Damage{names, end, 0}, Damage{names, end + 1, 0xff}, Damage{names, names + 1, 'A'},
        Damage{own, end, 0}, Damage{end, end + 1, 'A'}}) {
    test::Bytes bytes = whole;
    std::fill(bytes.begin() + damage.begin, bytes.begin() + damage.end, damage.byte);
    CHECK(errors_of(read(bytes, "t.so")) ==
          "t.so: section 2 should hold the section names, and its bytes are none: it was overwritten\n");
  }
}

TEST_CASE("a section outside of the file is an error, its neighbours are read") {
  auto bytes = shared_library();
  const std::size_t second = (bytes[kTableAt] | bytes[kTableAt + 1] << 8) + 2 * 64;
  bytes[second + 33] = 0x10;  // its size: 48 to 4144 bytes
  const HostFile file = read(bytes, "t.so");
  CHECK(errors_of(file) == "t.so: section '.nv_fatbin' needs 4144 bytes at 0x60, " +
                               std::to_string(bytes.size() - 0x60) + " remain\n");
  REQUIRE(file.objects[0].sections.size() == 2);
  CHECK(file.objects[0].sections[0].name == ".text");
}

TEST_CASE("CUDA's own sections of a cubin may have a size in memory alone") {
  const auto with_size = [](unsigned type) {
    auto bytes = ElfBuilder{}
                     .machine(190)
                     .identity(0x41, 8, 1, 80 << 8)
                     .section(".nv_debug.shared", filler(8), type)
                     .bytes();
    const std::size_t section = (bytes[kTableAt] | bytes[kTableAt + 1] << 8) + 64;
    bytes[section + 34] = 1;  // 65,544 bytes
    return read(bytes, "t.cubin");
  };
  const HostFile cuda = with_size(0x7000000a);
  CHECK(errors_of(cuda) == "");
  CHECK_FALSE(cuda.objects[0].sections.at(0).has_bytes);
  CHECK(with_size(1).errors.size() == 1);
}

TEST_CASE("a segment outside of the file is an error, but not where machine code has no bytes") {
  const auto cut = ElfBuilder{}.section(".text", filler(32), 1, 6).load_segment(0x40, 100000);
  const auto bytes = cut.bytes();
  CHECK(errors_of(bytes, "t.so") ==
        "t.so: segment 0 needs 100000 bytes at 0x40, " + std::to_string(bytes.size() - 0x40) + " remain\n");

  auto debug = ElfBuilder{}.section(".text", filler(32), 1, 6).load_segment(0x40, 100000).bytes();
  const std::size_t table = debug[kTableAt] | debug[kTableAt + 1] << 8;
  debug[table + 64 + 4] = 8;  // .text becomes SHT_NOBITS
  CHECK(errors_of(debug, "t.debug") == "");
}

TEST_CASE("every cut and every flipped byte of a small file ends in an answer") {
  const auto whole = ElfBuilder{}.section(".text", filler(16), 1, 6).load_segment(0, 120).bytes();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_MESSAGE(
        !read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, "t").errors.empty(), size);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      auto bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ flip);
      const HostFile file = read(bytes, "t");
      for (const HostObject& object : file.objects)
        for (const Section& section : object.sections)
          if (section.has_bytes) CHECK(section.offset + section.size <= bytes.size());
    }
  }
}

TEST_CASE("the type field alone changes what an object is") {
  auto bytes = shared_library();
  bytes[kTypeAt] = 1;
  CHECK_FALSE(read(bytes, "t").objects[0].linked);
}
