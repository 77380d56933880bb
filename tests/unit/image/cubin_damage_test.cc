// Zeros where the tools write none.
#include "image/cubin_damage.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "image/image.h"
#include "support/builders/cubin_builder.h"

using namespace archguard;
using namespace archguard::test;

TEST_CASE("attributes are records of a known form, and fill their section") {
  const auto broken = [](const Bytes& section) { return find_broken_attribute(section); };
  CHECK_FALSE(broken({}));
  CHECK_FALSE(broken({1, 5, 0, 0, 2, 6, 7, 0, 3, 0x19, 16, 0, 4, 9, 2, 0, 0xaa, 0xbb}));
  CHECK(broken(Bytes(16)) == 0);
  CHECK(broken({3, 0x19, 16, 0, 0, 0, 0, 0}) == 4);
  CHECK(broken({3, 0x19, 16, 0, 5, 0, 0, 0}) == 4);
  CHECK(broken({3, 0x19, 16, 0, 3, 0}) == 4);              // cut off
  CHECK(broken({3, 0x19, 16, 0, 4, 9, 3, 0, 1, 2}) == 4);  // its bytes end behind the section
}

TEST_CASE("no relocation is all zeros, of a symbol that is not there, or of a type beyond any") {
  Bytes entries(48);
  for (const std::size_t at : {0, 24}) {
    entries[at] = 1;
    entries[at + 8] = 115;  // its type
    entries[at + 12] = 2;   // its symbol
  }
  const auto broken = [&](std::uint32_t type, bool is64, std::uint64_t symbols = 3, std::uint64_t size = 2) {
    return find_broken_relocation(entries, {type, is64, symbols, size});
  };
  const auto with = [&](std::size_t at, std::uint8_t byte) {
    Bytes other = entries;
    other[at] = byte;
    return find_broken_relocation(other, {kElfRelocationsWithAddends, true, 3, 2});
  };
  CHECK_FALSE(broken(kElfRelocationsWithAddends, true));
  CHECK(broken(kElfRelocations, true) == 32);
  CHECK_FALSE(find_broken_relocation({}, {kElfRelocations, true, 3, 9}));
  CHECK(find_broken_relocation(Bytes(12), {kElfRelocationsWithAddends, false, 3, 9}) == 0);
  CHECK(broken(kElfRelocationsWithAddends, true, 2) == 0);
  CHECK_MESSAGE(broken(kElfRelocationsWithAddends, true, 3, 1) == 0, "beyond its section");
  CHECK_FALSE_MESSAGE(with(24 + 12, 0), "of no symbol, as of shfl.sync with a mask");
  CHECK_MESSAGE(with(24 + 8, 0) == 24, "of no type");
  CHECK_FALSE(with(9, 1));
  CHECK(with(9, 2) == 0);
}

TEST_CASE("no record of attributes holds a long run of zeros") {
  Bytes targets(304, 1);  // of indirect branches, of which sm_61 has long records
  targets[0] = 4, targets[1] = 0x34, targets[2] = 300 & 0xff, targets[3] = 300 >> 8;
  CHECK_FALSE(find_broken_attribute(targets));
  std::fill_n(targets.begin() + 100, 127, std::uint8_t{0});
  CHECK_FALSE(find_broken_attribute(targets));
  targets[227] = 0;
  CHECK(find_broken_attribute(targets) == 100);
}

TEST_CASE("tables of the second form of code hold no zeros in place of an entry") {
  constexpr const char *kAttributes = ".nv.merc.nv.info.k", *kRelocations = ".nv.merc.rela.text.k",
                       *kSymbols = ".nv.merc.symtab";
  for (const char* name : {kAttributes, ".nv.merc.nv.info", ".nv.merc.rela.debug_frame", kSymbols})
    CHECK(is_table_of_entries(name));
  for (const char* name :
       {".nv.info.k", ".nv.merc.debug_frame", ".nv.merc.nv.constant.user.k", ".nv.capmerc.text.k"})
    CHECK_FALSE(is_table_of_entries(name));
  Bytes entries(96, 1);
  CHECK_FALSE(find_broken_entry(kRelocations, entries));
  std::fill_n(entries.begin() + 25, 46, std::uint8_t{0});
  CHECK_FALSE(find_broken_entry(kRelocations, entries));
  entries[48] = entries[71] = 0;
  CHECK(find_broken_entry(kRelocations, entries) == 48);
  CHECK(find_broken_entry(kSymbols, entries) == 48);
  CHECK(find_broken_entry(kRelocations, Bytes(24)) == 0);
  CHECK_FALSE(find_broken_entry(kSymbols, Bytes(24)));
  CHECK_FALSE(find_broken_entry(kAttributes, Bytes{4, 0, 2, 0, 0, 0, 3, 1, 0, 0}));
  CHECK(find_broken_entry(kAttributes, Bytes{4, 0, 2, 0, 0, 0, 0, 0, 0, 0}) == 6);
  CHECK(find_broken_entry(kAttributes, Bytes(104)) == 0);
}

TEST_CASE("no small table is zeros throughout") {
  for (const char* name : {".nv.compat", ".nv.prototype", ".nv.rel.action"}) {
    CAPTURE(name);
    CHECK(is_table_of_entries(name));
    CHECK(find_broken_entry(name, Bytes(16)) == 0);
    CHECK_FALSE(find_broken_entry(name, Bytes{0, 0, 0, 0, 0, 0, 0, 0x11}));
    CHECK_FALSE(find_broken_entry(name, {}));
  }
}

TEST_CASE("a table of calls holds no call of zeros") {
  constexpr const char* kCalls = ".nv.callgraph";
  CHECK(is_table_of_entries(kCalls));
  Bytes calls{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 9, 0, 0, 0, 8, 0, 0, 0};
  CHECK_FALSE(find_broken_entry(kCalls, calls));
  calls[8] = calls[12] = 0;
  CHECK(find_broken_entry(kCalls, calls) == 8);
}

TEST_CASE("the second form of code has a head, bits, and a stream without long runs of zeros") {
  const auto broken = [](const Bytes& section) { return find_broken_second_code(section); };
  Bytes code = ByteWriter{}.u32(32).u32(0xc0000001).u32(8 * 200).bytes();
  code.resize(600, 0x50);
  const auto zeroed = [&](std::size_t from, std::size_t size) {
    Bytes bytes = code;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), size, std::uint8_t{0});
    return broken(bytes);
  };
  CHECK_FALSE(broken(code));
  CHECK_FALSE_MESSAGE(zeroed(12, 200), "no instruction has its bit");
  CHECK_FALSE(zeroed(212, 127));
  CHECK(zeroed(212, 128) == 212);
  CHECK(zeroed(100, 300) == 212);
  CHECK(zeroed(0, 8) == 4);
  CHECK(zeroed(8, 100) == 8);
  CHECK(zeroed(540, 60) == 599);
  CHECK(broken(Bytes(8)) == 0);
  CHECK_FALSE_MESSAGE(broken(ByteWriter{}.u32(32).u32(0xc0000002).zeros(600).bytes()), "another form");
  code.resize(100);
  CHECK_MESSAGE(broken(code) == 8, "its bits end behind it");
}

TEST_CASE("a cubin whose tables were overwritten by zeros is refused") {
  const auto whole = CubinBuilder{}.kernel("k", sass::join({sass::store(), sass::exit()})).parameters(24);
  const auto zeroed = [&](const Bytes& from) {
    Bytes bytes = whole.bytes();
    const auto at = std::search(bytes.begin(), bytes.end(), from.begin(), from.end());
    REQUIRE(at != bytes.end());
    std::fill_n(at, from.size(), std::uint8_t{0});
    const auto code = read_cubin(bytes);
    return code ? std::string("whole") : code.error().what;
  };
  const auto text = [](std::string_view name) { return Bytes(name.begin(), name.end()); };
  CHECK(read_cubin(whole.bytes()).ok());
  CHECK(zeroed({3, 0x19, 24, 0}) == "section '.nv.info.k' of the cubin has no attribute at 0x8");
  CHECK(zeroed(text(".nv.info.k")).find("of the cubin has no name") != std::string::npos);
  const auto second = CubinBuilder(whole).sm(100).second_code(500).bytes();
  CHECK(read_cubin(second).ok());
  Bytes hole = second;
  const auto stream = std::search_n(hole.begin(), hole.end(), 400, std::uint8_t{0x50});
  REQUIRE(stream != hole.end());
  std::fill_n(stream + 100, 200, std::uint8_t{0});
  CHECK(read_cubin(hole).error().what == "section '.nv.capmerc.text.k' of the cubin was overwritten at 0x70");
}

TEST_CASE("program headers of a cubin are of some type, and within it") {
  const Bytes whole = CubinBuilder{}.kernel("k", sass::join({sass::store(), sass::exit()})).bytes();
  const auto with_headers = [&](std::uint8_t first, std::uint8_t second, std::size_t cut = 0) {
    Bytes bytes = whole;
    const std::size_t at = bytes.size();
    for (std::size_t i = 0; i < 8; ++i) bytes[32 + i] = static_cast<std::uint8_t>(at >> (8 * i));
    bytes[54] = 56;
    bytes[56] = 2;
    bytes.resize(at + 112 - cut);
    bytes[at] = first;
    if (cut == 0) bytes[at + 56] = second;
    const auto code = read_cubin(bytes);
    return code ? std::string() : code.error().what;
  };
  CHECK(with_headers(6, 1) == "");
  CHECK(with_headers(0, 1) == "program header 0 of the cubin was overwritten or is not there");
  CHECK(with_headers(6, 0) == "program header 1 of the cubin was overwritten or is not there");
  CHECK(with_headers(6, 0x18) == "program header 1 of the cubin was overwritten or is not there");
  CHECK(with_headers(6, 1, 56) == "program header 1 of the cubin was overwritten or is not there");
}

TEST_CASE("a note of a cubin that begins with zeros was overwritten") {
  const auto of = [](const CubinBuilder& cubin) {
    return CubinBuilder(cubin).toolkit_info("13.0", "-arch sm_80").bytes();
  };
  Bytes bytes = of(CubinBuilder{}.kernel("k", sass::join({sass::store(), sass::exit()})));
  REQUIRE(read_cubin(bytes));
  const std::string_view name = "NVIDIA Corp";
  const auto at = std::search(bytes.begin(), bytes.end(), name.begin(), name.end());
  REQUIRE(at != bytes.end());
  std::fill(at - 12, at, std::uint8_t{0});
  CHECK(read_cubin(bytes).error().what ==
        "section '.note.nv.tkinfo' of the cubin was overwritten by zeros at 0x0");
}

TEST_CASE("a cubin whose sections are of another type, or whose symbols are in none of them, is refused") {
  const Bytes whole = CubinBuilder{}
                          .kernel("k", sass::join({sass::store(), sass::exit()}))
                          .parameters(24)
                          .variable("c", ".nv.constant3", 16, 0)
                          .bytes();
  const Cursor in(whole);
  const std::uint64_t table = in.u64(40);
  const std::uint16_t count = in.u16(60), names = in.u16(62);
  const std::uint64_t texts = in.u64(table + names * 64 + 24);
  const auto index_of = [&](std::string_view name) {
    std::uint64_t i = 0;
    while (i < count && in.c_string(texts + in.u32(table + i * 64)) != name) ++i;
    REQUIRE_MESSAGE(i < count, name);
    return i;
  };
  const auto error_of = [](const Bytes& bytes) {
    const auto code = read_cubin(bytes);
    return code ? std::string("whole") : code.error().what;
  };
  CHECK(error_of(whole) == "whole");
  for (const char* name : {".text.k", ".nv.info.k", ".nv.constant3"}) {
    Bytes bytes = whole;
    bytes[table + index_of(name) * 64 + 4] = 7;
    bytes[table + index_of(name) * 64 + 7] = 0;
    CHECK(error_of(bytes) ==
          "section '" + std::string(name) + "' of the cubin is of type 0x7, which none of that name has");
  }
  Bytes bytes = whole;
  const std::uint64_t symbols = in.u64(table + index_of(".symtab") * 64 + 24);
  bytes[symbols + 24 + 6] = static_cast<std::uint8_t>(count);
  CHECK(error_of(bytes) ==
        "symbol 1 of the cubin is in section " + std::to_string(count) + " of " + std::to_string(count));
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(symbols) + 24, 24, std::uint8_t{0});
  CHECK(error_of(bytes) == "symbol 1 of the cubin is zeros: its symbol table was overwritten");
}
