#include "host/archive.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "base/write_file.h"
#include "elf/elf.h"
#include "io/window.h"

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
// Microsoft's "/<ECSYMBOLS>/", "/<XFGHASHMAP>/" and "/<HYBRIDMAP>/"; and BSD's symbol tables, by their whole
// names. Any other name may well begin with "/": `ar P` keeps paths.
//
// A thin archive ("!<thin>\n") has the headers and these tables only. Its members are files, named relative
// to it, all in "//"; "/123:456" is the member of another archive, of that name, whose header stands there at
// offset 456.
constexpr std::size_t kArchiveMagicSize = 8, kArchiveHeaderSize = 60;
constexpr const char* kMakeWhole = "make the archive again, or copy it whole";
constexpr std::size_t kArchiveWindow = 1024;
constexpr std::size_t kArMemberNameMost = 512;
constexpr std::uint64_t kNamedMost = 4;
constexpr std::uint64_t kArchiveSizeMost = 9'999'999'999;  // ten digits

bool is_special_header(std::string_view name) {
  return name == "/" || name == "//" || name == "/SYM64/" || name == "/<ECSYMBOLS>/" ||
         name == "/<XFGHASHMAP>/" || name == "/<HYBRIDMAP>/";
}

// "/123": where its name stands. "/1/x.o/" is a path.
bool is_reference(std::string_view name) {
  return name.size() > 1 && name[0] == '/' &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

bool is_bsd_symbol_table(std::string_view name) {
  return name == "__.SYMDEF" || name == "__.SYMDEF SORTED" || name == "__.SYMDEF_64" ||
         name == "__.SYMDEF_64 SORTED";
}

class ArReader {
 public:
  ArReader(const ByteSource& source, bool thin)
      : source_(source),
        thin_(thin),
        headers_(source, kArchiveWindow, kArchiveHeaderSize),
        names_(source, kArchiveWindow, kArchiveWindow) {}

  Status visit(const OpenFile& open, const std::function<void(const ArchiveMember&)>& visit,
               const MemberError& failed) {
    std::uint64_t at = kArchiveMagicSize;
    while (at < source_.size()) {
      ARCHGUARD_TRY(member, member_at(at));
      const std::string raw =
          member.name;  // GNU ends a short name with "/", so an object of that name is another
      const std::uint64_t end = member.offset + (is_elsewhere(raw) ? 0 : member.size);
      at = end + end % 2;
      if (is_elsewhere(raw)) {
        Status status = find_elsewhere(member, open);
        if (status)
          visit(member);
        else
          failed(member.name, std::move(status).error());
      } else if (!is_special_header(raw)) {
        ARCHGUARD_CHECK(resolve_name(member));
        const bool bsd = starts_with(raw, "#1/") || raw == member.name;
        if (!bsd || !is_bsd_symbol_table(member.name))
          visit(member);
        else if (is_elf(member))
          failed(member.name, object_named_as_table());
      } else if (is_elf(member)) {
        failed(raw, object_named_as_table());
      } else if (raw == "//") {
        long_names_ = member;
      } else if (!any_symbol_table_ && (raw == "/" || raw == "/SYM64/")) {
        any_symbol_table_ = true;
        ARCHGUARD_CHECK(read_symbol_table(member, raw == "/" ? 4 : 8));
      } else if (raw == "/") {  // Microsoft's second one: offsets, numbers and names, none of them zeros
        constexpr std::uint64_t kCount = 4;
        ARCHGUARD_CHECK(check_names(member, kCount));
      }
    }
    if (last_symbol_ >= source_.size())
      return Error{{},
                   "is cut short: its symbol table names a member at " + hex(last_symbol_) + ", it ends at " +
                       hex(source_.size()),
                   kMakeWhole};
    return Done{};
  }

 private:
  // The member whose header is at `at`, its name as the header has it.
  Result<ArchiveMember> member_at(std::uint64_t at) {
    const std::uint64_t remain = source_.size() - at;
    if (remain < kArchiveHeaderSize)
      return Error{
          {},
          "archive member header at " + hex(at) + " needs 60 bytes, " + std::to_string(remain) + " remain",
          kMakeWhole};
    ARCHGUARD_TRY(bytes, headers_.at(at, kArchiveHeaderSize));
    const std::string_view header = bytes.text();
    const auto size = parse_number(trim(header.substr(48, 10)), kArchiveSizeMost);
    if (header.substr(58, 2) != "`\n" || !size)
      return Error{{}, "no archive member header at " + hex(at), kMakeWhole};
    ArchiveMember member;
    member.name = std::string(trim(header.substr(0, 16)));
    member.offset = at + kArchiveHeaderSize;
    member.size = *size;
    if (!is_elsewhere(member.name) && *size > remain - kArchiveHeaderSize)
      return Error{{},
                   "archive member '" + member.name + "' at " + hex(at) + " needs " +
                       count_of(*size, "byte") + ", " + std::to_string(remain - kArchiveHeaderSize) +
                       " remain",
                   kMakeWhole};
    return member;
  }

  // No table begins so: its name was overwritten.
  bool is_elf(const ArchiveMember& member) {
    constexpr std::size_t kMagic = 4;
    const auto start = member.size < kMagic ? Result<ByteView>(Error{}) : names_.at(member.offset, kMagic);
    return start && has_elf_magic(*start);
  }

  static Error object_named_as_table() {
    return {{},
            "is an ELF file that is named as a table of the archive, so no linker reads it",
            "make the archive again"};
  }

  static Error lost_symbol_table(const ArchiveMember& table) {
    return {{},
            "the symbol table at " + hex(table.offset) +
                " was overwritten by zeros, so that a linker does not find what the archive holds",
            kMakeWhole};
  }

  // The first of them begins with the number of symbols and the offset of each one's member, big-endian. They
  // betray an archive that was cut between two members.
  Status read_symbol_table(const ArchiveMember& table, std::size_t width) {
    const auto big_endian = [width](ByteView bytes, std::size_t at) {
      std::uint64_t value = 0;
      for (std::size_t i = at; i < at + width; ++i) value = value << 8 | bytes.data[i];
      return value;
    };
    if (table.size < width) return Done{};
    ARCHGUARD_TRY(first, names_.at(table.offset, width));
    const std::uint64_t count = std::min(big_endian(first, 0), table.size / width - 1);
    for (std::uint64_t i = 0; i < count;) {
      const std::uint64_t left = (count - i) * width;
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, kArchiveWindow));
      ARCHGUARD_TRY(block, names_.at(table.offset + (i + 1) * width, size));
      for (std::size_t at = 0; at < size; at += width, ++i) {
        const std::uint64_t member = big_endian(block, at);
        if (member == 0) return lost_symbol_table(table);  // where the archive's magic stands
        last_symbol_ = std::max(last_symbol_, member);
      }
    }
    // Names follow, but in a table of no symbol, which has up to 8 bytes to be aligned.
    if (count == 0) return table.size > 2 * width + 8 ? Status(lost_symbol_table(table)) : Status(Done{});
    return check_names(table, (count + 1) * width);
  }

  // Each ends with a NUL, and none is empty; an even size and up to 8 bytes may be filled behind them.
  Status check_names(const ArchiveMember& table, std::uint64_t at) {
    constexpr std::size_t kNoNames = 16;
    std::size_t in_a_row = 0;
    while (at < table.size) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(table.size - at, kArchiveWindow));
      ARCHGUARD_TRY(block, names_.at(table.offset + at, size));
      for (std::size_t i = 0; i < size; ++i) {
        in_a_row = block.data[i] == 0 ? in_a_row + 1 : 0;
        if (in_a_row == kNoNames) return lost_symbol_table(table);
      }
      at += size;
    }
    return Done{};
  }

  bool is_elsewhere(std::string_view raw) const { return thin_ && !is_special_header(raw); }

  // Fills in what stands in another file. The name is then the archive's for it, and what failed is told
  // under it.
  Status find_elsewhere(ArchiveMember& member, const OpenFile& open) {
    std::optional<std::uint64_t> nested_at;
    if (const auto colon = member.name.find(':');
        starts_with(member.name, "/") && colon != std::string::npos) {
      nested_at = parse_number(std::string_view(member.name).substr(colon + 1), kArchiveSizeMost);
      if (!nested_at) return bad_name(member);
      member.name.resize(colon);
    }
    ARCHGUARD_CHECK(resolve_name(member));
    ARCHGUARD_TRY(file, open(member.name));
    member.elsewhere = file;
    member.offset = 0;
    member.size = file->size();
    if (!nested_at) return count_elsewhere(member);
    member.name += "+" + hex(*nested_at);
    if (*nested_at > file->size()) return Error{{}, "lies outside of that archive", {}};
    ArReader nested(*file, false);
    ARCHGUARD_TRY(inner, nested.member_at(*nested_at));
    member.offset = inner.offset;
    member.size = inner.size;
    return count_elsewhere(member);
  }

  // A file may be named a few times. Named without end it would let a small archive cost without end.
  Status count_elsewhere(const ArchiveMember& member) {
    std::uint64_t& size = sizes_elsewhere_[member.elsewhere];
    size += member.size;
    if (size > kNamedMost * member.elsewhere->size())
      return Error{
          {}, "is named again and again by the thin archive, and is not read anew", "make the archive again"};
    return Done{};
  }

  static Error bad_name(const ArchiveMember& member) {
    return Error{{},
                 "archive member at " + hex(member.offset - kArchiveHeaderSize) + " has the bad name '" +
                     member.name + "'",
                 kMakeWhole};
  }

  Status resolve_name(ArchiveMember& member) {
    if (starts_with(member.name, "#1/")) {
      const auto length = parse_number(std::string_view(member.name).substr(3), member.size);
      if (!length) return bad_name(member);
      ARCHGUARD_TRY(name, names_.at(member.offset, static_cast<std::size_t>(
                                                       std::min<std::uint64_t>(*length, kArMemberNameMost))));
      const std::size_t end = std::min(name.text().find('\0'), name.size);
      if (name.text().find_first_not_of('\0', end) != std::string_view::npos) return bad_name(member);
      member.name = std::string(name.text().substr(0, end));
      member.offset += *length;
      member.size -= *length;
      return Done{};
    }
    if (is_reference(member.name)) {
      const auto offset = parse_number(std::string_view(member.name).substr(1), kArchiveSizeMost);
      if (!offset || *offset >= long_names_.size) return bad_name(member);
      const std::uint64_t most = std::min<std::uint64_t>(long_names_.size - *offset, kArMemberNameMost);
      ARCHGUARD_TRY(bytes, names_.at(long_names_.offset + *offset, static_cast<std::size_t>(most)));
      const std::string_view text = bytes.text();
      member.name = std::string(text.substr(0, text.find_first_of(std::string_view("\n\0", 2))));
    }
    if (ends_with(member.name, "/")) member.name.pop_back();
    return Done{};
  }

  const ByteSource& source_;
  bool thin_;
  Window headers_;
  Window names_;
  ArchiveMember long_names_;
  std::map<std::shared_ptr<const ByteSource>, std::uint64_t> sizes_elsewhere_;  // what was read of each file
  bool any_symbol_table_ = false;  // Microsoft's second one is another
  std::uint64_t last_symbol_ = 0;  // the last member that the symbol table names
};

// A file that is opened for each read.
class FileBeside final : public ByteSource {
 public:
  FileBeside(std::string path, std::uint64_t size) : path_(std::move(path)), size_(size) {}
  std::uint64_t size() const override { return size_; }
  Status read(std::uint64_t offset, void* out, std::size_t count) const override {
    ARCHGUARD_TRY(file, FileSource::open(path_));
    return file.read(offset, out, count);
  }

 private:
  std::string path_;
  std::uint64_t size_;
};

}  // namespace

bool has_archive_magic(ByteView start) {
  return starts_with(start.text(), "!<arch>\n") || starts_with(start.text(), "!<thin>\n");
}

OpenFile beside(const std::string& path) {
  using File = std::shared_ptr<const ByteSource>;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const auto known = std::make_shared<std::map<std::string, File>>();  // by their real paths
  return [folder, known](const std::string& name) -> Result<File> {
    const std::string file = starts_with(name, "/") ? name : folder + name;
    const auto opened = FileSource::open(file);
    if (!opened) return Error{{}, file + " " + opened.error().what, "build it, or make the archive again"};
    File& one = (*known)[real_path(file)];
    if (one == nullptr || one->size() != opened->size())
      one = std::make_shared<FileBeside>(file, opened->size());
    return one;
  };
}

Status visit_archive(const ByteSource& source, const OpenFile& open,
                     const std::function<void(const ArchiveMember&)>& visit, const MemberError& failed) {
  ARCHGUARD_TRY(magic, read_bytes(source, 0, kArchiveMagicSize));
  return ArReader(source, ByteView(magic).text() == "!<thin>\n").visit(open, visit, failed);
}

}  // namespace archguard
