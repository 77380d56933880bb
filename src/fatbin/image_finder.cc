#include "fatbin/image_finder.h"

#include <algorithm>

#include "base/text.h"
#include "elf/elf.h"
#include "fatbin/bare_image.h"
#include "fatbin/format.h"
#include "fatbin/nvvm_image.h"
#include "fatbin/tile_ir.h"
#include "host/elf_object.h"
#include "image/cubin.h"
#include "image/ptx_text.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kFinderWindow = std::size_t{64} * 1024, kAhead = 512;
// Of PTX: in which `.version` and `.target` must stand, and where comments above them are looked for.
constexpr std::size_t kFinderHead = 512, kHeadMost = std::size_t{4} * 1024, kCommentsMost = 1024;
constexpr std::size_t kStep = 1024;                                     // of a module that is read first
constexpr std::uint64_t kModuleMost = std::uint64_t{64} * 1024 * 1024;  // each part of a file may end in one
constexpr std::uint64_t kEntryHeaderSeen = 256;                         // the largest seen has 144 bytes

Error at_offset(std::uint64_t offset, std::string what) {
  return Error{hex(offset), std::move(what), {}};
}

// The header that every cubin has: little-endian, version 1, zeros up to the end of e_ident, and sizes of a
// header and a section's header that go with its class.
bool is_cubin_header(ByteView start) {
  const Cursor in(start);
  const bool is64 = in.u8(4) == 2;
  if (!has_elf_magic(start) || (!is64 && in.u8(4) != 1) || in.u8(5) != 1 || in.u8(6) != 1) return false;
  for (std::uint64_t i = 9; i < 16; ++i)
    if (in.u8(i) != 0) return false;
  const std::uint64_t sizes_at = is64 ? 52 : 40;
  return in.u16(18) == kElfMachineCuda && in.u16(sizes_at) == (is64 ? 64 : 52) &&
         in.u16(sizes_at + 6) == (is64 ? 64 : 40);
}

// The end of a table or section, within the cubin; nothing where it overflows.
void extend(std::uint64_t& size, std::uint64_t offset, std::uint64_t count) {
  size = std::max(size, offset > UINT64_MAX - count ? UINT64_MAX : offset + count);
}

bool is_text(std::uint8_t byte) {
  return (byte >= ' ' && byte != 0x7f) || (byte >= '\t' && byte <= '\r');
}

constexpr std::string_view kBlanks = " \t\r\f\v";  // within a line

bool is_blank_line(std::string_view line) {
  const auto first = line.find_first_not_of(kBlanks);
  return first == std::string_view::npos || starts_with(line.substr(first), "//");
}

// Is what follows this in its line a part of a comment, or of a text with escapes?
bool is_comment(std::string_view line) {
  line = trim(line);
  const bool begins = starts_with(line, "//") || starts_with(line, "/*") || starts_with(line, "*");
  return begins || ends_with(line, "//") || ends_with(line, "/*") || ends_with(line, "\\");
}

// `.version X.Y`, `.target sm_N`: both with what they say, and not a template of it.
bool is_head_of_module(std::string_view text) {
  const PtxHead head = read_ptx_head(text);
  return parse_version(head.version) && parse_ptx_target(head.target).has_value();
}

}  // namespace

ImageFinder::ImageFinder(const ByteSource& source)
    : source_(source), in_(source, kFinderWindow, kAhead), text_(source, kFinderWindow, kFinderWindow) {}

Result<std::optional<Fatbin>> ImageFinder::cubin_at(std::uint64_t at, std::uint64_t end) {
  const auto none = [] { return Result<std::optional<Fatbin>>(std::nullopt); };
  if (end - at < kElfHeaderMost) return none();
  const auto start = in_.at(at, kElfHeaderMost);
  if (!start || !is_cubin_header(*start)) return none();
  const auto header = parse_elf_header(*start);
  if (!header || header->sections_offset == 0 || header->section_count == 0) return none();

  const std::string cubin = "a cubin among the data of the file ";
  std::uint64_t size = 0;
  extend(size, header->sections_offset, header->section_count * header->section_size);
  if (header->segment_count != 0)
    extend(size, header->segments_offset, header->segment_count * header->segment_size);
  if (size > end - at)
    return at_offset(at,
                     cubin + "needs " + count_of(size, "byte") + ", " + std::to_string(end - at) + " remain");
  for (std::uint64_t i = 1; i < header->section_count; ++i) {
    const std::uint64_t section_at = at + header->sections_offset + i * header->section_size;
    const auto bytes = in_.at(section_at, static_cast<std::size_t>(header->section_size));
    if (!bytes) return at_offset(section_at, bytes.error().what);
    const ElfSection section = parse_elf_section(*header, *bytes);
    const bool own = section.type >= kElfMachineTypes && section.type != kElfCompat;
    if (section.type == 0 || section.type == kElfNoBits || own) continue;
    extend(size, section.offset, section.size);
  }
  if (size > end - at)
    return at_offset(at,
                     cubin + "needs " + count_of(size, "byte") + ", " + std::to_string(end - at) + " remain");

  const PartSource part(source_, at, size);
  HostObject object;
  std::vector<Error> errors;
  read_elf_object(part, {}, object, errors);
  if (!errors.empty()) return at_offset(at, cubin + "is damaged: " + errors.front().what);
  auto fatbin = read_bare_cubin(part, object);
  if (!fatbin) return at_offset(at, cubin + "is damaged: " + fatbin.error().what);
  fatbin->relocatable = is_relocatable_cubin(header->type);  // for a linker that the program calls
  return std::optional(place(std::move(*fatbin), at));
}

std::optional<Fatbin> ImageFinder::nvvm_at(std::uint64_t at, std::uint64_t end) {
  const auto bytes = in_.at(at, static_cast<std::size_t>(std::min<std::uint64_t>(end - at, kNvvmHead)));
  auto fatbin = bytes ? read_nvvm_head(*bytes) : std::nullopt;
  if (fatbin) return place(std::move(*fatbin), at);
  return std::nullopt;
}

std::optional<Fatbin> ImageFinder::tile_ir_at(std::uint64_t at, std::uint64_t end) {
  const auto size = size_of_tile_ir(in_, at, end);
  if (!size) return std::nullopt;
  FatbinEntry entry;
  entry.kind = EntryKind::other;
  entry.kind_code = kKindTileIr;
  entry.unknown = kTileIrUnknown;
  entry.stored_size = entry.uncompressed_size = *size;
  Fatbin fatbin;
  fatbin.size = *size;
  fatbin.entries.push_back(std::move(entry));
  return place(std::move(fatbin), at);
}

bool ImageFinder::is_head(std::uint64_t at, std::uint64_t end) {
  for (const std::size_t most : {kFinderHead, kHeadMost}) {
    const auto head = text_.at(at, static_cast<std::size_t>(std::min<std::uint64_t>(most, end - at)));
    if (!head) return false;
    if (is_head_of_module(head->text())) return true;
    if (!parse_version(read_ptx_head(head->text()).version)) return false;
  }
  return false;
}

ImageFinder::Ptx ImageFinder::ptx_at(std::uint64_t begin, std::uint64_t at, std::uint64_t end) {
  const Ptx none{std::nullopt, std::nullopt, at + 1};
  std::uint64_t start = at;
  if (!is_head(at, end)) return none;
  const Before before = stands_before(begin, at, start);
  if (before == Before::comment) return none;

  PtxEnd module;
  bool ended = false;
  const std::uint64_t stop = std::min(end, start + kModuleMost);
  std::uint64_t next = start;
  for (std::size_t step = kStep; next < stop && !ended; step = std::min(step * 4, kFinderWindow)) {
    const std::uint64_t count = std::min<std::uint64_t>(step, stop - next);
    const auto bytes = text_.at(next, static_cast<std::size_t>(count));
    if (!bytes) return none;  // the file shrank: whoever reads images says so
    ended = module.take(bytes->text());
    next += count;
  }
  const bool whole = module.whole() && (ended || stop == end);
  const std::uint64_t behind = std::max(start + module.size(), at + 1);
  const std::uint64_t zeros = start + module.size();
  if (!whole && module.terminated() && is_hole(module.begun(), start, zeros, end))
    return {std::nullopt,
            Error{hex(zeros),
                  count_of(zeros - start, "byte") + " behind the beginning of PTX, zeros stand in it: they "
                                                    "were written over it, unless the program fills them in",
                  "build it again, or copy it whole"},
            behind};
  // The beginning of a text that a program completes when it runs.
  if (!whole &&
      (before == Before::quote || module.terminated() || (!module.begun() && module.size() < kHeadMost)))
    return {std::nullopt, std::nullopt, behind};
  auto fatbin = read_bare_ptx(PartSource(source_, start, behind - start));
  if (!fatbin) return none;
  if (!whole) fatbin->entries[0].unknown = "its end is not found";
  // The program may hand it over, and drivers differ in whether they take it.
  if (before == Before::marker) fatbin->entries[0].unknown = "a line marker stands before it";
  if (follows_byte_order_mark(begin, start))
    fatbin->entries[0].unknown = "a byte order mark stands before it";
  return {place(std::move(*fatbin), start), std::nullopt, behind};
}

// Is it a hole, over the text of the module from `start` on that breaks off there? Its text goes on behind
// it, or NVIDIA's compiler wrote it and it had begun: a head alone somebody may have cut off, for a program
// to complete. Of texts that stand one behind the other fewer zeros fill up to where the next one begins.
bool ImageFinder::is_hole(bool begun, std::uint64_t start, std::uint64_t at, std::uint64_t end) {
  constexpr std::uint64_t kZerosLeast = 128, kZerosMost = std::uint64_t{64} << 10;
  constexpr std::size_t kText = 512;
  constexpr std::string_view kCompiler = "// Generated by NVIDIA NVVM Compiler";
  std::uint64_t next = at;
  for (const std::uint64_t stop = std::min(end, at + kZerosMost); next < stop;) {
    const auto bytes = text_.at(next, static_cast<std::size_t>(std::min<std::uint64_t>(kStep, stop - next)));
    if (!bytes) return false;
    const auto text = bytes->text().find_first_not_of('\0');
    next += std::min(text, bytes->size);
    if (text != std::string_view::npos) break;
  }
  if (next - at < kZerosLeast) return false;
  const auto head = text_.at(start, static_cast<std::size_t>(std::min<std::uint64_t>(kText, at - start)));
  if (begun && head && head->text().find(kCompiler) != std::string_view::npos) return true;
  if (next >= end) return false;
  const auto bytes = text_.at(next, static_cast<std::size_t>(std::min<std::uint64_t>(kText, end - next)));
  if (!bytes) return false;
  const std::string_view text = bytes->text().substr(0, bytes->text().find('\0'));
  return text.find(";\n") != std::string_view::npos && text.find('%') != std::string_view::npos;
}

// Does a byte order mark stand before the text, or before the lines of comments above it?
bool ImageFinder::follows_byte_order_mark(std::uint64_t begin, std::uint64_t module) {
  constexpr std::string_view kMark = "\xef\xbb\xbf", kComment = "//";
  constexpr std::uint64_t kBack = 1024;
  const std::uint64_t count = std::min(module - begin, kBack);
  const auto bytes = text_.at(module - count, static_cast<std::size_t>(count));
  if (!bytes) return false;
  const std::string_view text = bytes->text();
  const auto mark = text.rfind(kMark);
  if (mark == std::string_view::npos) return false;
  std::string_view above = text.substr(mark + kMark.size());
  while (!above.empty()) {
    const std::string_view line = above.substr(0, above.find('\n'));
    if (!starts_with(line, kComment) && line.find_first_not_of(" \t\r") != std::string_view::npos)
      return false;
    above.remove_prefix(std::min(above.size(), line.size() + 1));
  }
  return true;
}

Fatbin ImageFinder::place(Fatbin fatbin, std::uint64_t at) {
  fatbin.bare = true;
  fatbin.offset = fatbin.entries[0].offset = fatbin.entries[0].payload_offset = at;
  fatbin.orphan = is_payload(at, fatbin.size);
  return fatbin;
}

// Does an entry's header stand before it, of which it is the payload?
bool ImageFinder::is_payload(std::uint64_t at, std::uint64_t size) {
  const std::uint64_t before = std::min(at, kEntryHeaderSeen);
  const auto bytes = in_.at(at - before, static_cast<std::size_t>(before));
  if (!bytes) return false;
  const Cursor in(*bytes);
  for (std::uint64_t header = kEntryFieldsSize; header <= before; header += 8) {
    const std::uint64_t begin = before - header;
    if (in.u16(begin + kEntryVersionAt) == kEntryVersion && in.u32(begin + kEntryHeaderSizeAt) == header &&
        in.u64(begin + kPayloadSizeAt) >= size)
      return true;
  }
  return false;
}

// What stands before it in its line, or right above that. Texts of Rust have no end and stand one behind the
// other; but behind a blank, a quote or a bracket only a whole module is none that a message speaks of.
// `start` becomes the beginning of the blank lines and comments above it: nvcc's tell the toolkit.
ImageFinder::Before ImageFinder::stands_before(std::uint64_t begin, std::uint64_t at, std::uint64_t& start) {
  const std::uint64_t from = at - std::min<std::uint64_t>(at - begin, kCommentsMost);
  const auto bytes = text_.at(from, static_cast<std::size_t>(at - from));
  if (!bytes) return Before::comment;  // the file shrank: whoever reads images says so
  std::string_view above = bytes->text();
  std::size_t text = above.size();
  while (text != 0 && is_text(static_cast<std::uint8_t>(above[text - 1]))) --text;
  const bool cut = text == 0 && from != begin;  // the first line is not known whole
  above.remove_prefix(text);

  const std::size_t own = above.rfind('\n') + 1;  // 0 where there is none
  const std::string_view own_line = above.substr(own);
  if (own_line.find_first_not_of(kBlanks) != std::string_view::npos) {
    constexpr std::string_view kBeforeQuoted = " \t\r\f\v\"'`([<{";
    if (is_comment(own_line)) return Before::comment;
    return kBeforeQuoted.find(above.back()) == std::string_view::npos ? Before::text : Before::quote;
  }
  if (own == 0 && cut) return Before::comment;
  start = at - (above.size() - own);
  above = above.substr(0, own);
  while (!above.empty()) {  // ends with the newline of the line above
    const std::string_view body = above.substr(0, above.size() - 1);
    const std::size_t line = body.rfind('\n') + 1;
    if (line == 0 && cut) break;
    if (size_of_line_marker(above.substr(line)) != 0) return Before::marker;
    if (!is_blank_line(body.substr(line))) break;
    start -= above.size() - line;
    above = above.substr(0, line);
  }
  return Before::nothing;
}

}  // namespace archguard::fatbin
