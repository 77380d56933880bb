#include "fatbin/other_file.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/preflight_format.h"
#include "base/printable.h"
#include "base/text.h"
#include "elf/elf.h"
#include "fatbin/format.h"
#include "host/archive_stream.h"
#include "host/host_file.h"
#include "host/packed.h"

namespace archguard {
namespace {

// In letters of either case: Windows has X.DLL as well.
template <std::size_t kCount>
bool ends_with_any(std::string_view name, const std::string_view (&suffixes)[kCount]) {
  const std::string lower = to_lower(name);
  return std::any_of(std::begin(suffixes), std::end(suffixes),
                     [&](std::string_view suffix) { return ends_with(lower, suffix); });
}

// A module of WebAssembly, as Pyodide's packages have them under the name of a library.
bool is_wasm(ByteView start) {
  constexpr std::string_view kMagic("\0asm", 4);
  return starts_with(start.text(), kMagic);
}

// What macOS puts beside a file in an archive ("._libx.so", AppleDouble), a link of Cygwin's, and a script,
// also one that carries a program.
bool is_of_other_systems(ByteView start) {
  constexpr std::string_view kAppleDouble("\0\5\x16\7", 4);
  const std::string_view text = start.text();
  return starts_with(text, kAppleDouble) || starts_with(text, "!<symlink>") || starts_with(text, "#!");
}

// UTF-8 without control characters, whose end may be cut; or an older encoding such as Latin-1, of which few
// bytes are no ASCII.
bool is_plain_text(std::string_view text) {
  constexpr std::size_t kLetterMost = 4, kAsciiToEachOther = 3;
  constexpr unsigned char kFirstOfLatin1 = 0xa0;
  std::size_t others = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool control = byte < 0x20 && (byte < 0x09 || byte > 0x0d) && byte != 0x1b;
    const std::size_t length = utf8_length(text.substr(at));
    const bool other = length == 0 && text.size() - at >= kLetterMost;
    if (control || (other && byte < kFirstOfLatin1)) return false;
    others += other ? 1 : 0;
    at += std::max<std::size_t>(length, 1);
  }
  return others <= text.size() / (kAsciiToEachOther + 1);
}

// Of a linker's script that stands for a library (GNU ld, "Linker Scripts": "Commands Dealing with Files").
constexpr std::string_view kScriptBlanks = " \t\r\n";
constexpr std::string_view kScriptWords[] = {"INPUT",         "GROUP",  "AS_NEEDED",
                                             "OUTPUT_FORMAT", "TARGET", "EXTERN"};

constexpr std::size_t kZerosOfImage = 16, kZerosOfBlock = 512;

bool begins_with_zeros(ByteView start, std::size_t least) {
  return start.size >= least && are_zeros({start.data, least});
}

bool is_called_in(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto behind = text.find_first_not_of(kScriptBlanks, at + word.size());
    if (behind != std::string_view::npos && text[behind] == '(') return true;
  }
  return false;
}

// A fat binary begins with 50 ed 55 ba. What took it for text made U+FFFD of what is no UTF-8 (resource
// filtering of Maven, Python's errors="replace"), or turned Latin-1 into UTF-8.
bool is_fatbin_as_text(ByteView start) {
  return starts_with(start.text(), "P\xef\xbf\xbdU\xef\xbf\xbd") ||
         starts_with(start.text(), "P\xc3\xadU\xc2\xba");
}

bool is_web_page(std::string_view text) {
  const std::string start = to_lower(trim(text.substr(0, 64)));
  return starts_with(start, "<!doctype") || starts_with(start, "<html") || starts_with(start, "<?xml");
}

// What a server says in place of a library: a page, JSON, a line such as "Entry not found". A text with the
// name of a library is a script for linkers else, a page of a manual (ld.so.8), or the path that Git for
// Windows writes in place of a link.
bool is_answer_of_server(std::string_view name, std::string_view text) {
  constexpr std::size_t kLineMost = 256;
  if (text.empty()) return false;
  if (text[0] == '<' || text[0] == '{' || text[0] == '[') return true;
  if (to_lower(name).find(".so") == std::string::npos || text.size() > kLineMost || text[0] == '.' ||
      text.find_first_of("\r\n") != std::string_view::npos)
    return false;
  const bool script = std::any_of(std::begin(kScriptWords), std::end(kScriptWords),
                                  [&](std::string_view word) { return is_called_in(text, word); });
  const bool path = text.find_first_of(kScriptBlanks) == std::string_view::npos &&
                    (text.find('/') != std::string_view::npos || text.find(".so") != std::string_view::npos);
  return !script && !path;
}

// OCI image layout: "blobs/sha256/<digest>".
bool is_blob_of_image(std::string_view name) {
  constexpr std::string_view kBlobs = "blobs/sha256/";
  constexpr std::size_t kDigest = 64;
  return name.size() >= kBlobs.size() + kDigest &&
         starts_with(name.substr(name.size() - kDigest - kBlobs.size()), kBlobs);
}

bool is_named_like_zip(std::string_view name) {
  constexpr std::string_view kZips[] = {".zip", ".jar",   ".war",  ".ear", ".aar", ".egg",
                                        ".whl", ".nupkg", ".vsix", ".apk", ".pyz"};
  return ends_with_any(name, kZips);
}

}  // namespace

bool is_named_like_image(std::string_view name) {
  constexpr std::string_view kImages[] = {".fatbin", ".cubin", ".ptx"};
  return ends_with_any(name, kImages);
}

bool is_named_like_program(std::string_view name) {
  constexpr std::string_view kPrograms[] = {".dll",  ".exe",    ".pyd",    ".whl", ".dylib",
                                            ".node", ".mexa64", ".mexw64", ".xll", ".ocx"};
  const std::string lower = to_lower(name);
  const auto so = lower.rfind(".so");
  return ends_with_any(name, kPrograms) ||
         (so != std::string::npos && lower.find_first_not_of("0123456789.", so + 3) == std::string::npos);
}

bool is_named_like_object(std::string_view name) {
  constexpr std::string_view kObjects[] = {".a", ".lib", ".o", ".obj"};
  return ends_with_any(name, kObjects);
}

bool is_named_like_archive(std::string_view name) {
  constexpr std::string_view kArchives[] = {
      ".tar",    ".tgz",   ".taz",    ".tbz",     ".tbz2",   ".txz",      ".tlz",     ".tzst",
      ".tar.gz", ".tar.z", ".tar.xz", ".tar.bz2", ".tar.lz", ".tar.lzma", ".tar.zst", ".tar.lz4",
      ".cpio",   ".deb",   ".udeb",   ".ipk",     ".rpm",    ".conda",    ".crate"};
  return ends_with_any(name, kArchives);
}

bool is_named_like_tar(std::string_view name) {
  constexpr std::string_view kTars[] = {".tar"};
  return ends_with_any(name, kTars);
}

bool is_searched(std::string_view name, ByteView start, std::uint64_t size, bool any_size) {
  if (is_named_like_archive(name)) return false;  // damaged: what is packed in it would not be found
  constexpr std::uint64_t kMost = std::uint64_t{4} << 20;
  constexpr std::string_view kNames[] = {".engine", ".plan", ".trt", ".pkl", ".pickle", ".nbc", ".nbi"};
  const bool promises = is_named_like_program(name);  // and begins as none
  if (size > kMost && !any_size && !promises && !is_named_like_image(name) && !ends_with_any(name, kNames))
    return false;
  return (promises || start.text().find('\0') != std::string_view::npos) && !is_bitcode(start) &&
         !is_msvc_gl(start) && !is_packed(start) && !is_preflight_table(start, size);
}

bool is_named_like_binary(std::string_view name) {
  return is_named_like_image(name) || is_named_like_program(name) || is_named_like_object(name);
}

bool is_lost_binary(std::string_view name, ByteView start) {
  if (is_named_like_image(name)) return true;
  const bool promises = is_named_like_program(name);
  if (!promises && !is_named_like_object(name)) return false;
  if (promises && is_packed(start)) return !is_named_like_zip(name);  // as it was sent: no loader takes it
  if (!promises &&
      ((start.size >= kZerosOfImage && are_zeros(start)) || begins_with_zeros(start, kZerosOfBlock)))
    return true;  // empty on purpose some objects are, zeros none
  if (is_git_lfs_pointer(start) || is_git_annex_pointer(start)) return true;
  const std::string_view text = without_byte_order_mark(start.text());
  if (!promises) return is_web_page(text);
  if (start.size == 0 && is_named_like_zip(name)) return false;  // scipy has one in its wheel
  if (is_bitcode(start) || is_wasm(start) || is_of_other_systems(start)) return false;
  return start.size < 4 || !is_plain_text(text) || is_answer_of_server(name, trim(text));
}

bool is_lost_member(std::string_view name, ByteView start) {
  constexpr std::size_t kMagic = 4, kHead = 20;
  if (!is_named_like_object(name)) return false;
  if (start.size >= kHead && are_zeros({start.data + kMagic, kHead - kMagic})) return true;
  // An object of Go's own format begins with text, which may be long: what cgo was told.
  return is_plain_text(start.text()) && !starts_with(start.text(), "go object ");
}

bool is_lost_archive(std::string_view name, ByteView start) {
  return is_named_like_archive(name) && start.size != 0 && !is_packed(start);
}

bool is_tar_of_nothing(std::string_view name, const ByteSource& bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{64} << 10;  // more are a download that was never filled
  return is_named_like_tar(name) && bytes.size() <= kMost && is_tar_of_nothing(bytes);
}

bool has_lost_start(std::string_view name, ByteView start) {
  if (is_named_like_program(name) || is_named_like_object(name) || is_named_like_zip(name)) return true;
  constexpr std::string_view kTexts[] = {".ptx"};  // the driver is given all of it
  if (ends_with_any(name, kTexts)) return true;
  // What curl -i writes, and a tool that took it for text: no loader and no driver takes that.
  if (starts_with(start.text(), "HTTP/") || without_byte_order_mark(start.text()).size() != start.size)
    return true;
  // Some images have a head of a program's own, and data may begin with a few zeros.
  if (is_named_like_image(name) && (begins_with_zeros(start, kZerosOfImage) || is_fatbin_as_text(start)))
    return true;
  const auto slash = name.rfind('/');
  const std::string_view file = name.substr(slash == std::string_view::npos ? 0 : slash + 1);
  return file.find('.') == std::string_view::npos &&
         begins_with_zeros(start, kZerosOfBlock);  // a program of Linux
}

bool has_lost_elf_header(const ByteSource& source) {
  constexpr std::uint64_t kBlock = std::uint64_t{256} << 10;
  const std::string name(fatbin::kRegistrationSection, std::strlen(fatbin::kRegistrationSection) + 1);
  bool found = false;
  for (std::uint64_t at = 0; at < source.size(); at += kBlock - kElfHeaderMost) {
    const auto bytes = read_bytes(source, at, std::min(kBlock, source.size() - at));
    if (!bytes) return false;  // whoever reads images says so
    const std::string_view text = ByteView(*bytes).text();
    for (auto magic = text.find("\177ELF"); magic != std::string_view::npos;
         magic = text.find("\177ELF", magic + 1)) {
      const ByteView start(bytes->data() + magic, std::min(kElfHeaderMost, bytes->size() - magic));
      const auto header = parse_elf_header(start);
      if (header && header->machine != kElfMachineCuda) return false;
    }
    found |= text.find(name) != std::string_view::npos;
    if (bytes->size() < kBlock) break;
  }
  return found;
}

std::optional<UnreadKind> unread_kind(std::string_view name, ByteView start) {
  constexpr std::string_view kBeginnings[] = {"\177ELF", "!<arch>\n", "!<thin>\n"};  // or nothing of them
  if (is_named_like_object(name) &&
      std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                  [&](std::string_view whole) { return starts_with(whole, start.text()); }))
    return UnreadKind::no_object;
  if (is_git_lfs_pointer(start) || is_git_annex_pointer(start)) return UnreadKind::pointer;
  if (is_bitcode(start) && is_named_like_object(name)) return UnreadKind::bitcode;
  if (is_msvc_gl(start)) return UnreadKind::gl;
  if (starts_with(start.text(), fatbin::kTileIrMagic)) return UnreadKind::tile_ir;
  if (is_packed(start)) return is_blob_of_image(name) ? UnreadKind::image_layer : UnreadKind::packed;
  if (!is_named_like_archive(name) && !is_named_like_zip(name)) return std::nullopt;
  return may_be_archive_stream(start) ? UnreadKind::packed : UnreadKind::lost_archive;
}

}  // namespace archguard
