#include <algorithm>
#include <doctest/doctest.h>

#include "host/pe_imports.h"
#include "reading.h"
#include "support/builders/archive_builder.h"
#include "support/builders/pe_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

PeBuilder two_sections() {
  return PeBuilder{}.section(".text", filler(32), 0x60000020).section(".nv_fatb", filler(48));
}

}  // namespace

TEST_CASE("sections of an image have their names, cut by the linker") {
  const auto bytes = two_sections().no_bytes(".bss", 4096).bytes();
  const HostFile file = read(bytes, "t.dll");
  CHECK(errors_of(file) == "");
  REQUIRE(file.objects.size() == 1);
  const HostObject& object = file.objects[0];
  CHECK(object.format == HostFormat::pe);
  CHECK(object.linked);
  REQUIRE(object.sections.size() == 3);
  CHECK(object.sections[0].executable);
  CHECK(object.sections[1].name == ".nv_fatb");
  CHECK(object.sections[1].size == 48);
  CHECK(bytes[object.sections[1].offset] == 1);
  CHECK_FALSE(object.sections[2].has_bytes);
  CHECK(object.sections[2].size == 4096);
}

TEST_CASE("an object has long names, also under /bigobj and in a library") {
  const auto object = PeBuilder{}.object().section("__nv_relfatbin", filler(8)).bytes();
  const auto big = PeBuilder{}.big_object().section(".nv_fatbin", filler(8)).bytes();
  const auto library = ArchiveBuilder{}
                           .names(ArchiveBuilder::Names::microsoft)
                           .member("a.obj", object)
                           .member("b.obj", big)
                           .bytes();
  const HostFile file = read(library, "t.lib");
  CHECK(errors_of(file) == "");
  REQUIRE(file.objects.size() == 2);
  CHECK(file.objects[0].format == HostFormat::pe);
  CHECK_FALSE(file.objects[0].linked);
  CHECK(file.objects[0].sections.at(0).name == "__nv_relfatbin");
  CHECK_FALSE(file.objects[1].linked);
  CHECK(file.objects[1].sections.at(0).name == ".nv_fatbin");
}

TEST_CASE("a damaged image is named") {
  auto bytes = two_sections().bytes();
  SUBCASE("cut in a section") {
    bytes.pop_back();
    CHECK(errors_of(bytes, "t.dll") == "t.dll: section '.nv_fatb' needs 48 bytes at 0x178, 47 remain\n");
  }
  SUBCASE("cut in the section table") {
    bytes.resize(0x80 + 4 + 20 + 112 + 79);
    CHECK(errors_of(bytes, "t.dll") ==
          "t.dll: section table at 0x108 needs 2 headers of 40 bytes, 79 bytes remain\n");
  }
  SUBCASE("no PE header") {
    bytes[0x80] = 'X';
    CHECK(errors_of(bytes, "t.dll") == "t.dll: begins with MZ and has no PE header at 0x80\n");
  }
  CHECK(read(bytes, "t.dll").objects.size() == 1);
}

TEST_CASE("every cut of an image is an error, every flipped byte some answer") {
  const auto whole = two_sections().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_MESSAGE(
        !read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, "t").errors.empty(), size);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto bytes = whole;
    bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ 0xff);
    for (const HostObject& object : read(bytes, "t").objects)
      for (const Section& section : object.sections)
        if (section.has_bytes) CHECK(section.offset + section.size <= bytes.size());
  }
}

TEST_CASE("an object whose end was never written is damaged") {
  const auto whole = PeBuilder{}.object().section("__nv_relfatbin", filler(8)).bytes();
  CHECK(errors_of(whole, "t.obj") == "");
  for (const std::size_t lost :
       {15, 19, 30}) {  // of the names alone, with their size, with a part of the symbols
    auto bytes = whole;
    std::fill(bytes.end() - static_cast<std::ptrdiff_t>(lost), bytes.end(), std::uint8_t{0});
    CHECK(errors_of(bytes, "t.obj").find("is cut or zeros: the end of the file was lost") !=
          std::string::npos);
  }
}

TEST_CASE("zeros over symbols of an object or their names are an error") {
  constexpr std::size_t kSymbol = 18;
  const auto whole =
      PeBuilder{}.object().section("__nv_relfatbin_of_a_long_name_that_is_cut", filler(8)).bytes();
  CHECK(errors_of(whole, "t.obj") == "");
  auto names = whole;
  std::fill_n(names.end() - 20, 16, std::uint8_t{0});
  CHECK(errors_of(names, "t.obj").find("its table of strings at ") != std::string::npos);
  const auto with_symbols = [&](std::size_t zeros) {
    auto bytes = whole;
    const std::size_t at = bytes[8] | static_cast<std::size_t>(bytes[9]) << 8;
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), zeros * kSymbol, std::uint8_t{0});
    bytes[12] = static_cast<std::uint8_t>(zeros + 2);
    const Bytes last(kSymbol, 1);
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at + (zeros + 1) * kSymbol), last.begin(),
                 last.end());
    return errors_of(bytes, "t.obj");
  };
  CHECK(with_symbols(1) == "");
  CHECK(with_symbols(8).find("its table of symbols at ") != std::string::npos);
}

TEST_CASE("an image whose table of base relocations was never written is damaged") {
  ByteWriter table;
  for (const unsigned places : {0U, 3U, 63U}) {  // and one that fills up the block
    table.u32(0x1000).u32(8 + (places + 1) / 2 * 4);
    for (unsigned i = 0; i < places; ++i) table.u16(0xa008 + i * 8);
    if (places % 2 != 0) table.u16(0);
  }
  const std::size_t size = table.size();
  const auto image = [](Bytes relocations) {
    return two_sections().relocations(std::move(relocations)).bytes();
  };
  const auto whole = image(table.bytes());
  CHECK(errors_of(whole, "t.dll") == "");
  CHECK(errors_of(image(table.zeros(8).bytes()), "t.dll") == "");  // the end as Wine's linker writes it
  for (const std::size_t lost :
       {std::size_t{9}, std::size_t{100}, std::size_t{136}, std::size_t{140}, size}) {
    auto bytes = whole;
    std::fill(bytes.end() - static_cast<std::ptrdiff_t>(lost), bytes.end(), std::uint8_t{0});
    INFO(lost);
    CHECK(errors_of(bytes, "t.dll").find(" on: the end of the file was lost, or never written") !=
          std::string::npos);
  }
}

TEST_CASE("a header of zeros in the table of sections is damage") {
  auto bytes = two_sections().bytes();
  const std::string_view name = ".nv_fatb";
  const auto header = std::search(bytes.begin(), bytes.end(), name.begin(), name.end());
  std::fill(header, header + 40, std::uint8_t{0});
  const HostFile file = read(bytes, "t.dll");
  CHECK(errors_of(file).find("header 1 of its section table at ") != std::string::npos);
  CHECK(file.objects[0].sections.size() == 1);
}

TEST_CASE("a program of DOS or of 16-bit Windows is no PE image") {
  const auto program = [](std::uint8_t relocations_at, std::string_view next) {
    std::vector<std::uint8_t> bytes(256);
    bytes[0] = 'M', bytes[1] = 'Z', bytes[0x18] = relocations_at;
    if (!next.empty()) bytes[0x3c] = 0x80;
    std::copy(next.begin(), next.end(), bytes.begin() + 0x80);
    return bytes;
  };
  for (const auto& bytes : {program(0x1c, ""), program(0x3e, ""), program(0x40, "NE"), program(0x40, "LE")}) {
    const HostFile file = read(bytes, "t.exe");
    CHECK(errors_of(file) == "");
    CHECK(file.objects[0].format == HostFormat::foreign);
  }
  CHECK(errors_of(program(0x40, ""), "t.exe") == "t.exe: begins with MZ and has no PE header at 0x0\n");
  auto image = two_sections().bytes();
  image[0x18] = 0x1c;
  CHECK(read(image, "t.exe").objects[0].format == HostFormat::pe);
}

TEST_CASE("names of imported DLLs behind what a section of device code holds are none of its bytes") {
  const std::string moved = "moved-0123456789abcdef.dll";
  // The import table's name is led there, as delvewheel does.
  const auto image = [&](const char* section, const std::string& before) {
    Bytes bytes =
        PeBuilder{}
            .section(section, bytes_of_text(std::string(24, '\1') + before + moved + std::string(30, '\0')))
            .imports({"moved.dll"})
            .bytes();
    for (std::size_t at = 0x100; at + 4 <= bytes.size(); ++at) {
      Bytes changed = bytes;
      const auto address = ByteWriter{}.u32(0x1000 + 24 + before.size()).bytes();
      std::copy(address.begin(), address.end(), changed.begin() + static_cast<std::ptrdiff_t>(at));
      const auto names = read_pe_imports(MemorySource(changed));
      if (names && *names && **names == std::vector<std::string>{moved}) return changed;
    }
    REQUIRE_MESSAGE(false, "no import table");
    return bytes;
  };
  const auto size_of = [&](const Bytes& bytes) {
    return read(bytes, "t.dll").objects.at(0).sections.at(0).size;
  };
  CHECK(size_of(image(".nvFatBi", "")) == 24);
  CHECK(size_of(image("__nv_rel", "zlib.dll\n")) == 24 + 9);
  CHECK(size_of(image(".rdata", "")) == 24 + moved.size() + 30);
  Bytes other = image(".nvFatBi", "");
  const auto at = std::search(other.begin(), other.end(), moved.begin(), moved.end());
  at[static_cast<std::ptrdiff_t>(moved.size()) + 5] = 7;  // code behind the name
  CHECK(size_of(other) == 24 + moved.size() + 30);
}
