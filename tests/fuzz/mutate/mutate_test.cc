#include "mutate.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

#include "edit.h"
#include "reading.h"
#include "seeds.h"
#include "support/builders/archive_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/zip_builder.h"

using namespace archguard;
using namespace archguard::test;
using fuzz::edited;
using fuzz::Kind;
using fuzz::Layout;
using fuzz::new_bytes;
using fuzz::old_bytes;
using fuzz::Start;
using fuzz::Unit;

namespace {

Unit unit_of(const Layout& layout, Kind kind, std::size_t index = 0) {
  for (const Unit& unit : layout.units())
    if (unit.kind == kind && index-- == 0) return unit;
  REQUIRE_MESSAGE(false, "no such unit");
  return {};
}

test::Bytes copied(const test::Bytes& bytes, Kind kind) {
  const Layout layout = layout_of(bytes, Start::magic);
  const Unit unit = unit_of(layout, kind);
  const fuzz::Piece piece = old_bytes(unit.begin, unit.end);
  return edited(layout, {unit.begin, unit.end, {piece, piece}, unit.group, 1}, true);
}

test::Bytes removed(const test::Bytes& bytes, Kind kind) {
  const Layout layout = layout_of(bytes, Start::magic);
  const Unit unit = unit_of(layout, kind);
  return edited(layout, {unit.begin, unit.end, {}, unit.group, -1}, true);
}

const test::Bytes kFatbin = FatbinBuilder{}.cubin(80, filler(8)).ptx("90", "8.7", "x").bytes();

// In place of LLVMFuzzerMutate: flips one bit, and grows.
std::size_t plain(std::uint8_t* data, std::size_t size, std::size_t most) {
  if (size != 0) data[size / 2] ^= 1;
  if (size < most) data[size++] = 0xee;
  return size;
}

constexpr const char* kBinary[] = {"archive", "cubin", "dynamic", "elf", "fatbin",
                                   "entry",   "finder",    "pe",    "zip",     "loader_cache"};

}  // namespace

TEST_CASE("an entry that is copied or removed leaves a whole fat binary, inside of ELF and an archive too") {
  const test::Bytes elf = ElfBuilder{}.relocatable().section(".nv_fatbin", kFatbin).bytes();
  const test::Bytes archive = ArchiveBuilder{}.symbols().member("a.o", elf).member("b.o", elf).bytes();
  REQUIRE(fuzz::entries_of(archive) == 4);
  for (const test::Bytes& bytes : {kFatbin, elf, archive}) {
    const int entries = fuzz::entries_of(bytes);
    CHECK(fuzz::entries_of(copied(bytes, Kind::entry)) == entries + 1);
    CHECK(fuzz::entries_of(removed(bytes, Kind::entry)) == entries - 1);
  }
  CHECK(fuzz::entries_of(copied(archive, Kind::member)) == 4);  // the symbol table twice
  CHECK(fuzz::entries_of(copied(elf, Kind::section)) == -1);  // the section of names has another number then
}

TEST_CASE("two entries, two members change places") {
  const test::Bytes zip = ZipBuilder{}
                              .stored("one", bytes_of_text("12345678"))
                              .stored("three", bytes_of_text("12"))
                              .zip64()
                              .bytes();
  const auto exchanged = [](const test::Bytes& bytes, Kind kind) {
    const Layout layout = layout_of(bytes, Start::magic);
    const Unit first = unit_of(layout, kind, 0), second = unit_of(layout, kind, 1);
    return edited(layout,
                  {first.begin,
                   second.end,
                   {old_bytes(second.begin, second.end), old_bytes(first.end, second.begin),
                    old_bytes(first.begin, first.end)},
                   0,
                   0},
                  true);
  };
  CHECK(fuzz::first_entry(exchanged(kFatbin, Kind::entry)).arch.number == 90);
  CHECK(fuzz::entries_of(exchanged(kFatbin, Kind::entry)) == 2);
  CHECK(fuzz::zip_members(exchanged(zip, Kind::central)) == "three 2 0, one 8 0, ");
  CHECK(fuzz::zip_members(exchanged(zip, Kind::local)) == "one 8 0, three 2 0, ");
  CHECK(fuzz::zip_members(copied(zip, Kind::central)) == "one 8 0, one 8 0, three 2 0, ");
  CHECK(fuzz::zip_members(removed(zip, Kind::central)) == "three 2 0, ");
}

TEST_CASE("what a size counts grows with it") {
  const test::Bytes archive = ArchiveBuilder{}
                                  .symbols()
                                  .member("a.o", bytes_of_text("1234"))
                                  .member("b.o", bytes_of_text("12"))
                                  .bytes();
  const Layout layout = layout_of(archive, Start::magic);
  const Unit member = unit_of(layout, Kind::member, 1);
  const test::Bytes grown =
      edited(layout, {member.begin + 60, member.end, {new_bytes(filler(8))}, 0, 0}, true);
  CHECK(fuzz::members(grown) == "a.o 8, b.o 2, ");
  const test::Bytes unmended =
      edited(layout, {member.begin + 60, member.end, {new_bytes(filler(8))}, 0, 0}, false);
  CHECK(fuzz::members(unmended).find("no archive member header") != std::string::npos);
}

TEST_CASE("every mutant keeps to the room that it has, and a seed gives one mutant") {
  for (const std::string target : kBinary) {
    CAPTURE(target);
    const Start start = target == "entry" ? Start::entries : Start::magic;
    const auto seeds = fuzz::seeds_of(target);
    std::set<test::Bytes> mutants;
    for (const test::Bytes& seed : seeds) {
      for (unsigned number = 0; number < 300; ++number) {
        const std::size_t most = seed.size() + number;
        test::Bytes room(most + 16, 0xa5), again = room;
        std::copy(seed.begin(), seed.end(), room.begin());
        std::copy(seed.begin(), seed.end(), again.begin());
        const std::size_t size = fuzz::mutate(room.data(), seed.size(), most, number, start, plain);
        REQUIRE(size <= most);
        REQUIRE(std::all_of(room.end() - 16, room.end(), [](std::uint8_t byte) { return byte == 0xa5; }));
        REQUIRE(fuzz::mutate(again.data(), seed.size(), most, number, start, plain) == size);
        REQUIRE(room == again);
        room.resize(size);
        mutants.insert(room);

        const test::Bytes& other = seeds[number % seeds.size()];
        test::Bytes out(most + 16, 0xa5);
        const std::size_t crossed = fuzz::cross_over(seed, other, out.data(), most, number, start);
        REQUIRE(crossed <= most);
        REQUIRE(std::all_of(out.end() - 16, out.end(), [](std::uint8_t byte) { return byte == 0xa5; }));
      }
    }
    CHECK(mutants.size() > 160);  // half of the calls are `plain`
  }
}

TEST_CASE("what is cut anywhere, or empty, has no field outside") {
  for (const char* target : kBinary) {
    for (const test::Bytes& seed : fuzz::seeds_of(target)) {
      for (std::size_t size = 0; size <= seed.size(); size += 1 + size / 16) {
        const test::Bytes bytes(seed.begin(), seed.begin() + static_cast<std::ptrdiff_t>(size));
        for (const Start start : {Start::magic, Start::entries}) {
          const Layout layout = layout_of(bytes, start);
          for (const fuzz::Field& field : layout.fields())
            REQUIRE((field.at + field.width <= size && field.begin <= size + 65536 && field.end <= size));
          for (const Unit& unit : layout.units()) REQUIRE((unit.begin < unit.end && unit.end <= size));
        }
      }
    }
  }
  CHECK(fuzz::mutate(nullptr, 0, 0, 1, Start::magic, plain) == 0);
}
