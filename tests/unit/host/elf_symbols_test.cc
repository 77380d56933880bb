#include "host/elf_symbols.h"

#include <doctest/doctest.h>

#include "support/builders/byte_writer.h"

using namespace archguard;
using namespace archguard::test;

namespace {

constexpr std::uint8_t kGlobal = 0x12, kWeak = 0x22, kLocal = 0x02;

// Tables one behind the other, each where `tables` says.
class TablesBuilder {
 public:
  explicit TablesBuilder(bool is64 = true) {
    tables.is64 = is64;
    symbol(0, 0, 0);
  }
  // Its name is the letter at `name` of "\0abcdef…".
  TablesBuilder& symbol(unsigned name, std::uint8_t binding, unsigned section) {
    if (tables.is64)
      symbols_.u32(name).u8(binding).u8(0).u16(section).zeros(16);
    else
      symbols_.u32(name).zeros(8).u8(binding).u8(0).u16(section);
    return *this;
  }
  TablesBuilder& relocations(const std::vector<unsigned>& of, bool of_calls, bool with_addend = true) {
    ByteWriter out;
    for (const unsigned each : of) {
      if (tables.is64)
        out.u64(0).u64(std::uint64_t{each} << 32 | 7);
      else
        out.u32(0).u32(each << 8 | 7);
      if (with_addend) out.zeros(tables.is64 ? 8 : 4);
    }
    tables.relocations.push_back({put(out), with_addend, of_calls});
    return *this;
  }
  TablesBuilder& hash(const std::vector<std::uint32_t>& words) {
    tables.hash = put(words_of(words));
    return *this;
  }
  TablesBuilder& gnu_hash(const std::vector<std::uint32_t>& words) {
    tables.gnu_hash = put(words_of(words));
    return *this;
  }
  Bytes finish() {
    tables.symbols = put(symbols_);
    ByteWriter texts;
    for (const char c : std::string("\0a\0b\0c\0d\0", 9)) texts.u8(static_cast<std::uint8_t>(c));
    tables.texts = put(texts);
    return file_.bytes();
  }
  ElfTables tables;

 private:
  static ByteWriter words_of(const std::vector<std::uint32_t>& words) {
    ByteWriter out;
    for (const std::uint32_t word : words) out.u32(word);
    return out;
  }
  ElfPlace put(const ByteWriter& bytes) {
    const ElfPlace place{file_.size(), bytes.size()};
    file_.append(bytes.bytes());
    return place;
  }
  ByteWriter file_, symbols_;
};

std::string wanted(TablesBuilder& file) {
  const Bytes bytes = file.finish();
  std::string text;
  visit_wanted_names(MemorySource(bytes), file.tables, 16, [&](const WantedName& each) {
    text += each.name + (each.weak ? "?" : "") + (each.of_call ? "() " : " ");
  });
  return text;
}

std::string defined(TablesBuilder& file) {
  const Bytes bytes = file.finish();
  std::string text;
  visit_defined_names(MemorySource(bytes), file.tables, 16, [&](const std::string& each) {
    text += each + " ";
    return true;
  });
  return text;
}

}  // namespace

TEST_CASE("symbols that relocations ask for") {
  for (const bool is64 : {true, false}) {
    CAPTURE(is64);
    const auto four = [&] {
      TablesBuilder file(is64);
      file.symbol(1, kGlobal, 0).symbol(3, kWeak, 0).symbol(5, kGlobal, 0).symbol(7, kGlobal, 1);
      return file;
    };
    CHECK(wanted(four().relocations({1, 2, 4}, true)) == "a() b?() ");
    CHECK(wanted(four().relocations({3, 1, 0}, false).relocations({3, 2}, true)) == "a b?() c ");
    CHECK(wanted(four().relocations({3, 1}, false, false)) == "a c ");
    CHECK(wanted(four().relocations({5, 4'000'000, 3}, true)) == "c() ");
    TablesBuilder none = four();
    CHECK(wanted(none) == "");
  }
}

TEST_CASE("symbols that a file defines, by either table of hashes") {
  const auto four = [] {
    TablesBuilder file;
    file.symbol(1, kGlobal, 0).symbol(3, kWeak, 9).symbol(5, kGlobal, 9).symbol(7, kLocal, 9);
    return file;
  };
  CHECK(defined(four().hash({1, 5, 0, 0, 0, 0, 0, 0})) == "b c ");
  CHECK(defined(four().hash({1, 3, 0, 0, 0, 0})) == "b ");
  // Two buckets, the first symbol that is found is 2, a filter of one word; chains end by an odd value.
  CHECK(defined(four().gnu_hash({2, 2, 1, 0, 0, 0, 2, 3, 1, 1})) == "b c ");
  CHECK(defined(four().gnu_hash({2, 2, 1, 0, 0, 0, 2, 0, 0, 1})) == "b c ");
  CHECK(defined(four().gnu_hash({1, 1, 1, 0, 0, 0, 0})) == "");
  TablesBuilder none = four();
  CHECK(defined(none) == "");
}

TEST_CASE("tables that claim more than there is are read to their end") {
  TablesBuilder file;
  file.symbol(1, kGlobal, 0).relocations({1}, true).gnu_hash({0xffffffff, 1, 0xffffffff, 0});
  (void)file.finish();
  file.tables.relocations[0].place.size = ~std::uint64_t{0};
  file.tables.symbols.size = ~std::uint64_t{0};
  file.tables.texts.size = ~std::uint64_t{0};
  const Bytes bytes(4096);
  visit_wanted_names(MemorySource(bytes), file.tables, 16, [](const WantedName&) {});
  visit_defined_names(MemorySource(bytes), file.tables, 16, [](const std::string&) { return true; });
}
