#include "container/pe_imports.h"

#include <algorithm>

#include "base/text.h"
#include "container/pe_object.h"
#include "container/window.h"

namespace archguard {
namespace {

// Microsoft's PE format ("PE Format", Microsoft Learn; the headers: pe_object.cc). The optional header ends
// in pairs (u32 address, u32 size), at 112 of it in a 64-bit image and at 96 in a 32-bit one, where the u32
// before tells how many there are. The second is the import table: 20 bytes for each DLL, 12 of which is the
// address of its name, ended by zeros. The fourteenth is that of delayed imports: 32 bytes, the name's
// address at 4. Addresses count from the image's base, and a section says which bytes of the file they are.
constexpr std::uint64_t kPeOffsetAt = 0x3c, kCoffSize = 20, kSectionSize = 40;
constexpr std::uint16_t k64Bit = 0x20b, k32Bit = 0x10b;
constexpr std::size_t kWindow = std::size_t{16} * 1024;
constexpr std::size_t kSectionsMost = 1024;  // the loader takes 96
constexpr std::size_t kLibrariesMost = 4096, kNameMost = 255;

struct Table {
  std::uint32_t index, entry_size, name_at;
};
constexpr Table kTables[] = {{1, 20, 12}, {13, 32, 4}};

struct Mapped {
  std::uint32_t address = 0, size = 0, offset = 0;
};

class ImportReader {
 public:
  explicit ImportReader(const ByteSource& source)
      : in_(source, kWindow, 4096), names_(source, kWindow, kNameMost) {}

  Result<std::optional<std::vector<std::string>>> read() {
    std::optional<std::vector<std::string>> none;
    const auto start = in_.at(0, 64);
    if (!start || !is_pe(*start)) return none;
    const std::uint64_t pe_at = Cursor(*start).u32(kPeOffsetAt), coff_at = pe_at + 4;
    ARCHGUARD_TRY(coff, in_.at(coff_at, kCoffSize));
    const std::uint64_t sections = Cursor(coff).u16(2), optional_size = Cursor(coff).u16(16);
    const std::uint64_t optional_at = coff_at + kCoffSize;
    ARCHGUARD_CHECK(read_sections(optional_at + optional_size, sections));
    if (optional_size < 2) return std::optional(std::move(libraries_));
    ARCHGUARD_TRY(optional, in_.at(optional_at, static_cast<std::size_t>(optional_size)));
    const Cursor header(optional);
    if (header.u16(0) != k64Bit && header.u16(0) != k32Bit) return std::optional(std::move(libraries_));
    const std::uint64_t pairs_at = header.u16(0) == k64Bit ? 112 : 96;
    if (!header.holds(0, pairs_at)) return std::optional(std::move(libraries_));
    const std::uint64_t pairs = header.u32(pairs_at - 4);
    std::vector<std::uint32_t> addresses;  // of kTables; the header's bytes go with the next read
    for (const Table& table : kTables) {
      const std::uint64_t at = pairs_at + std::uint64_t{table.index} * 8;
      addresses.push_back(table.index < pairs && header.holds(at, 8) ? header.u32(at) : 0);
    }
    for (std::size_t i = 0; i < addresses.size(); ++i)
      if (addresses[i] != 0) ARCHGUARD_CHECK(read_table(kTables[i], addresses[i]));
    return std::optional(std::move(libraries_));
  }

 private:
  Status read_sections(std::uint64_t at, std::uint64_t count) {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, kSectionsMost); ++i) {
      ARCHGUARD_TRY(bytes, in_.at(at + i * kSectionSize, kSectionSize));
      const Cursor header(bytes);
      sections_.push_back({header.u32(12), header.u32(16), header.u32(20)});
    }
    return Done{};
  }

  Status read_table(const Table& table, std::uint32_t address) {
    for (std::uint64_t entry = address;; entry += table.entry_size) {
      ARCHGUARD_TRY(at, offset_of(entry));
      ARCHGUARD_TRY(bytes, in_.at(at, table.entry_size));
      const std::uint32_t name = Cursor(bytes).u32(table.name_at);
      if (name == 0) return Done{};
      if (libraries_.size() == kLibrariesMost) return Error{{}, "imports more than 4096 libraries", {}};
      ARCHGUARD_TRY(name_at, offset_of(name));
      ARCHGUARD_TRY(text, names_.text_at(name_at, kNameMost));
      libraries_.push_back(std::move(text));
    }
  }

  Result<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Mapped& section : sections_)
      if (address >= section.address && address - section.address < section.size)
        return section.offset + (address - section.address);
    return Error{{}, "import table points to " + hex(address) + ", which is in no section", {}};
  }

  Window in_, names_;
  std::vector<Mapped> sections_;
  std::vector<std::string> libraries_;
};

}  // namespace

Result<std::optional<std::vector<std::string>>> read_pe_imports(const ByteSource& source) {
  return ImportReader(source).read();
}

}  // namespace archguard
