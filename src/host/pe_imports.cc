#include "host/pe_imports.h"

#include <algorithm>

#include "base/text.h"
#include "host/coff.h"
#include "io/window.h"

namespace archguard {
namespace {

// Microsoft's PE format ("PE Format", Microsoft Learn; the headers: coff.h). The optional header ends
// in pairs (u32 address, u32 size), at 112 of it in a 64-bit image and at 96 in a 32-bit one, where the u32
// before tells how many there are. The second is the import table: 20 bytes for each DLL, 12 of which is the
// address of its name, ended by zeros. The fourteenth is that of delayed imports: 32 bytes, the name's
// address at 4. What is imported from a DLL stands in a list of its own, whose address is at 0 or, where that
// is 0, at 16; of delayed imports at 16: 8 bytes each, 4 in a 32-bit image, ended by zeros. The highest bit
// says that the rest is a number; else it is the address of a u16 and the name. Addresses count from the
// image's base, and a section says which bytes of the file they are.
constexpr std::uint16_t k64Bit = 0x20b, k32Bit = 0x10b;
constexpr std::size_t kImportsWindow = std::size_t{16} * 1024;
constexpr std::size_t kImportsSectionsMost = 1024;  // the loader takes 96
constexpr std::size_t kImportsLibrariesMost = 4096, kImportsNameMost = 255;
constexpr std::size_t kFunctionsMost = std::size_t{1} << 16;  // some ten thousand are the most seen

struct Table {
  std::uint32_t index, entry_size, name_at, list_at, other_list_at;
};
constexpr Table kImportsTables[] = {{1, 20, 12, 0, 16}, {13, 32, 4, 16, 16}};

struct Mapped {
  std::uint32_t address = 0, size = 0, offset = 0;
};

class ImportReader {
 public:
  explicit ImportReader(const ByteSource& source)
      : file_size_(source.size()),
        in_(source, kImportsWindow, 4096),
        list_(source, kImportsWindow, 512),
        names_(source, kImportsWindow, kImportsNameMost) {}

  using Visit = std::function<void(std::string_view)>;

  // `visit` gets the functions, where there is one.
  Result<std::optional<std::vector<std::string>>> read(const Visit& visit) {
    std::optional<std::vector<std::string>> none;
    const auto start = in_.at(0, 64);
    if (!start || !is_pe(*start)) return none;
    ARCHGUARD_TRY(coff, read_coff_header(in_, file_size_));
    ARCHGUARD_CHECK(read_sections(coff));
    const std::uint64_t optional_at = coff.optional_at, optional_size = coff.optional_size;
    if (optional_size < 2) return std::optional(std::move(libraries_));
    ARCHGUARD_TRY(optional, in_.at(optional_at, static_cast<std::size_t>(optional_size)));
    const Cursor header(optional);
    if (header.u16(0) != k64Bit && header.u16(0) != k32Bit) return std::optional(std::move(libraries_));
    is64_ = header.u16(0) == k64Bit;
    const std::uint64_t pairs_at = is64_ ? 112 : 96;
    if (!header.holds(0, pairs_at)) return std::optional(std::move(libraries_));
    const std::uint64_t pairs = header.u32(pairs_at - 4);
    std::vector<std::uint32_t> addresses;  // of kImportsTables; the header's bytes go with the next read
    for (const Table& table : kImportsTables) {
      const std::uint64_t at = pairs_at + std::uint64_t{table.index} * 8;
      addresses.push_back(table.index < pairs && header.holds(at, 8) ? header.u32(at) : 0);
    }
    for (std::size_t i = 0; i < addresses.size(); ++i)
      if (addresses[i] != 0) ARCHGUARD_CHECK(read_table(kImportsTables[i], addresses[i], visit));
    return std::optional(std::move(libraries_));
  }

  const std::vector<std::uint64_t>& names_at() const { return names_at_; }

 private:
  Status read_sections(const CoffHeader& coff) {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(coff.sections, kImportsSectionsMost); ++i) {
      ARCHGUARD_TRY(bytes, in_.at(coff.sections_at + i * kCoffSectionSize, kCoffSectionSize));
      const CoffSection section = coff_section(bytes);
      sections_.push_back({section.address, section.size_in_file, section.offset});
    }
    return Done{};
  }

  Status read_table(const Table& table, std::uint32_t address, const Visit& visit) {
    for (std::uint64_t entry = address;; entry += table.entry_size) {
      ARCHGUARD_TRY(at, offset_of(entry));
      ARCHGUARD_TRY(bytes, in_.at(at, table.entry_size));
      const Cursor fields(bytes);
      const std::uint32_t name = fields.u32(table.name_at), list = fields.u32(table.list_at);
      const std::uint32_t other_list = fields.u32(table.other_list_at);
      if (name == 0) return Done{};
      if (libraries_.size() == kImportsLibrariesMost)
        return Error{{}, "imports more than 4096 libraries", {}};
      ARCHGUARD_TRY(name_at, offset_of(name));
      ARCHGUARD_TRY(text, names_.text_at(name_at, kImportsNameMost));
      libraries_.push_back(std::move(text));
      names_at_.push_back(name_at);
      if (visit) ARCHGUARD_CHECK(read_functions(list != 0 ? list : other_list, visit));
    }
  }

  Status read_functions(std::uint64_t address, const Visit& visit) {
    const std::size_t size = is64_ ? 8 : 4;
    const std::uint64_t by_number = std::uint64_t{1} << (size * 8 - 1);
    for (;; address += size) {
      ARCHGUARD_TRY(at, offset_of(address));
      ARCHGUARD_TRY(bytes, list_.at(at, size));
      const std::uint64_t function = is64_ ? Cursor(bytes).u64(0) : Cursor(bytes).u32(0);
      if (function == 0) return Done{};
      if (functions_++ == kFunctionsMost) return Error{{}, "imports more than 65536 functions", {}};
      if ((function & by_number) != 0) continue;
      ARCHGUARD_TRY(name_at, offset_of(function));
      ARCHGUARD_TRY(text, names_.text_at(name_at + 2, kImportsNameMost));
      visit(text);
    }
  }

  Result<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Mapped& section : sections_)
      if (address >= section.address && address - section.address < section.size)
        return section.offset + (address - section.address);
    return Error{{}, "import table points to " + hex(address) + ", which is in no section", {}};
  }

  std::uint64_t file_size_;
  Window in_, list_, names_;
  bool is64_ = true;
  std::size_t functions_ = 0;
  std::vector<Mapped> sections_;
  std::vector<std::string> libraries_;
  std::vector<std::uint64_t> names_at_;  // of them
};

}  // namespace

Result<std::optional<std::vector<std::string>>> read_pe_imports(const ByteSource& source) {
  return ImportReader(source).read({});
}

std::vector<std::uint64_t> find_pe_import_names(const ByteSource& source) {
  ImportReader reader(source);
  static_cast<void>(reader.read({}));  // of a damaged table what stands before
  return reader.names_at();
}

Status visit_pe_functions(const ByteSource& source, const std::function<void(std::string_view)>& visit) {
  const auto read = ImportReader(source).read(visit);
  return read ? Status(Done{}) : Status(read.error());
}

}  // namespace archguard
