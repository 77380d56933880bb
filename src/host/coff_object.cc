#include "host/coff_object.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "host/pe_imports.h"

namespace archguard {
namespace {

constexpr std::size_t kCoffWindow = std::size_t{16} * 1024;
constexpr std::size_t kLongNameMost = 255;
constexpr std::uint64_t kPage = 4096;  // Windows maps whole ones

class CoffReader {
 public:
  CoffReader(const ByteSource& source, HostObject& object)
      : source_(source),
        object_(object),
        in_(source, kCoffWindow, kCoffWindow),
        names_(source, kCoffWindow, kLongNameMost) {}

  Status read() {
    object_.linked = is_image();
    ARCHGUARD_TRY(header, read_coff_header(in_, source_.size()));
    header_ = header;
    if (header_.linked) read_optional_header();
    const std::uint64_t at = header_.sections_at;
    const std::uint64_t remain = at < source_.size() ? source_.size() - at : 0;
    if (header_.sections > remain / kCoffSectionSize)
      return Error{{},
                   "section table at " + hex(at) + " needs " + count_of(header_.sections, "header") +
                       " of 40 bytes, " + count_of(remain, "byte") + " remain",
                   {}};
    std::optional<Error> first_error;
    for (std::uint64_t i = 0; i < header_.sections; ++i) {
      ARCHGUARD_TRY(bytes, in_.at(at + i * kCoffSectionSize, kCoffSectionSize));
      if (are_zeros(bytes)) {
        if (!first_error)
          first_error = Error{{},
                              "header " + std::to_string(i) + " of its section table at " + hex(at) +
                                  " is zeros: it was overwritten, or never written",
                              {}};
        continue;
      }
      Status status = add_section(coff_section(bytes));
      if (!status && !first_error) first_error = std::move(status).error();
    }
    if (header_.linked) leave_out_import_names();
    if (first_error) return std::move(*first_error);
    ARCHGUARD_CHECK(check_tables());
    ARCHGUARD_CHECK(check_relocations());
    if (object_.linked)
      object_.end = std::max({end_, at + header_.sections * kCoffSectionSize, end_of_strings()});
    return Done{};
  }

 private:
  // Known before the header is, which may be damaged.
  bool is_image() {
    const auto start = in_.at(0, static_cast<std::size_t>(std::min<std::uint64_t>(2, source_.size())));
    return start && is_pe(*start);
  }

  // The optional header: u16 magic, 0x20b for 64 bits, and at 24 the address that the image is linked for. It
  // ends in pairs (pe_imports.cc), of which the sixth is the table of base relocations.
  void read_optional_header() {
    constexpr std::uint64_t kIndex = 5;
    constexpr std::size_t kMost = 112 + (kIndex + 1) * 8;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kMost, header_.optional_size));
    const auto bytes = in_.at(header_.optional_at, size);
    const Cursor fields(bytes ? *bytes : ByteView{});
    const bool is64 = fields.u16(0) == 0x20b;
    if (is64) image_base_ = fields.u64(24);
    const std::uint64_t pairs_at = is64 ? 112 : 96;
    if (fields.u32(pairs_at - 4) <= kIndex) return;
    relocations_ = fields.u32(pairs_at + kIndex * 8);
    relocations_size_ = fields.u32(pairs_at + kIndex * 8 + 4);
  }

  Status add_section(const CoffSection& header) {
    Section section;
    if (image_base_ != 0) section.address = image_base_ + header.address;
    section.executable = header.is_code;
    section.has_bytes = header.has_bytes;
    section.offset = header.offset;
    section.size = section.has_bytes ? header.size_in_file : header.size_in_memory;
    section.name = name_of(header.name);
    section.filled = header_.linked ? header.size_in_memory : header.size_in_file;
    if (header_.linked && header.size_in_memory != 0)
      section.mapped = (std::uint64_t{header.size_in_memory} + kPage - 1) / kPage * kPage;
    if (section.size == 0) return Done{};
    const std::uint64_t size = source_.size();
    if (section.has_bytes && (section.offset > size || section.size > size - section.offset))
      return Error{{},
                   "section '" + section.name + "' needs " + count_of(section.size, "byte") + " at " +
                       hex(section.offset) + ", " +
                       std::to_string(section.offset < size ? size - section.offset : 0) + " remain",
                   {}};
    if (section.has_bytes) end_ = std::max(end_, section.offset + section.size);
    const bool has_relocations = section.has_bytes && relocations_ >= header.address &&
                                 relocations_ - header.address < header.size_in_file;
    if (has_relocations && relocations_size_ <= header.size_in_file - (relocations_ - header.address))
      relocations_at_ = section.offset + (relocations_ - header.address);
    object_.sections.push_back(std::move(section));
    return Done{};
  }

  // Delvewheel renames the DLLs that an image needs, and writes the new names behind what its sections hold.
  // In sections of device code they are none of its bytes: names and zeros, to the end.
  void leave_out_import_names() {
    constexpr std::uint64_t kMost = std::uint64_t{64} * 1024;
    std::vector<std::uint64_t> names = find_pe_import_names(source_);
    std::sort(names.begin(), names.end());
    for (Section& section : object_.sections) {
      const bool is_device_code = starts_with(section.name, ".nv") || starts_with(section.name, "__nv");
      if (!section.has_bytes || !is_device_code) continue;
      const auto first = std::lower_bound(names.begin(), names.end(), section.offset);
      const std::uint64_t end = section.offset + section.size;
      if (first == names.end() || *first >= end || end - *first > kMost) continue;
      const auto rest = read_bytes(source_, *first, static_cast<std::size_t>(end - *first));
      const bool are_names = rest && std::all_of(rest->begin(), rest->end(), [](std::uint8_t byte) {
                               return byte == 0 || (byte >= ' ' && byte <= '~');
                             });
      if (!are_names) continue;
      section.size = *first - section.offset;
      section.filled = std::min(section.filled, section.size);
    }
  }

  // The tables of symbols and strings are the last of an object, where a copy that stopped left zeros. The
  // strings begin with their size, which is at least 4; cvtres writes 0 where there is none.
  Status check_tables() {
    if (object_.linked || header_.strings_at == 0 || header_.strings_at == source_.size()) return Done{};
    constexpr std::uint64_t kLastOfSymbol = 16;  // bytes that are in each
    const auto last = in_.at(header_.strings_at - std::min(kLastOfSymbol, header_.strings_at), kLastOfSymbol);
    const bool is_lost = !last || are_zeros(*last);
    const std::uint64_t end = end_of_strings();
    const bool has_size = end >= header_.strings_at + 4 && end <= source_.size();
    const bool is_empty = end == header_.strings_at && !is_lost;
    if ((has_size || is_empty) && !lost_name_) return has_size ? check_symbols(end) : Status(Done{});
    return Error{{},
                 "its table of strings at " + hex(header_.strings_at) +
                     " is cut or zeros: the end of the file was lost, or never written",
                 "build it again, or get it again"};
  }

  // Of 106,000 objects none has two symbols of zeros in a row, nor two NULs among their names.
  Status check_symbols(std::uint64_t end_of_names) {
    constexpr std::uint64_t kZerosOfSymbols = 128, kZerosOfNames = 16;
    ARCHGUARD_TRY(no_symbols, holds_zeros(header_.symbols_at, header_.strings_at, kZerosOfSymbols));
    ARCHGUARD_TRY(no_names, holds_zeros(header_.strings_at + 4, end_of_names, kZerosOfNames));
    if (!no_symbols && !no_names) return Done{};
    return Error{{},
                 std::string("its table of ") + (no_symbols ? "symbols" : "strings") + " at " +
                     hex(no_symbols ? header_.symbols_at : header_.strings_at) + " was overwritten by zeros",
                 "build it again, or get it again"};
  }

  Result<bool> holds_zeros(std::uint64_t at, std::uint64_t end, std::uint64_t most) {
    std::uint64_t in_a_row = 0;
    while (at < end) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(end - at, kCoffWindow));
      ARCHGUARD_TRY(bytes, in_.at(at, count));
      for (std::size_t i = 0; i < count; ++i) {
        in_a_row = bytes.data[i] == 0 ? in_a_row + 1 : 0;
        if (in_a_row == most) return true;
      }
      at += count;
    }
    return false;
  }

  // The table of base relocations stands in the last section of most images, where a copy that stopped left
  // zeros. It is made of blocks: u32 address of a page, u32 size of the block, and u16 for each place in that
  // page; one of zeros fills a block up to four bytes, so that four of them at its end are none that a linker
  // wrote. Wine's ends the table by a header of zeros. Seen on 2,151 images of MSVC's, LLVM's and GNU's
  // linkers.
  Status check_relocations() {
    constexpr std::uint64_t kHead = 8, kFillMost = 16, kPlaces = 4 * 2;
    if (relocations_at_ == 0) return Done{};
    std::uint64_t left = relocations_size_;
    for (std::uint64_t at = relocations_at_; left >= kHead;) {
      ARCHGUARD_TRY(head, in_.at(at, kHead));
      const bool is_end = left < kFillMost && are_zeros(head);
      const std::uint64_t size = Cursor(head).u32(4);
      if (is_end) return Done{};
      if (size < kHead || size % 2 != 0 || size > left) return lost_relocations(at);
      if (size >= kHead + kPlaces) {
        ARCHGUARD_TRY(last, in_.at(at + size - kPlaces, kPlaces));
        if (are_zeros(last)) return lost_relocations(at);
      }
      at += size;
      left -= size;
    }
    return Done{};
  }

  Error lost_relocations(std::uint64_t block) const {
    return {{},
            "its table of base relocations at " + hex(relocations_at_) + " is damaged from " + hex(block) +
                " on: the end of the file was lost, or never written",
            "build it again, or get it again"};
  }

  // The table begins with its own size. 0 without one, which MSVC's images lack.
  std::uint64_t end_of_strings() {
    const auto size = header_.strings_at != 0 ? in_.at(header_.strings_at, 4) : Result<ByteView>(Error{});
    return size ? header_.strings_at + Cursor(*size).u32(0) : 0;
  }

  // In an object a name of more than eight bytes is "/123", an offset into the string table. The linker of an
  // image cuts: .nv_fatbin becomes .nv_fatb.
  std::string name_of(std::string_view name) {
    const auto offset = starts_with(name, "/") ? parse_number(name.substr(1), 9'999'999) : std::nullopt;
    if (offset && header_.strings_at != 0) {
      auto text = names_.text_at(header_.strings_at + *offset, kLongNameMost);
      if (text && text->empty()) lost_name_ = true;
      if (text) return std::move(*text);
    }
    return std::string(name);
  }

  const ByteSource& source_;
  HostObject& object_;
  Window in_;
  Window names_;
  CoffHeader header_;
  std::uint64_t image_base_ = 0;                          // of a 64-bit image
  std::uint64_t end_ = 0;                                 // of the sections
  std::uint32_t relocations_ = 0, relocations_size_ = 0;  // an address from the base
  std::uint64_t relocations_at_ = 0;                      // in the file; 0: no section holds all of them
  bool lost_name_ = false;  // of a section: its place in the table of strings has none
};

}  // namespace

void read_coff_object(const ByteSource& source, const std::string& where, HostObject& object,
                      std::vector<Error>& errors) {
  object.format = HostFormat::pe;
  Status status = CoffReader(source, object).read();
  if (status) return;
  Error error = std::move(status).error();
  error.where = where;
  errors.push_back(std::move(error));
}

}  // namespace archguard
