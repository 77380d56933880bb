#include "host/coff_object.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

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
    if (header_.linked) read_image_base();
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
    if (first_error) return std::move(*first_error);
    ARCHGUARD_CHECK(check_tables());
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

  // The optional header: u16 magic, 0x20b for 64 bits, and at 24 the address that the image is linked for.
  void read_image_base() {
    const auto bytes = in_.at(header_.optional_at, 32);
    if (bytes && Cursor(*bytes).u16(0) == 0x20b) image_base_ = Cursor(*bytes).u64(24);
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
    object_.sections.push_back(std::move(section));
    return Done{};
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
    if ((has_size || is_empty) && !lost_name_) return Done{};
    return Error{{},
                 "its table of strings at " + hex(header_.strings_at) +
                     " is cut or zeros: the end of the file was lost, or never written",
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
  std::uint64_t image_base_ = 0;  // of a 64-bit image
  std::uint64_t end_ = 0;         // of the sections
  bool lost_name_ = false;        // of a section: its place in the table of strings has none
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
