#include "host/section_table.h"

#include <doctest/doctest.h>
#include <string>

using namespace archguard;

namespace {

ElfSection section(std::uint32_t type, std::uint64_t offset, std::uint64_t size, std::uint32_t link = 0) {
  ElfSection section;
  section.type = type;
  section.offset = offset;
  section.size = size;
  section.link = link;
  return section;
}

std::string said(const std::vector<ElfSection>& sections, bool linked = false) {
  SectionTableCheck check;
  for (const ElfSection& each : sections) check.add(each);
  const auto error = check.error(linked);
  return error ? error->what : "";
}

}  // namespace

TEST_CASE("two sections of an object do not have the same bytes") {
  CHECK(said({section(1, 64, 16), section(1, 80, 16)}) == "");
  CHECK(said({section(1, 64, 16), section(1, 128, 8), section(1, 64, 8)}) ==
        "two sections have their bytes at 0x40: the section table was overwritten");
  CHECK_MESSAGE(said({section(1, 64, 16), section(kElfNoBits, 64, 16), section(1, 64, 0)}) == "",
                "no bytes at all");
  CHECK_MESSAGE(said({section(1, 64, 16), section(1, 64, 16)}, true) == "", "a linker may join them");
}

TEST_CASE("the names of symbols stand in a string table") {
  CHECK(said({section(kElfSymbols, 64, 48, 2), section(kElfStrings, 128, 16)}) == "");
  CHECK(said({section(kElfStrings, 128, 16), section(kElfSymbols, 64, 48, 1)}) == "");
  constexpr const char* kLost =
      "section 1 holds symbols, and what should be their names is no string table: the section table was "
      "overwritten";
  CHECK(said({section(kElfSymbols, 64, 48, 2), section(1, 128, 16)}) == kLost);
  CHECK(said({section(kElfSymbols, 64, 48, 3), section(kElfStrings, 128, 16)}, true) == kLost);
  CHECK_MESSAGE(said({section(kElfSymbols, 64, 48)}) == "", "of no names");
}

TEST_CASE("a section table without a byte above 0x7f was taken for text") {
  std::vector<ElfSection> sections;
  for (std::uint64_t i = 0; i < 24; ++i) sections.push_back(section(1, 0x100 * i + 0x40, 0x20));
  CHECK(said(sections) ==
        "no byte of its section table is above 0x7f: something took the file for text of 7 bits");
  sections[3].size = 0x80;
  CHECK(said(sections) == "");
  sections.resize(3);
  CHECK_MESSAGE(said(sections) == "", "too few to tell");
}
