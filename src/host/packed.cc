#include "host/packed.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/text.h"
#include "host/zip.h"
#include "host/zlib_stream.h"

namespace archguard {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kPackedStart = 4096;

// As file(1) and each format's own description have them. Those that are shorter than four bytes, or begin
// like much else, are asked for more below.
constexpr std::string_view kMagics[] = {
    "\x1f\x8b"sv,  // gzip
    "\xfd"
    "7zXZ"sv,
    "\x28\xb5\x2f\xfd"sv,  // zstd
    "7z\xbc\xaf\x27\x1c"sv,
    "\x04\x22\x4d\x18"sv,  // lz4, its frames and the older ones
    "\x02\x21\x4c\x18"sv,
    "\xff\x06\0\0sNaPpY"sv,  // snappy, its frames
    "LZIP"sv,
    "LRZI"sv,
    "\x89LZO\0\r\n\x1a\n"sv,
    "Rar!\x1a\x07"sv,
    "MSCF\0\0\0\0"sv,  // cab
    "ISc("sv,          // InstallShield's
    "MSWIM\0\0\0"sv,
    "xar!"sv,
    "070701"sv,  // cpio
    "070702"sv,
    "070707"sv,
    "\xed\xab\xee\xdb"sv,  // rpm
    "!<arch>\ndebian-binary"sv,
    "DWARFS\x02"sv,  // DwarFS, its sections; AppImages hold one
    "hsqs"sv,        // squashfs
    "sqsh"sv,
    "\x45\x3d\xcd\x28"sv,  // cramfs
    "-rom1fs-"sv,
    "XFSB"sv,
    "QFI\xfb"sv,  // disks of virtual machines
    "KDMV"sv,
    "vhdxfile"sv,
    "#!/usr/bin/env run-singularity"sv,  // Apptainer
    "\r\0\0\0\0\0\0\0nix-archive-1"sv,
};

bool is_bzip2(std::string_view text) {
  return text.size() >= 4 && starts_with(text, "BZh") && text[3] >= '1' && text[3] <= '9';
}

// What zstd and lz4 may have in front of their frames, as pzstd does.
bool is_skippable_frame(const Cursor& in) {
  constexpr std::uint32_t kFirst = 0x184d2a50;
  return (in.u32(0) & ~15U) == kFirst;
}

// compress(1): how many bits its codes have, 9 to 16, and whether they begin anew.
bool is_compress(const Cursor& in) {
  const unsigned bits = in.u8(2) & 0x1fU;
  return in.u16(0) == 0x9d1f && in.holds(0, 3) && (in.u8(2) & 0x60) == 0 && bits >= 9 && bits <= 16;
}

// lzma_alone: properties, the size of the dictionary, a power of two or a half more, and that of the rest.
bool is_lzma(const Cursor& in) {
  constexpr std::uint64_t kUnknown = UINT64_MAX, kMost = std::uint64_t{1} << 40;
  if (!in.holds(0, 14) || in.u8(0) != 0x5d || in.u8(13) != 0) return false;
  const std::uint32_t dictionary = in.u32(1);
  const auto power = [](std::uint32_t value) { return value != 0 && (value & (value - 1)) == 0; };
  const bool sane =
      dictionary >= 4096 && (power(dictionary) || (dictionary % 3 == 0 && power(dictionary / 3)));
  return sane && (in.u64(5) == kUnknown || in.u64(5) < kMost);
}

// cpio's first format: 13 numbers of 16 bits, the third the file's kind, the eleventh the size of its name.
bool is_old_cpio(const Cursor& in) {
  const std::uint64_t name = in.u16(20), kind = in.u16(6) >> 12;
  return in.u16(0) == 0x71c7 && (kind == 4 || kind == 8 || kind == 10) && name > 1 && name < 1024 &&
         in.holds(26, name) && in.u8(26 + name - 1) == 0 && in.u8(26) != 0;
}

bool is_tar(std::string_view text) {
  constexpr std::size_t kMagicAt = 257;
  return text.size() >= kMagicAt + 5 && text.substr(kMagicAt, 5) == "ustar";
}

// A partition of a known kind, in the table of the old kind or, by its own signature, the new one.
bool is_disk(const Cursor& in) {
  constexpr std::uint64_t kTable = 446, kPartition = 16;
  if (in.u16(510) != 0xaa55) return false;
  if (in.part(512, 8).text() == "EFI PART") return true;
  bool any = false;
  for (std::uint64_t at = kTable; at < 510; at += kPartition) {
    if ((in.u8(at) & 0x7f) != 0) return false;
    any |= in.u8(at + 4) != 0 && in.u32(at + 12) != 0;
  }
  return any && in.u8(0) != 0;
}

// ext2 to ext4, with an impossible size of blocks ruled out, and EROFS: both have their head at 1024.
bool is_file_system(const Cursor& in) {
  constexpr std::uint64_t kHead = 1024;
  const bool ext = in.u16(kHead + 56) == 0xef53 && in.u32(kHead) != 0 && in.u32(kHead + 24) <= 6 &&
                   in.u32(kHead + 76) <= 1;
  return ext || in.u32(kHead) == 0xe0f5e1e2;
}

bool holds_at(const ByteSource& source, std::uint64_t at, std::string_view text) {
  if (source.size() < at || source.size() - at < text.size()) return false;
  const auto bytes = read_bytes(source, at, text.size());
  return bytes && ByteView(*bytes).text() == text;
}

// Windows Installer keeps its packages in the format of many documents: the class of its root tells. That
// stands in the directory, whose sector the head names.
bool is_installer(const ByteSource& source, const Cursor& in) {
  constexpr std::string_view kMagic = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv;
  constexpr std::string_view kClass = "\x10\x0c\0\0\0\0\0\xc0\0\0\0\0\0\0\x46"sv;  // behind its first byte
  constexpr std::uint64_t kClassAt = 80;
  if (in.part(0, kMagic.size()).text() != kMagic || in.u16(30) > 12) return false;
  const std::uint64_t sector = (std::uint64_t{in.u32(48)} + 1) << in.u16(30);
  return holds_at(source, sector + kClassAt + 1, kClass);
}

// A shell script with an archive behind it: makeself's, conda's and NVIDIA's installers. A text has no such
// bytes.
bool is_script_with_more(const ByteSource& source, std::string_view text) {
  constexpr std::uint64_t kTail = 512;
  if (!starts_with(text, "#!")) return false;
  const std::uint64_t count = std::min(kTail, source.size());
  const auto tail = read_bytes(source, source.size() - count, count);
  return tail && std::any_of(tail->begin(), tail->end(), [](std::uint8_t byte) { return byte < 7; });
}

// What installers' programs have behind them: 7-Zip's text of settings, NSIS, Inno Setup, Nuitka.
bool is_payload(ByteView bytes) {
  constexpr std::string_view kPayloads[] = {";!@Install@!"sv, "zlb\x1a"sv, "idska32\x1a"sv,
                                            "KAY\x28\xb5\x2f\xfd"sv};
  const std::string_view text = bytes.text();
  return is_packed(bytes) || text.substr(std::min<std::size_t>(8, text.size()), 12) == "NullsoftInst" ||
         std::any_of(std::begin(kPayloads), std::end(kPayloads),
                     [&](std::string_view payload) { return starts_with(text, payload); });
}

// What PyInstaller ends its archive with, and a zip file its directory; a signature may follow.
constexpr std::string_view kCookie = "MEI\014\013\012\013\016"sv, kZipsEnd = "PK\5\6"sv;
bool ends_in(const ByteSource& source, std::uint64_t begin, std::uint64_t end, std::string_view text) {
  constexpr std::uint64_t kTail = std::uint64_t{64} * 1024;
  const std::uint64_t from = end - std::min(end - begin, kTail);
  const auto tail = read_bytes(source, from, end - from);
  return tail && ByteView(*tail).text().find(text) != std::string_view::npos;
}

// Sections that no loader reads are for tools, such as debuggers; of others a program may read its own, where
// it unpacks what begins there (staticx).
bool may_unpack(const Section& section) {
  constexpr std::string_view kOfTools[] = {".debug", ".zdebug", ".gnu_debugdata", ".gnu.lto_",
                                           ".gnu.debuglto"};
  return section.has_bytes && !section.loaded &&
         std::none_of(std::begin(kOfTools), std::end(kOfTools),
                      [&](std::string_view begin) { return starts_with(section.name, begin); });
}

std::optional<std::uint64_t> packed_in_section(const ByteSource& source, const HostObject& program) {
  int left = 64;  // each costs a read
  for (const Section& section : program.sections) {
    if (!may_unpack(section) || section.offset > source.size()) continue;
    if (left-- == 0) break;
    const std::uint64_t rest = std::min(section.size, source.size() - section.offset);
    const auto start = read_bytes(source, section.offset, std::min<std::uint64_t>(kPackedStart, rest));
    const bool is_zip = start && starts_with(ByteView(*start).text(), "PK\3\4");
    if (start && (is_zip || is_packed(ByteView(*start)))) return section.offset;
  }
  return std::nullopt;
}

}  // namespace

bool is_packed(ByteView start) {
  const std::string_view text = start.text();
  const Cursor in(start);
  return std::any_of(std::begin(kMagics), std::end(kMagics),
                     [&](std::string_view magic) { return starts_with(text, magic); }) ||
         is_bzip2(text) || is_compress(in) || is_lzma(in) || is_old_cpio(in) || is_tar(text) || is_disk(in) ||
         is_file_system(in) || is_skippable_frame(in) || is_zlib_stream(start, kPackedStart);
}

bool is_packed(const ByteSource& source) {
  constexpr std::uint64_t kIsoAt = 32'769, kUdfAt = 32'769, kBtrfsAt = 65'600, kDmgTrailer = 512;
  const auto start = read_bytes(source, 0, std::min<std::uint64_t>(kPackedStart, source.size()));
  if (!start) return false;
  const ByteView view(*start);
  return is_packed(view) || is_script_with_more(source, view.text()) || is_installer(source, Cursor(view)) ||
         holds_at(source, kIsoAt, "CD001") || holds_at(source, kUdfAt, "BEA01") ||
         holds_at(source, kBtrfsAt, "_BHRfS_M") ||
         (source.size() >= kDmgTrailer && holds_at(source, source.size() - kDmgTrailer, "koly\0\0\0\x04"sv));
}

std::optional<std::uint64_t> packed_in_program(const ByteSource& source, const HostObject& program) {
  const std::uint64_t size = source.size(), end = program.end;
  for (const Section& section : program.sections)
    if (section.name == "pydata" && section.has_bytes &&
        ends_in(source, section.offset, section.offset + section.size, kCookie))
      return section.offset;
  if (program.format == HostFormat::elf && program.linked)
    if (const auto at = packed_in_section(source, program)) return at;
  const bool is_pe = program.format == HostFormat::pe;
  const bool may_be_upx =
      is_pe ? std::any_of(program.sections.begin(), program.sections.end(),
                          [](const Section& section) { return starts_with(section.name, "UPX"); })
            : program.sections.empty();
  if (may_be_upx) {
    const auto start = read_bytes(source, 0, std::min<std::uint64_t>(kPackedStart, size));
    const std::size_t at = start ? ByteView(*start).text().find("UPX!") : std::string_view::npos;
    if (at != std::string_view::npos) return at;
  }
  if (end == 0 || end >= size) return std::nullopt;
  const auto bytes = read_bytes(source, end, std::min<std::uint64_t>(size - end, 2 * kPackedStart));
  if (!bytes) return std::nullopt;  // the file shrank: whoever reads images says so
  // Fills up to a multiple of the alignment.
  const auto first = std::find_if(bytes->begin(), bytes->end(), [](std::uint8_t byte) { return byte != 0; });
  const auto zeros = static_cast<std::size_t>(first - bytes->begin());
  for (const std::size_t at : {std::size_t{0}, zeros})
    if (at < bytes->size() && is_payload(ByteView{bytes->data() + at, bytes->size() - at})) return end + at;
  if (ends_in(source, end, size, kCookie)) return end;
  // A zip file that is cut, or has more behind it.
  const bool is_lost_zip =
      starts_with(ByteView(*bytes).text().substr(zeros), "PK\3\4") || ends_in(source, end, size, kZipsEnd);
  if (is_lost_zip && !has_zip_behind(source)) return end;
  if (holds_at(source, 8, "AI\x01") && holds_at(source, 32'769, "CD001")) return 32'768;  // AppImage 1
  return std::nullopt;
}

}  // namespace archguard
