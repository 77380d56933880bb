#include "device/elf_section.h"

#include <doctest/doctest.h>
#include <string>

using namespace archguard;

namespace {

void put(Bytes& bytes, std::size_t at, std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) bytes.at(at + i) = static_cast<std::uint8_t>(value >> (8 * i));
}

// Header, names at 64, then one section header that describes the names.
Bytes elf_with_names(const std::string& names) {
  Bytes bytes(64 + names.size() + 64);
  const std::string magic =
      "\x7f"
      "ELF\x02\x01";
  std::copy(magic.begin(), magic.end(), bytes.begin());
  std::copy(names.begin(), names.end(), bytes.begin() + 64);
  put(bytes, 0x28, 64 + names.size(), 8);  // e_shoff
  put(bytes, 0x3c, 1, 2);                  // e_shnum
  put(bytes, 0x3e, 0, 2);                  // e_shstrndx
  put(bytes, 64 + names.size() + 0x18, 64, 8);
  put(bytes, 64 + names.size() + 0x20, names.size(), 8);
  return bytes;
}

bool names_note(const Bytes& bytes) {
  return names_elf_section(MemorySource(bytes), ".note.cuda.fwd_compatibility");
}

const std::string kWithNote("\0.text\0.note.cuda.fwd_compatibility\0", 36);
const std::string kWithout("\0.text\0.note.cuda.fwd_compatibility2\0", 37);

}  // namespace

TEST_CASE("a section is found by its whole name") {
  CHECK(names_note(elf_with_names(kWithNote)));
  CHECK_FALSE(names_note(elf_with_names(kWithout)));
}

TEST_CASE("no prefix and no damaged size of an ELF file is read past its end") {
  const Bytes whole = elf_with_names(kWithNote);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(names_note(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))));
  for (const std::size_t field : {std::size_t{0x28}, whole.size() - 64 + 0x18, whole.size() - 64 + 0x20}) {
    Bytes damaged = whole;
    put(damaged, field, 0xfffffffffffffff0, 8);
    CHECK_FALSE(names_note(damaged));
  }
  Bytes other_index = whole;
  put(other_index, 0x3e, 7, 2);
  CHECK_FALSE(names_note(other_index));
}
