#include "host/pe_object.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "io/window.h"

namespace archguard {
namespace {

// Microsoft's PE format ("PE Format", Microsoft Learn). An image begins with "MZ"; the u32 at 0x3c is the
// offset of "PE\0\0", behind which stands a COFF header, which in an object file is the first thing:
//   0 u16 machine, 2 u16 sections, 8 u32 symbol table, 12 u32 symbols, 16 u16 optional header's size, 18 u16
//   flags
// The section headers follow the optional header, 40 bytes each:
//   0 name (8), 8 u32 size in memory, 12 u32 address from the base of the image, 16 u32 size in the file, 20
//   u32 offset in the file, 36 u32 flags
// An object for many sections (/bigobj) has a header of 56 bytes instead: u16 0, u16 0xffff, u16 version 2,
// u16 machine, …, 44 u32 sections, 48 u32 symbol table, 52 u32 symbols.
//
// Names of sections have eight bytes. In an object a longer one is "/123", an offset into the string table,
// which follows the symbols (18 bytes each, 20 under /bigobj). The linker of an image cuts: .nv_fatbin
// becomes .nv_fatb.
constexpr std::uint32_t kCoffPeOffsetAt = 0x3c;
constexpr std::size_t kCoffHeaderSize = 20, kBigSize = 56, kCoffSectionSize = 40, kNameSize = 8;
constexpr std::uint64_t kCoffSymbolSize = 18, kBigSymbolSize = 20;
constexpr std::uint16_t kCoffX64 = 0x8664, kCoffArm64 = 0xaa64;
constexpr std::uint32_t kCode = 0x20, kNoBytes = 0x80;
constexpr std::size_t kCoffWindow = std::size_t{16} * 1024;
constexpr std::size_t kLongNameMost = 255;

bool is_big_object(const Cursor& start) {
  return start.u16(0) == 0 && start.u16(2) == 0xffff && start.u16(4) >= 2;
}

class PeReader {
 public:
  PeReader(const ByteSource& source, HostObject& object)
      : source_(source),
        object_(object),
        in_(source, kCoffWindow, kCoffWindow),
        names_(source, kCoffWindow, kLongNameMost) {}

  Status read() {
    ARCHGUARD_CHECK(read_header());
    const std::uint64_t remain = sections_at_ < source_.size() ? source_.size() - sections_at_ : 0;
    if (sections_ > remain / kCoffSectionSize)
      return Error{{},
                   "section table at " + hex(sections_at_) + " needs " + count_of(sections_, "header") +
                       " of 40 bytes, " + count_of(remain, "byte") + " remain",
                   {}};
    std::optional<Error> first_error;
    for (std::uint64_t i = 0; i < sections_; ++i) {
      ARCHGUARD_TRY(bytes, in_.at(sections_at_ + i * kCoffSectionSize, kCoffSectionSize));
      Status status = add_section(Cursor(bytes));
      if (!status && !first_error) first_error = std::move(status).error();
    }
    if (first_error) return std::move(*first_error);
    if (object_.linked)
      object_.end = std::max({end_, sections_at_ + sections_ * kCoffSectionSize, end_of_strings()});
    return Done{};
  }

 private:
  Status read_header() {
    ARCHGUARD_TRY(start, in_.at(0, static_cast<std::size_t>(std::min<std::uint64_t>(64, source_.size()))));
    object_.linked = is_pe(start);
    if (!object_.linked && is_big_object(Cursor(start))) {
      ARCHGUARD_TRY(bytes, in_.at(0, kBigSize));
      const Cursor header(bytes);
      sections_ = header.u32(44);
      strings_at_ = header.u32(48) + header.u32(52) * kBigSymbolSize;
      sections_at_ = kBigSize;
      return Done{};
    }
    std::uint64_t coff_at = 0;
    if (object_.linked) {
      const std::uint64_t pe_at = Cursor(start).u32(kCoffPeOffsetAt);
      const auto signature = in_.at(pe_at, 4);
      if (!signature || Cursor(*signature).u32(0) != 0x00004550)
        return Error{{}, "begins with MZ and has no PE header at " + hex(pe_at), {}};
      coff_at = pe_at + 4;
    }
    ARCHGUARD_TRY(bytes, in_.at(coff_at, kCoffHeaderSize));
    const Cursor header(bytes);
    sections_ = header.u16(2);
    if (header.u32(8) != 0) strings_at_ = header.u32(8) + header.u32(12) * kCoffSymbolSize;
    sections_at_ = coff_at + kCoffHeaderSize + header.u16(16);
    if (object_.linked) read_image_base(coff_at + kCoffHeaderSize);
    return Done{};
  }

  // The optional header: u16 magic, 0x20b for 64 bits, and at 24 the address that the image is linked for.
  void read_image_base(std::uint64_t at) {
    const auto bytes = in_.at(at, 32);
    if (bytes && Cursor(*bytes).u16(0) == 0x20b) image_base_ = Cursor(*bytes).u64(24);
  }

  Status add_section(const Cursor& header) {
    Section section;
    if (image_base_ != 0) section.address = image_base_ + header.u32(12);
    const std::uint32_t flags = header.u32(36);
    section.executable = (flags & kCode) != 0;
    section.has_bytes = (flags & kNoBytes) == 0;
    section.offset = header.u32(20);
    section.size = section.has_bytes ? header.u32(16) : header.u32(8);
    section.name = name_of(header.part(0, kNameSize).text());
    if (section.size == 0) return Done{};
    const std::uint64_t size = source_.size();
    if (section.has_bytes && (section.offset > size || section.size > size - section.offset))
      return Error{{},
                   "section '" + section.name + "' needs " + count_of(section.size, "byte") + " at " +
                       hex(section.offset) + ", " +
                       std::to_string(section.offset < size ? size - section.offset : 0) + " remain",
                   {}};
    if (section.has_bytes) end_ = std::max(end_, section.offset + section.size);
    object_.sections.push_back(std::move(section));
    return Done{};
  }

  // The table begins with its own size. 0 without one, which MSVC's images lack.
  std::uint64_t end_of_strings() {
    const auto size = strings_at_ != 0 ? in_.at(strings_at_, 4) : Result<ByteView>(Error{});
    return size ? strings_at_ + Cursor(*size).u32(0) : 0;
  }

  std::string name_of(std::string_view field) {
    const std::string_view name = field.substr(0, field.find('\0'));
    const auto offset = starts_with(name, "/") ? parse_number(name.substr(1), 9'999'999) : std::nullopt;
    if (offset && strings_at_ != 0) {
      auto text = names_.text_at(strings_at_ + *offset, kLongNameMost);
      if (text) return std::move(*text);
    }
    return std::string(name);
  }

  const ByteSource& source_;
  HostObject& object_;
  Window in_;
  Window names_;
  std::uint64_t sections_ = 0;
  std::uint64_t sections_at_ = 0;
  std::uint64_t strings_at_ = 0;  // 0: no string table
  std::uint64_t image_base_ = 0;  // of a 64-bit image
  std::uint64_t end_ = 0;         // of the sections
};

}  // namespace

bool is_pe(ByteView start) {
  return starts_with(start.text(), "MZ");
}

bool is_coff_object(ByteView start, std::uint64_t file_size) {
  const Cursor in(start);
  if (is_big_object(in)) return in.holds(0, kBigSize) && (in.u16(6) == kCoffX64 || in.u16(6) == kCoffArm64);
  // Two bytes are a weak sign: the rest of the header must be that of an object.
  const std::uint64_t sections = in.u16(2);
  return (in.u16(0) == kCoffX64 || in.u16(0) == kCoffArm64) && sections != 0 && in.u16(16) == 0 &&
         kCoffHeaderSize + sections * kCoffSectionSize <= file_size;
}

void read_pe_object(const ByteSource& source, const std::string& where, HostObject& object,
                    std::vector<Error>& errors) {
  object.format = HostFormat::pe;
  Status status = PeReader(source, object).read();
  if (status) return;
  Error error = std::move(status).error();
  error.where = where;
  errors.push_back(std::move(error));
}

}  // namespace archguard
