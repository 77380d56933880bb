#include "container/archive.h"

#include <algorithm>

#include "base/text.h"
#include "container/window.h"

namespace archguard {
namespace {

// An archive is "!<arch>\n" and then members, each at an even offset: a header of 60 characters and the
// bytes. In the header, padded with blanks: name (16), date (12), owner (6), group (6), mode (8), size in
// decimal (10), and the two characters "`\n".
//
// A name longer than its field is written in one of two ways. GNU and Microsoft: the name is "/123", the
// offset into the member "//", where GNU ends each name with "/\n" and Microsoft with NUL. BSD: the name is
// "#1/20", and the first 20 bytes of the member are its name, padded with NULs, and counted in its size.
//
// Members that are no files, by the name in the header: "/" and "/SYM64/" (symbol table), "//" (long names),
// other names that begin with "/" and go on with no digit (Microsoft); and BSD's symbol tables, by their
// whole names. A long name may well begin with "/": `ar P` keeps paths.
//
// A thin archive ("!<thin>\n") has headers only; its members are files beside it.
constexpr std::size_t kMagicSize = 8, kHeaderSize = 60;
constexpr std::size_t kWindow = 1024;
constexpr std::size_t kNameMost = 512;
constexpr std::uint64_t kSizeMost = 9'999'999'999;  // ten digits

bool is_special_header(std::string_view name) {
  return starts_with(name, "/") && (name.size() < 2 || name[1] < '0' || name[1] > '9');
}

bool is_bsd_symbol_table(std::string_view name) {
  return name == "__.SYMDEF" || name == "__.SYMDEF SORTED" || name == "__.SYMDEF_64" ||
         name == "__.SYMDEF_64 SORTED";
}

class ArchiveReader {
 public:
  explicit ArchiveReader(const ByteSource& source)
      : source_(source), headers_(source, kWindow, kHeaderSize), names_(source, kWindow, kWindow) {}

  Status visit(const std::function<void(const ArchiveMember&)>& visit) {
    std::uint64_t at = kMagicSize;
    while (at < source_.size()) {
      ARCHGUARD_TRY(member, member_at(at));
      at = member.offset + member.size + (member.offset + member.size) % 2;
      const std::string raw =
          member.name;  // GNU ends a short name with "/", so an object of that name is another
      if (!is_special_header(raw)) {
        ARCHGUARD_CHECK(resolve_name(member));
        const bool bsd = starts_with(raw, "#1/") || raw == member.name;
        if (!bsd || !is_bsd_symbol_table(member.name)) visit(member);
      } else if (raw == "//") {
        long_names_ = member;
      }
    }
    return Done{};
  }

 private:
  // The member whose header is at `at`, its name as the header has it.
  Result<ArchiveMember> member_at(std::uint64_t at) {
    const std::uint64_t remain = source_.size() - at;
    if (remain < kHeaderSize)
      return Error{
          {},
          "archive member header at " + hex(at) + " needs 60 bytes, " + std::to_string(remain) + " remain",
          {}};
    ARCHGUARD_TRY(bytes, headers_.at(at, kHeaderSize));
    const std::string_view header = bytes.text();
    const auto size = parse_number(trim(header.substr(48, 10)), kSizeMost);
    if (header.substr(58, 2) != "`\n" || !size)
      return Error{{}, "no archive member header at " + hex(at), {}};
    ArchiveMember member{std::string(trim(header.substr(0, 16))), at + kHeaderSize, *size};
    if (*size > remain - kHeaderSize)
      return Error{{},
                   "archive member '" + member.name + "' at " + hex(at) + " needs " +
                       count_of(*size, "byte") + ", " + std::to_string(remain - kHeaderSize) + " remain",
                   {}};
    return member;
  }

  Status resolve_name(ArchiveMember& member) {
    if (starts_with(member.name, "#1/")) {
      const auto length = parse_number(std::string_view(member.name).substr(3), member.size);
      if (!length)
        return Error{{},
                     "archive member at " + hex(member.offset - kHeaderSize) + " has the bad name '" +
                         member.name + "'",
                     {}};
      ARCHGUARD_TRY(name, names_.at(member.offset,
                                    static_cast<std::size_t>(std::min<std::uint64_t>(*length, kNameMost))));
      member.name = std::string(name.text().substr(0, name.text().find('\0')));
      member.offset += *length;
      member.size -= *length;
      return Done{};
    }
    if (starts_with(member.name, "/")) {
      const auto offset = parse_number(std::string_view(member.name).substr(1), kSizeMost);
      if (!offset || *offset >= long_names_.size)
        return Error{{},
                     "archive member at " + hex(member.offset - kHeaderSize) + " has the bad name '" +
                         member.name + "'",
                     {}};
      const std::uint64_t most = std::min<std::uint64_t>(long_names_.size - *offset, kNameMost);
      ARCHGUARD_TRY(bytes, names_.at(long_names_.offset + *offset, static_cast<std::size_t>(most)));
      const std::string_view text = bytes.text();
      member.name = std::string(text.substr(0, text.find_first_of(std::string_view("\n\0", 2))));
    }
    if (ends_with(member.name, "/")) member.name.pop_back();
    return Done{};
  }

  const ByteSource& source_;
  Window headers_;
  Window names_;
  ArchiveMember long_names_;
};

}  // namespace

bool has_archive_magic(ByteView start) {
  return starts_with(start.text(), "!<arch>\n") || starts_with(start.text(), "!<thin>\n");
}

Status visit_archive(const ByteSource& source, const std::function<void(const ArchiveMember&)>& visit) {
  ARCHGUARD_TRY(magic, read_bytes(source, 0, kMagicSize));
  if (ByteView(magic).text() == "!<thin>\n")
    return Error{{}, "is a thin archive, its members are other files", "name the object files themselves"};
  return ArchiveReader(source).visit(visit);
}

}  // namespace archguard
