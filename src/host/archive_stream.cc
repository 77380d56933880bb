#include "host/archive_stream.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/text.h"
#include "host/cpio_stream.h"
#include "host/libarchive.h"
#include "host/tar_stream.h"

namespace archguard {
namespace {

enum class ArchiveFormat { tar, cpio };

bool is_tar_stream(ByteView start) {
  constexpr std::size_t kMagicAt = 257;
  const std::string_view text = start.text();
  return (text.size() >= kMagicAt + 5 && text.substr(kMagicAt, 5) == "ustar") || is_tar_header(start);
}

// An archive of nothing is its end alone.
bool is_empty_tar(ByteView start) {
  return start.size >= 2 * kTarBlock && are_zeros(start);
}

std::string text_or(const char* text, const char* other) {
  if (text != nullptr) return text;
  return other != nullptr ? other : "";
}

// What begins with zeros, was not packed, and has no name that tells what it is: a layer, the files of a
// package. An archive of nothing has two blocks of them, or 10 KiB of GNU tar's; is_tar_of_nothing() takes
// longer records as well, of a file that is named as a tar archive.
Status check_nothing(ByteStream& bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{10} << 10;
  std::uint64_t size = 0;
  bool zeros = true;
  for (std::vector<std::uint8_t> block(kTarBlock);;) {
    ARCHGUARD_TRY(count, bytes.next(block.data(), block.size()));
    if (count == 0) break;
    size += count;
    zeros = zeros && are_zeros({block.data(), count});
    if (!zeros || size > kMost) break;
  }
  if (zeros && size <= kMost && size % kTarBlock == 0) return Done{};
  return Error{{},
               "begins with zeros where an archive has the name of its first file: its beginning was lost, "
               "or it was never written",
               kGetWhole};
}

class MemberStream final : public ByteStream {
 public:
  MemberStream(const LibArchive& library, ArchiveReader& reader) : library_(library), reader_(reader) {}
  Result<std::size_t> next(std::uint8_t* out, std::size_t count) override {
    const std::ptrdiff_t got = library_.read_data(reader_.get(), out, count);
    if (got < 0) return reader_.error();
    return static_cast<std::size_t>(got);
  }

 private:
  const LibArchive& library_;
  ArchiveReader& reader_;
};

class StreamReading {
 public:
  StreamReading(const LibArchive& library, ByteStream& content, ArchiveFormat format,
                const VisitStreamMember& visit)
      : library_(library), format_(format), visit_(visit), reader_(library, content) {}

  Status run() {
    if (reader_.get() != nullptr)
      format_ == ArchiveFormat::tar ? library_.add_tar(reader_.get()) : library_.add_cpio(reader_.get());
    ARCHGUARD_CHECK(reader_.open());
    while (true) {
      const std::int64_t before = library_.bytes_done(reader_.get(), 0);
      LibArchive::Entry entry = nullptr;
      const int state = library_.next_header(reader_.get(), &entry);
      if (state == LibArchive::kEnd) return end(before);
      // A warning is told of names that the locale lacks: these are taken as they stand.
      if (state != LibArchive::kFine && (state != LibArchive::kWarning || !is_of_name()))
        return reader_.error();
      ARCHGUARD_TRY(more, take(entry));
      if (!more) return Done{};
      if (library_.skip_data(reader_.get()) < LibArchive::kWarning) return reader_.error();
    }
  }

 private:
  bool is_of_name() {
    const char* text = library_.error_text(reader_.get());
    return text != nullptr && std::string_view(text).find("onvert") != std::string_view::npos;
  }

  Result<bool> take(LibArchive::Entry entry) {
    constexpr unsigned kKind = 0170000, kFile = 0100000, kLink = 0120000, kFolder = 0040000;
    StreamMember member;
    member.name = text_or(library_.name(entry), library_.name_utf8(entry));
    while (starts_with(member.name, "./")) member.name.erase(0, 2);
    if (member.name.size() > kArchiveNameMost)
      return Error{
          {},
          "has a member whose name has " + count_of(member.name.size(), "byte") + ", which no system takes",
          {}};
    const std::int64_t size = library_.size(entry);
    member.size = size > 0 ? static_cast<std::uint64_t>(size) : 0;
    const unsigned kind = library_.file_type(entry) & kKind;
    const std::string further = text_or(library_.hard_link(entry), library_.hard_link_utf8(entry));
    // The part of a file that began in another volume of a tar archive; what cpio has no name for.
    const bool has_bytes = member.size > 0 && kind != kFile && kind != kLink && further.empty();
    if ((kind == 0 && further.empty()) || has_bytes)
      return Error{{},
                   "has the member '" + printable(member.name) +
                       "', which is no file and may hold bytes: they are not read",
                   "unpack it and name the folder"};
    if (!further.empty() && member.size == 0) {
      member.target = further;
    } else if (kind == kLink) {
      member.kind = StreamMember::Kind::link;
      member.target = text_or(library_.link(entry), library_.link_utf8(entry));
    } else if (kind == kFile || !further.empty()) {
      member.kind = StreamMember::Kind::file;
      member.later = format_ == ArchiveFormat::cpio && member.size == 0 && library_.links(entry) > 1;
    }
    MemberStream bytes(library_, reader_);
    member.folder = kind == kFolder;
    return visit_(member, bytes);
  }

  // tar ends in two blocks of zeros: one that ends before them may have been cut between two members. More
  // zeros fill a record up (10 KiB, where tar is not told otherwise); so many are what a copy leaves that
  // stopped.
  Status end(std::int64_t before) {
    const std::int64_t after = library_.bytes_done(reader_.get(), 0);
    if (format_ == ArchiveFormat::tar && after - before < static_cast<std::int64_t>(kTarBlock))
      return Error{{}, "is cut: it ends without the two blocks of zeros that end a tar archive", kGetWhole};
    ARCHGUARD_CHECK(reader_.drain());
    if (reader_.last_byte() > static_cast<std::uint64_t>(after))
      return Error{{}, "has bytes behind its end, which are not read", "unpack it and name the folder"};
    const std::uint64_t zeros =
        reader_.given() - std::min(reader_.given(), static_cast<std::uint64_t>(after));
    if (format_ == ArchiveFormat::tar && !fills_tar_record(reader_.given(), zeros))
      return Error{{},
                   "ends in " + count_of(zeros, "byte") + " of zeros: what stood there may have been lost",
                   "get it again; or unpack it, look whether a file is missing, and name the folder"};
    return Done{};
  }

  const LibArchive& library_;
  const ArchiveFormat format_;
  const VisitStreamMember& visit_;
  ArchiveReader reader_;
};

}  // namespace

bool may_be_archive_stream(ByteView start) {
  return packed_by(start) != nullptr || is_tar_stream(start) || is_cpio_stream(start);
}

// `tar -b 256` writes records of 128 KiB, others smaller or larger ones.
bool fills_tar_record(std::uint64_t size, std::uint64_t zeros) {
  constexpr std::uint64_t kByDefault = 20 * kTarBlock;
  constexpr std::uint64_t kRecordLeast = std::uint64_t{16} << 10, kRecordMost = std::uint64_t{64} << 20;
  constexpr std::uint64_t kOfTapes = 126 * kTarBlock;
  if (zeros < kByDefault || (zeros < kOfTapes && size % kOfTapes == 0)) return true;
  for (std::uint64_t record = kRecordLeast; record <= kRecordMost; record *= 2)
    if (zeros < record && size % record == 0) return true;
  return false;
}

bool is_tar_of_nothing(const ByteSource& source) {
  constexpr std::uint64_t kEnd = 2 * kTarBlock, kBlock = std::uint64_t{64} << 10;
  if (source.size() < kEnd || source.size() % kTarBlock != 0 ||
      !fills_tar_record(source.size(), source.size() - kEnd))
    return false;
  for (std::uint64_t at = 0; at < source.size(); at += kBlock) {
    const auto bytes = read_bytes(source, at, std::min(kBlock, source.size() - at));
    if (!bytes || !are_zeros(*bytes)) return false;
  }
  return true;
}

bool holds_archive_headers(const ByteSource& source) {
  using namespace std::string_view_literals;
  constexpr std::size_t kBlock = std::size_t{256} << 10, kHeader = 14;
  const auto is_cpio = [](std::string_view text) {
    return is_cpio_stream({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}) &&
           text.substr(6, kHeader - 6).find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  };
  for (std::uint64_t at = 0; at < source.size(); at += kBlock - kHeader) {
    const auto bytes = read_bytes(source, at, std::min<std::uint64_t>(kBlock, source.size() - at));
    if (!bytes) return false;  // whoever reads images says so
    const std::string_view text = ByteView(*bytes).text();
    if (text.find("ustar\00000"sv) != std::string_view::npos ||
        text.find("ustar  \0"sv) != std::string_view::npos)
      return true;
    for (auto found = text.find("07070"); found != std::string_view::npos;
         found = text.find("07070", found + 1))
      if (text.size() - found >= kHeader && is_cpio(text.substr(found, kHeader))) return true;
    if (bytes->size() < kBlock) break;
  }
  return false;
}

Result<StreamKind> visit_archive_stream(ByteStream& stream, const Spend& spend,
                                        const VisitStreamMember& visit,
                                        const VisitCompressed& visit_compressed) {
  PeekedStream packed(stream);
  ARCHGUARD_TRY(start, packed.start());
  std::unique_ptr<ByteStream> unpacked;
  if (const char* by = packed_by(start)) {
    ARCHGUARD_TRY(opened, unpack(packed, by, spend));
    unpacked = std::move(opened);
  }
  PeekedStream content(unpacked != nullptr ? *unpacked : packed);
  ARCHGUARD_TRY(inner, content.start());
  const bool cpio = is_cpio_stream(inner), tar = is_tar_stream(inner);
  const bool one_file = unpacked != nullptr && visit_compressed;  // unless it is an archive
  if (!cpio && !tar && (one_file || !is_empty_tar(inner))) {
    if (!one_file) return StreamKind::other;
    visit_compressed(content);
    return StreamKind::compressed;
  }
  if (!cpio && !tar && unpacked == nullptr) {
    ARCHGUARD_CHECK(check_nothing(content));
    return StreamKind::archive;
  }
  const LibArchive* library = LibArchive::get();
  if (library == nullptr) return libarchive_missing(cpio ? "is a cpio archive" : "is a tar archive");
  CpioStream of_cpio(content);
  TarStream of_tar(content);
  ARCHGUARD_CHECK(cpio ? StreamReading(*library, of_cpio, ArchiveFormat::cpio, visit).run()
                       : StreamReading(*library, of_tar, ArchiveFormat::tar, visit).run());
  return StreamKind::archive;
}

// The format of version 3 and 4, "RPM Package File Structure": a lead of 96 bytes, then two headers, each u32
// magic and u32 reserved, u32 entries, u32 bytes of their data (big-endian), 16 bytes an entry, the data. The
// first one's is filled up to 8 bytes.
bool is_rpm(ByteView start) {
  return starts_with(start.text(), "\xed\xab\xee\xdb");
}

Result<std::uint64_t> payload_of_rpm(const ByteSource& package) {
  constexpr std::uint64_t kLead = 96, kHead = 16, kEntrySize = 16;
  const auto big = [](const Bytes& bytes, std::size_t at) {
    std::uint64_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = value << 8U | bytes[i];
    return value;
  };
  std::uint64_t at = kLead;
  for (const bool signature : {true, false}) {
    const auto head = read_bytes(package, at, kHead);
    if (!head || (*head)[0] != 0x8e || (*head)[1] != 0xad || (*head)[2] != 0xe8)
      return Error{{}, "is a damaged RPM package: no header at " + hex(at), kGetWhole};
    at += kHead + big(*head, 8) * kEntrySize + big(*head, 12);
    if (signature) at = (at + 7) / 8 * 8;
    if (at >= package.size())
      return Error{{}, "is a damaged RPM package: it is cut within its headers", kGetWhole};
  }
  return at;
}

}  // namespace archguard
