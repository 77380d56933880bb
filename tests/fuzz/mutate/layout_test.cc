// Each finder names the bytes that the readers read: a field that is set is read back by them.
#include "layout.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "host/archive.h"
#include "host/elf_dynamic.h"
#include "host/pe_imports.h"
#include "host/zip.h"
#include "fatbin/fatbin.h"
#include "image/image.h"
#include "loader/ld_cache.h"
#include "reading.h"
#include "seeds.h"
#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/pe_builder.h"
#include "support/builders/zip_builder.h"

using namespace archguard;
using namespace archguard::test;
using fuzz::Field;
using fuzz::Form;
using fuzz::Layout;
using fuzz::Role;
using fuzz::Start;

namespace {

// The field that was found at `at`, with its width.
Field field_at(const test::Bytes& bytes, std::size_t at, std::size_t width, Start start = Start::magic) {
  const Layout layout = layout_of(bytes, start);
  const auto& fields = layout.fields();
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.at == at && field.width == width; });
  REQUIRE_MESSAGE(found != fields.end(), "no field of " << width << " bytes at " << at);
  return *found;
}

test::Bytes with(test::Bytes bytes, std::size_t at, std::size_t width, std::uint64_t value) {
  REQUIRE(set_number(bytes, field_at(bytes, at, width), value));
  return bytes;
}

std::size_t place_of(const test::Bytes& bytes, std::string_view text) {
  const std::size_t at = ByteView(bytes).text().find(text);
  REQUIRE(at != std::string_view::npos);
  return at;
}

const test::Bytes kFatbin = FatbinBuilder{}.cubin(80, filler(8)).ptx("90", "8.7", "x").bytes();

}  // namespace

TEST_CASE("the fields of a fat binary, and of entries without its header") {
  CHECK(fuzz::first_entry(with(kFatbin, 16 + 28, 4, 75)).arch.number == 75);
  CHECK(fuzz::first_entry(with(kFatbin, 16, 2, 8)).kind_code == 8);
  const Field size = field_at(kFatbin, 8, 8);
  CHECK(size.role == Role::size);
  CHECK(size.end == kFatbin.size());
  const test::Bytes entries(kFatbin.begin() + 16, kFatbin.end());
  const Field payload = field_at(entries, 8, 8, Start::entries);
  CHECK(payload.end - payload.begin == 8);
  CHECK(layout_of(entries, Start::entries).units().size() == 2);
}

TEST_CASE("the fields of an ELF file and its sections, of 64 and of 32 bits") {
  for (const bool wide : {true, false}) {
    ElfBuilder builder;
    if (!wide) builder.bits32();
    const test::Bytes elf = builder.section(".nv_fatbin", kFatbin).bytes();
    const Field sections = field_at(elf, wide ? 40 : 32, wide ? 8 : 4);
    CHECK(sections.role == Role::table);
    const std::size_t header = sections.end + (wide ? 64 : 40), word = wide ? 8 : 4;  // of the first section
    const std::size_t size_at = header + (wide ? 32 : 20);
    REQUIRE(fuzz::section_size(elf, ".nv_fatbin") == kFatbin.size());
    CHECK(fuzz::section_size(with(elf, size_at, word, 8), ".nv_fatbin") == 8);
    CHECK(field_at(elf, size_at, word).end - field_at(elf, size_at, word).begin == kFatbin.size());
    CHECK(fuzz::section_size(with(elf, header, 4, 0), "") == kFatbin.size());  // its name
    // What the section holds is found as well.
    const std::size_t inside = place_of(elf, std::string_view("\x50\xed\x55\xba", 4));
    CHECK(field_at(elf, inside + 16 + 28, 4).role == Role::value);
  }
}

TEST_CASE("the fields of a cubin: its arch, symbols and attributes") {
  const test::Bytes cubin = CubinBuilder{}.sm(80).generation7(124).kernel("gemm", sass::exit()).bytes();
  CHECK(read_cubin(with(cubin, 48, 1, 75))->archs.at(0).number == 75);
  const Layout layout = layout_of(cubin, Start::magic);
  const auto& units = layout.units();
  const auto symbol = std::find_if(units.rbegin(), units.rend(),
                                   [](const fuzz::Unit& unit) { return unit.kind == fuzz::Kind::symbol; });
  REQUIRE(symbol != units.rend());
  CHECK(field_at(cubin, symbol->begin, 4).role == Role::offset);
  REQUIRE(read_cubin(cubin)->kernels.size() == 1);
  CHECK(read_cubin(with(cubin, symbol->begin + 5, 1, 0))->kernels.empty());  // st_other
}

TEST_CASE("the fields of an archive are decimal, those of its symbol table big-endian") {
  const test::Bytes archive = ArchiveBuilder{}
                                  .symbols()
                                  .member("a.o", bytes_of_text("0123456789"))
                                  .member("a_name_that_is_far_too_long.o", bytes_of_text("abcd"))
                                  .bytes();
  const std::size_t long_name = place_of(archive, "/0 ");
  CHECK(field_at(archive, long_name + 48, 10).form == Form::decimal);
  CHECK(field_at(archive, long_name + 48, 10).role == Role::size);
  REQUIRE(fuzz::members(archive) == "a.o 10, a_name_that_is_far_too_long.o 4, ");
  CHECK(
      fuzz::members(with(archive, long_name + 48, 10, 2)).find("a.o 10, a_name_that_is_far_too_long.o 2, ") ==
      0);
  CHECK(fuzz::members(with(archive, long_name + 1, 15, 2)) == "a.o 10, name_that_is_far_too_long.o 4, ");
  const Field symbol = field_at(archive, 8 + 60 + 4, 4);
  CHECK(symbol.form == Form::big);
  CHECK(symbol.end == place_of(archive, "a.o/"));
  CHECK(fuzz::members(with(archive, symbol.at, 4, 0x7fffffff)).find("is cut short") != std::string::npos);
}

TEST_CASE("the fields of a zip file, with its directory anywhere") {
  for (const char* script : {"", "#!/bin/sh\n"}) {
    const test::Bytes zip = ZipBuilder{}.script(script).stored("first", bytes_of_text("12345678")).bytes();
    const std::size_t central = place_of(zip, "PK\1\2"), local = place_of(zip, "PK\3\4");
    REQUIRE(fuzz::zip_members(zip) == "first 8 0, ");
    CHECK(fuzz::zip_members(with(zip, central + 24, 4, 7)) == "first 7 0, ");
    CHECK(fuzz::zip_members(with(zip, central + 10, 2, 8)) == "first 8 8, ");
    CHECK(field_at(zip, central + 42, 4).end == local);
    CHECK(field_at(zip, central + 20, 4).end - field_at(zip, central + 20, 4).begin == 8);
    CHECK(field_at(zip, place_of(zip, "PK\5\6") + 12, 4).begin == central);
  }
  const test::Bytes wide = ZipBuilder{}.zip64().stored("first", bytes_of_text("12345678")).bytes();
  CHECK(field_at(wide, place_of(wide, "PK\6\6") + 48, 8).end == place_of(wide, "PK\1\2"));
  CHECK(field_at(wide, place_of(wide, "PK\6\7") + 8, 8).end == place_of(wide, "PK\6\6"));
}

TEST_CASE("the fields of a PE image and of COFF objects") {
  const test::Bytes image = PeBuilder{}.section(".nv_fatb", kFatbin).bytes();
  const std::size_t header = place_of(image, ".nv_fatb");
  REQUIRE(fuzz::section_size(image, ".nv_fatb") != 0);
  CHECK(fuzz::section_size(with(image, header + 16, 4, 8), ".nv_fatb") == 8);
  CHECK(field_at(image, 0x3c, 4).end == place_of(image, std::string_view("PE\0\0", 4)));

  const test::Bytes imports = PeBuilder{}.imports({"KERNEL32.dll"}, {"nvcuda.dll"}).bytes();
  const Layout layout = layout_of(imports, Start::magic);
  const auto first = std::find_if(layout.units().begin(), layout.units().end(),
                                  [](const fuzz::Unit& unit) { return unit.kind == fuzz::Kind::import; });
  REQUIRE(first != layout.units().end());
  const std::uint64_t name = number_at(imports, field_at(imports, first->begin + 12, 4));
  const auto names = read_pe_imports(MemorySource(with(imports, first->begin + 12, 4, name + 6)));
  REQUIRE((names && *names));
  CHECK(std::count((*names)->begin(), (*names)->end(), "32.dll") == 1);

  const test::Bytes object = PeBuilder{}.object().section(".nv_fatbin", kFatbin).bytes();
  REQUIRE(fuzz::section_size(object, ".nv_fatbin") != 0);
  CHECK(field_at(object, 20 + 16, 4).end - field_at(object, 20 + 16, 4).begin ==
        fuzz::section_size(object, ".nv_fatbin"));
  const test::Bytes big = PeBuilder{}.big_object().section(".nv_fatbin", kFatbin).bytes();
  CHECK(number_at(big, field_at(big, 44, 4)) == 1);
}

TEST_CASE("the fields of the loader's cache") {
  const test::Bytes cache = fuzz::seeds_of("loader_cache").at(0);
  REQUIRE(parse_loader_cache(cache)->size() == 2);
  CHECK(parse_loader_cache(with(cache, 20, 4, 1))->size() == 1);
}

TEST_CASE("numbers are written as wide as they are, or not at all") {
  test::Bytes bytes = bytes_of_text("12        x");
  const Field digits{0, 10, Form::decimal, Role::value, 0, 0, 0};
  CHECK(number_at(bytes, digits) == 12);
  CHECK(set_number(bytes, digits, 9'999'999'999));
  CHECK_FALSE(set_number(bytes, digits, 10'000'000'000));
  CHECK(set_number(bytes, digits, 7));
  CHECK(ByteView(bytes).text() == "7         x");
  const Field big{0, 2, Form::big, Role::value, 0, 0, 0};
  CHECK(set_number(bytes, big, 0x4142));
  CHECK(ByteView(bytes).text().substr(0, 2) == "AB");
  CHECK_FALSE(set_number(bytes, big, 0x10000));
}
