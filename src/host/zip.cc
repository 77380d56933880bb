#include "host/zip.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "elf/elf.h"
#include "host/byte_stream.h"
#include "host/inflation.h"
#include "host/kept_bytes.h"
#include "host/mach_o.h"
#include "io/window.h"

namespace archguard {
namespace {

// PKWARE's APPNOTE.TXT. Members, each with a local header, stand first; then the directory, a header for
// each; then the end record, which is found from the file's end, since a comment of up to 65,535 bytes
// follows it.
//
//   end record, 22 bytes: u32 "PK\5\6", 4 u16 disk, 6 u16 directory's disk, 8 u16 entries on this disk, 10
//   u16 entries,
//     12 u32 directory's size, 16 u32 its offset, 20 u16 the comment's size
//   zip64's locator, 20 bytes before it: u32 "PK\6\7", 8 u64 offset of zip64's end record
//   zip64's end record, 56 bytes: u32 "PK\6\6", 4 u64 size of what follows here, 32 u64 entries,
//     40 u64 directory's size, 48 u64 its offset
//   directory entry, 46 bytes: u32 "PK\1\2", 8 u16 flags, 10 u16 method, 16 u32 CRC-32, 20 u32 stored size,
//   24 u32
//     size, 28 u16 name's size, 30 u16 extra's, 32 u16 comment's, 42 u32 offset of the local header; then
//     these three
//   local header, 30 bytes: u32 "PK\3\4", 26 u16 name's size, 28 u16 extra's; then these two, then the stored
//   bytes
//
// Sizes and offsets that are all ones stand in the extra field 1 (zip64) instead, u64 each, in the order
// size, stored size, offset. Directory, end records and locator stand right behind one another. Sizes in
// local headers may be zero (written to a pipe), so only the directory's are used.
constexpr std::uint32_t kLocator64 = 0x07064b50, kEnd64 = 0x06064b50;
constexpr std::uint32_t kEntry = 0x02014b50, kLocal = 0x04034b50;
constexpr std::size_t kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56, kEnd64Head = 12, kZipEntrySize = 46,
                      kLocalSize = 30;
constexpr std::size_t kCommentMost = 65'535, kVariableMost = 3 * 65'535;
constexpr std::uint32_t kIn64 = 0xffffffff;
constexpr unsigned kStored = 0, kDeflated = 8;
constexpr std::uint64_t kRatioMost = 1032;  // of deflate: 258 bytes for two bits
constexpr std::size_t kZipStartSize = 4096, kZipBlock = std::size_t{256} * 1024;

// Offsets count from the zip file's start, or from `begin`: behind a script or a program they may do either.
struct Directory {
  std::uint64_t begin = 0, offset = 0, size = 0, entries = 0;
};

Error cut(const std::string& what, std::uint64_t at) {
  return Error{{}, what + " at " + hex(at) + " lies outside of the zip file", kGetWhole};
}

// Two zip files, one behind the other: the offsets of the second count from its own start. Whoever goes by
// them reads the first file's directory, whoever looks before the end record the second's.
Error not_at_end(const std::string& what, std::uint64_t found, const std::string& next, std::uint64_t at) {
  return Error{{},
               what + " must end at " + hex(at) + ", where its " + next + " begins, found " + hex(found) +
                   ": other programs find another directory",
               "make it anew, as one zip file"};
}

bool begins_with_any_of(const ByteSource& source, std::initializer_list<std::string_view> magics) {
  const auto start = read_bytes(source, 0, std::min<std::uint64_t>(4, source.size()));
  return start && std::any_of(magics.begin(), magics.end(), [&](std::string_view magic) {
           return starts_with(ByteView(*start).text(), magic);
         });
}

bool is_script(const ByteSource& source) {
  return begins_with_any_of(source, {"#!"});
}

bool is_executable(const ByteSource& source) {
  if (begins_with_any_of(source, {"\177ELF", "MZ"})) return true;
  const auto start = read_bytes(source, 0, std::min<std::uint64_t>(32, source.size()));
  return start && is_mach_o(*start);
}

// Where an end record may stand.
std::vector<std::uint64_t> places_of_end(ByteView tail) {
  constexpr std::string_view kSignature = "PK\5\6";
  std::vector<std::uint64_t> places;
  const std::string_view text = tail.text();
  for (auto at = text.find(kSignature); at != std::string_view::npos; at = text.find(kSignature, at + 1))
    if (at + kEndSize <= text.size()) places.push_back(at);
  return places;
}

Result<Directory> find_directory(const ByteSource& source) {
  const bool is_behind = is_script(source) || is_executable(source);
  const std::uint64_t size = source.size();
  const std::uint64_t tail_size = std::min<std::uint64_t>(size, kEndSize + kCommentMost);
  ARCHGUARD_TRY(tail, read_bytes(source, size - tail_size, tail_size));
  const Cursor in(tail);
  const std::vector<std::uint64_t> ends = places_of_end(tail);
  for (auto each = ends.rbegin(); each != ends.rend(); ++each) {
    const std::uint64_t at = *each;
    if (at + kEndSize + in.u16(at + 20) != tail_size) continue;
    if (in.u16(at + 4) != in.u16(at + 6) || in.u16(at + 8) != in.u16(at + 10))
      return Error{{}, "is one part of a zip file that was split", "join the parts: zip -s 0"};
    Directory directory{0, in.u32(at + 16), in.u32(at + 12), in.u16(at + 10)};
    std::uint64_t end = size - tail_size + at;
    if (at >= kLocatorSize && in.u32(at - kLocatorSize) == kLocator64) {
      const std::uint64_t claimed = in.u64(at - kLocatorSize + 8), locator = end - kLocatorSize;
      // Behind something else it stands right before its locator, wherever that says it is.
      const std::uint64_t record_at = is_behind && locator >= kEnd64Size ? locator - kEnd64Size : claimed;
      const auto record = read_bytes(source, record_at, kEnd64Size);
      if (!record || Cursor(*record).u32(0) != kEnd64) return cut("zip64's end record", record_at);
      const Cursor wide(*record);
      const std::uint64_t record_end = record_at + kEnd64Head + wide.u64(4);
      if (!is_behind && record_end != locator)
        return not_at_end("zip64's end record", record_end, "locator", locator);
      directory = {0, wide.u64(48), wide.u64(40), wide.u64(32)};
      end = record_at;
    }
    if (directory.offset > end || directory.size > end - directory.offset)
      return Error{{},
                   "zip directory needs " + count_of(directory.size, "byte") + " at " +
                       hex(directory.offset) + ", " +
                       std::to_string(directory.offset < end ? end - directory.offset : 0) + " remain",
                   kGetWhole};
    if (!is_behind && directory.offset + directory.size != end)
      return not_at_end("zip directory", directory.offset + directory.size, "end record", end);
    if (is_behind) directory.begin = end - directory.size - directory.offset;
    directory.offset += directory.begin;
    return directory;
  }
  if (!ends.empty())
    return Error{{},
                 "is a zip file with bytes behind its directory, where other programs may find another one",
                 "make it anew: zip -FF OLD.zip --out NEW.zip"};
  return Error{{}, "is a zip file cut short: it has no directory at its end", kGetWhole};
}

// Takes what the 32-bit fields have no room for from the extra fields.
Status apply_zip64(const Cursor& extra, const std::vector<std::uint64_t*>& fields, const std::string& name) {
  for (std::uint64_t at = 0; extra.holds(at, 4); at += 4 + extra.u16(at + 2)) {
    if (extra.u16(at) != 1) continue;
    const Cursor values(extra.part(at + 4, extra.u16(at + 2)));
    std::uint64_t value_at = 0;
    for (std::uint64_t* field : fields) {
      if (*field != kIn64) continue;
      if (!values.holds(value_at, 8)) break;
      *field = values.u64(value_at);
      value_at += 8;
    }
    return Done{};
  }
  for (const std::uint64_t* field : fields)
    if (*field == kIn64) return Error{{}, "member '" + name + "' lacks its zip64 sizes", {}};
  return Done{};
}

Error damaged(const std::string& why) {
  return Error{{}, "is a damaged member of a zip file: " + why, kGetWhole};
}

// The stored bytes of a member: behind its local header.
Result<PartSource> stored_bytes(const ByteSource& source, const ZipMember& member) {
  const auto header = read_bytes(source, member.header, kLocalSize);
  if (!header || Cursor(*header).u32(0) != kLocal)
    return damaged("it has no header at " + hex(member.header));
  const std::uint64_t at = member.header + kLocalSize + Cursor(*header).u16(26) + Cursor(*header).u16(28);
  const std::uint64_t size = source.size();
  if (at > size || member.stored_size > size - at)
    return damaged("it needs " + count_of(member.stored_size, "byte") + " at " + hex(at) + ", " +
                   std::to_string(at < size ? size - at : 0) + " remain");
  return PartSource(source, at, member.stored_size);
}

using Take = std::function<Status(ByteView)>;

Status read_stored(const ByteSource& stored, const Take& take) {
  Bytes block(static_cast<std::size_t>(std::min<std::uint64_t>(kZipBlock, stored.size())));
  for (std::uint64_t at = 0; at < stored.size();) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), stored.size() - at));
    ARCHGUARD_CHECK(stored.read(at, block.data(), count));
    ARCHGUARD_CHECK(take(ByteView{block.data(), count}));
    at += count;
  }
  return Done{};
}

// `size` is what must come out, and what bounds the work.
Status read_deflated(const ByteSource& stored, std::uint64_t size, const Take& take) {
  Inflation inflation(-MAX_WBITS);  // raw deflate
  if (!inflation.ready) return Error{{}, "no memory for zlib", {}};
  z_stream& stream = inflation.stream;
  Bytes in(static_cast<std::size_t>(std::min<std::uint64_t>(kZipBlock / 4, stored.size())));
  Bytes out(static_cast<std::size_t>(std::min<std::uint64_t>(kZipBlock, size + 1)));
  std::uint64_t at = 0, made = 0;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (stream.avail_in == 0) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(in.size(), stored.size() - at));
      if (count == 0) return damaged("its deflate stream does not end");
      ARCHGUARD_CHECK(stored.read(at, in.data(), count));
      at += count;
      stream.next_in = in.data();
      stream.avail_in = static_cast<uInt>(count);
    }
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    state = ::inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
      return damaged(std::string("zlib: ") + (stream.msg != nullptr ? stream.msg : "bad stream"));
    const std::size_t count = out.size() - stream.avail_out;
    made += count;
    if (made > size) return damaged("it must inflate to " + count_of(size, "byte") + ", found more");
    if (count != 0) ARCHGUARD_CHECK(take(ByteView{out.data(), count}));
  }
  if (stream.avail_in != 0 || at != stored.size()) return damaged("bytes follow its deflate stream");
  return Done{};
}

// Where the bytes of a member go. What stands in the zip file as it is, is compared and not kept.
class Keeper {
 public:
  Keeper(std::uint64_t size, bool in_place, const std::function<bool(ByteView)>& wanted)
      : size_(size),
        asked_([this, in_place, &wanted](ByteView start) {
          keep_ = wanted(start);
          return keep_ && !in_place;
        }),
        kept_(asked_) {}

  Status take(ByteView bytes) {
    checksum_ = static_cast<std::uint32_t>(::crc32(checksum_, bytes.data, static_cast<uInt>(bytes.size)));
    made_ += bytes.size;
    return kept_.take(bytes);
  }

  // The bytes, once all were taken; nothing where they are not wanted, or stand in the zip file as they are.
  Result<std::unique_ptr<ByteSource>> finish(std::uint32_t checksum) {
    if (made_ != size_)
      return damaged("it must have " + count_of(size_, "byte") + ", found " + std::to_string(made_));
    if (checksum_ != checksum)
      return damaged("its CRC-32 must be " + hex(checksum) + ", found " + hex(checksum_));
    return kept_.finish();
  }

  bool keep() const { return keep_; }

 private:
  std::uint64_t size_, made_ = 0;
  bool keep_ = false;
  std::uint32_t checksum_ = 0;
  const std::function<bool(ByteView)> asked_;
  KeptBytes kept_;
};

// Is what ends like a zip file one? The directory must begin with an entry.
bool ends_with_zip(const ByteSource& source) {
  const auto directory = find_directory(source);
  if (!directory || directory->size == 0) return false;
  const auto entry = read_bytes(source, directory->offset, std::min<std::uint64_t>(4, directory->size));
  return entry && Cursor(*entry).u32(0) == kEntry;
}

// Is the table of sections the last of an ELF file, as linkers put it? Then nothing stands behind.
bool ends_with_sections(const ByteSource& source) {
  const auto header = read_elf_header(source);
  return header && header->section_count != 0 && header->sections_offset <= source.size() &&
         source.size() - header->sections_offset == header->section_count * header->section_size;
}

}  // namespace

bool is_zip(ByteView start) {
  return starts_with(start.text(), "PK\3\4") || starts_with(start.text(), "PK\5\6");
}

bool is_zip(const ByteSource& source) {
  const auto start = read_bytes(source, 0, std::min<std::uint64_t>(4, source.size()));
  if (start && is_zip(*start)) return true;
  return is_script(source) && ends_with_zip(source);
}

bool has_zip_behind(const ByteSource& source) {
  return is_executable(source) && !ends_with_sections(source) && ends_with_zip(source);
}

std::uint64_t count_zip_members(const ByteSource& source) {
  const auto directory = find_directory(source);
  return directory ? directory->entries : 0;
}

Status visit_zip(const ByteSource& source, const std::function<void(const ZipMember&)>& visit) {
  ARCHGUARD_TRY(directory, find_directory(source));
  const PartSource part(source, directory.offset, directory.size);
  Window in(part, kZipEntrySize + kVariableMost, kZipStartSize);
  std::uint64_t at = 0, stored = 0, entries = 0;
  while (at < directory.size) {
    const auto bytes = in.at(at, kZipEntrySize);
    if (!bytes || Cursor(*bytes).u32(0) != kEntry)
      return Error{{}, "no zip directory entry at " + hex(directory.offset + at), kGetWhole};
    const Cursor entry(*bytes);
    const std::size_t name_size = entry.u16(28), extra_size = entry.u16(30);
    const std::size_t size = kZipEntrySize + name_size + extra_size + entry.u16(32);
    ZipMember member;
    member.method = entry.u16(10);
    member.encrypted = (entry.u16(8) & 1) != 0;
    constexpr unsigned kMadeByUnix = 3, kModeAt = 40, kModeKind = 0170000, kModeLink = 0120000;
    member.link = entry.u8(5) == kMadeByUnix && (entry.u16(kModeAt) & kModeKind) == kModeLink;
    member.checksum = entry.u32(16);
    member.stored_size = entry.u32(20);
    member.size = entry.u32(24);
    member.header = entry.u32(42);
    const auto whole = in.at(at, size);
    if (!whole) return cut("zip directory entry", directory.offset + at);
    const Cursor variable(*whole);
    member.name = std::string(variable.part(kZipEntrySize, name_size).text());
    const Cursor extra(variable.part(kZipEntrySize + name_size, extra_size));
    ARCHGUARD_CHECK(apply_zip64(extra, {&member.size, &member.stored_size, &member.header}, member.name));
    member.header += directory.begin;
    at += size;
    ++entries;
    // Members that share bytes would let a small file inflate without end.
    if (member.stored_size > source.size() - stored)
      return Error{{}, "members of the zip file overlap, from '" + member.name + "' on", {}};
    stored += member.stored_size;
    if (!(ends_with(member.name, "/") && member.size == 0)) visit(member);
  }
  if (entries != directory.entries)
    return Error{{},
                 "zip directory must have " + count_of(directory.entries, "entry", "entries") + ", found " +
                     std::to_string(entries),
                 {}};
  return Done{};
}

bool is_inflated_to_disk(const ZipMember& member) {
  return member.method != kStored && member.size > KeptBytes::kInMemoryMost;
}

Result<std::unique_ptr<ByteSource>> open_zip_member(const ByteSource& source, const ZipMember& member,
                                                    const std::function<bool(ByteView)>& wanted) {
  if (member.encrypted)
    return Error{{}, "is an encrypted member of a zip file", "unpack it and name the folder"};
  if (member.method != kStored && member.method != kDeflated)
    return Error{{},
                 "is a member of a zip file compressed with method " + std::to_string(member.method) +
                     "; stored (0) and deflate (8) are read",
                 "unpack it and name the folder"};
  const bool in_place = member.method == kStored;
  if (in_place ? member.size != member.stored_size : member.size / kRatioMost > member.stored_size)
    return damaged(count_of(member.stored_size, "stored byte") + " cannot become " +
                   std::to_string(member.size));
  ARCHGUARD_TRY(stored, stored_bytes(source, member));
  Keeper keeper(member.size, in_place, wanted);
  const auto take = [&](ByteView bytes) { return keeper.take(bytes); };
  ARCHGUARD_CHECK(in_place ? read_stored(stored, take) : read_deflated(stored, member.size, take));
  auto kept = keeper.finish(member.checksum);
  if (kept && in_place && keeper.keep()) return std::unique_ptr<ByteSource>(new PartSource(stored));
  return kept;
}

}  // namespace archguard
