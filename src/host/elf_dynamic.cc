#include "host/elf_dynamic.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "base/text.h"
#include "elf/elf.h"
#include "io/window.h"

namespace archguard {
namespace {

// The loader reads segments, never sections. A program header: type, offset in the file, address, size in the
// file. PT_DYNAMIC is an array of (tag, value), ended by DT_NULL. The texts are offsets into one table, whose
// address and size two of the entries tell; an address is found in the file through the PT_LOAD that holds
// it.
constexpr std::uint32_t kLoad = 1, kDynamic = 2, kInterpreter = 3, kNote = 4;
constexpr std::uint64_t kDynamicEnd = 0, kNeeded = 1, kTextTable = 5, kTextSize = 10, kSoname = 14,
                        kRpath = 15, kBindNowTag = 24, kRunpath = 29, kFlags = 30, kFlags1 = 0x6ffffffb;
// Libraries that serve in this one's place, `ld -f` and `ld -F`: the loader loads them, too.
constexpr std::uint64_t kAuxiliary = 0x7ffffffd, kFilter = 0x7fffffff;
constexpr std::uint64_t kCallsSize = 2, kHash = 4, kSymbolTable = 6, kRela = 7, kRelaSize = 8, kRel = 17,
                        kRelSize = 18, kCallsKind = 20, kCalls = 23, kGnuHash = 0x6ffffef5;
constexpr std::uint64_t kNoDefaultFolders = 0x800;               // DF_1_NODEFLIB
constexpr std::uint64_t kBindNow = 0x8, kBindNowOfFlags1 = 0x1;  // DF_BIND_NOW, DF_1_NOW

constexpr std::size_t kDynamicWindow = std::size_t{64} * 1024;
constexpr std::size_t kDynamicTextMost = std::size_t{32} * 1024;
constexpr std::uint64_t kNotesMost = 4096;                   // of one segment
constexpr std::uint64_t kEntriesMost = 10'000;               // limits on time and memory
constexpr std::size_t kNeededMost = 4096;                    // the largest seen: some 200
constexpr std::size_t kNamesMost = std::size_t{256} * 1024;  // bytes of all their names

constexpr std::uint64_t kTableTags[] = {kCallsSize, kHash,    kSymbolTable, kRela,  kRelaSize,
                                        kRel,       kRelSize, kCallsKind,   kCalls, kGnuHash};

struct Segment {
  std::uint32_t type = 0;
  std::uint64_t offset = 0, address = 0, size = 0;
};

class DynamicReader {
 public:
  explicit DynamicReader(const ByteSource& source) : source_(source), in_(source, kDynamicWindow, 4096) {}

  Result<std::optional<ElfDynamic>> read() {
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(kElfHeaderMost, source_.size()));
    ARCHGUARD_TRY(start, in_.at(0, most));
    if (!has_elf_magic(start)) return std::optional<ElfDynamic>();
    ARCHGUARD_TRY(header, parse_elf_header(start));
    out_.is64 = header.is64;
    out_.machine = header.machine;
    if (header.type != kElfRelocatable) {
      ARCHGUARD_CHECK(read_segments(header));
      ARCHGUARD_CHECK(read_entries());
      out_.shared = header.type == kElfShared && out_.interpreter.empty();
    }
    return std::optional<ElfDynamic>(std::move(out_));
  }

 private:
  Status read_segments(const ElfHeader& header) {
    const std::uint64_t size = header.is64 ? 56 : 32;
    if (header.segment_count == 0) return Done{};
    if (header.segment_size != size)
      return Error{{},
                   "ELF program headers must have " + std::to_string(size) + " bytes, found " +
                       std::to_string(header.segment_size),
                   {}};
    for (std::uint64_t i = 0; i < header.segment_count; ++i) {
      ARCHGUARD_TRY(bytes, in_.at(header.segments_offset + i * size, static_cast<std::size_t>(size)));
      const Cursor at(bytes);
      Segment segment;
      segment.type = at.u32(0);
      segment.offset = header.is64 ? at.u64(8) : at.u32(4);
      segment.address = header.is64 ? at.u64(16) : at.u32(8);
      segment.size = header.is64 ? at.u64(32) : at.u32(16);
      if (segment.type == kLoad) loaded_.push_back(segment);
      if (segment.type == kDynamic) dynamic_ = segment;
      if (segment.type == kNote && out_.build_id.empty() && segment.size <= kNotesMost) {
        if (const auto notes = in_.at(segment.offset, static_cast<std::size_t>(segment.size)))
          out_.build_id = build_id_in(*notes).text();
      }
      if (segment.type == kInterpreter && segment.size != 0) {  // 0 where only debug information was kept
        const ElfPlace place{segment.offset, segment.size};
        ARCHGUARD_TRY(text, text_at(place, 0, "name of the loader"));
        out_.interpreter = std::move(text);
      }
    }
    return Done{};
  }

  Status read_entries() {
    const std::uint64_t size = out_.is64 ? 16 : 8;
    if (dynamic_.size / size > kEntriesMost)
      return Error{{}, "dynamic section has " + count_of(dynamic_.size / size, "entry", "entries"), {}};
    std::vector<std::uint64_t> needed, auxiliary;
    std::optional<std::uint64_t> soname, rpath, runpath, table, table_size;
    std::map<std::uint64_t, std::uint64_t> values;  // of kTableTags
    for (std::uint64_t at = 0; at + size <= dynamic_.size; at += size) {
      ARCHGUARD_TRY(bytes, in_.at(dynamic_.offset + at, static_cast<std::size_t>(size)));
      const Cursor entry(bytes);
      const std::uint64_t tag = out_.is64 ? entry.u64(0) : entry.u32(0);
      const std::uint64_t value = out_.is64 ? entry.u64(8) : entry.u32(4);
      if (tag == kDynamicEnd) break;
      if (tag == kNeeded || tag == kFilter) needed.push_back(value);
      if (tag == kAuxiliary) auxiliary.push_back(value);
      if (tag == kSoname) soname = value;
      if (tag == kRpath) rpath = value;
      if (tag == kRunpath) runpath = value;
      if (tag == kTextTable) table = value;
      if (tag == kTextSize) table_size = value;
      if (std::find(std::begin(kTableTags), std::end(kTableTags), tag) != std::end(kTableTags))
        values[tag] = value;
      if (tag == kFlags1) out_.no_default_folders = (value & kNoDefaultFolders) != 0;
      out_.binds_now |= tag == kBindNowTag || (tag == kFlags && (value & kBindNow) != 0) ||
                        (tag == kFlags1 && (value & kBindNowOfFlags1) != 0);
    }
    find_tables(values, table.value_or(0), table_size.value_or(0));
    if (const std::size_t all = needed.size() + auxiliary.size(); all > kNeededMost)
      return Error{{}, "needs " + std::to_string(all) + " libraries, at most 4096 are followed", {}};
    if (needed.empty() && auxiliary.empty() && !soname && !rpath && !runpath) return Done{};
    if (!table || !table_size) return Error{{}, "dynamic section names no table of texts", {}};
    ARCHGUARD_TRY(texts, place_of(*table, *table_size));
    ARCHGUARD_CHECK(read_names(texts, needed, out_.needed));
    ARCHGUARD_CHECK(read_names(texts, auxiliary, out_.auxiliary));
    const std::pair<std::optional<std::uint64_t>, std::string*> others[] = {
        {soname, &out_.soname}, {rpath, &out_.rpath}, {runpath, &out_.runpath}};
    for (const auto& [offset, text] : others) {
      if (!offset) continue;
      ARCHGUARD_TRY(read, text_at(texts, *offset, "text of the dynamic section"));
      *text = std::move(read);
    }
    return Done{};
  }

  // A table that stands in no segment is left out: the loader would not get far.
  void find_tables(const std::map<std::uint64_t, std::uint64_t>& values, std::uint64_t texts,
                   std::uint64_t texts_size) {
    const auto value = [&](std::uint64_t tag) {
      const auto found = values.find(tag);
      return found == values.end() ? 0 : found->second;
    };
    const auto place = [&](std::uint64_t address, std::uint64_t size) {
      auto found = address == 0 ? Result<ElfPlace>(ElfPlace{}) : place_of(address, size);
      return found ? *found : ElfPlace{};
    };
    constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};
    ElfTables& tables = out_.tables;
    tables.is64 = out_.is64;
    tables.symbols = place(value(kSymbolTable), kToTheEnd);
    tables.texts = place(texts, texts_size);
    tables.hash = place(value(kHash), kToTheEnd);
    tables.gnu_hash = place(value(kGnuHash), kToTheEnd);
    const std::uint64_t calls = value(kCalls), calls_size = value(kCallsSize);
    // Some linkers count the relocations of calls among the others, at their end: so glibc takes them.
    const auto without_calls = [&](std::uint64_t address, std::uint64_t size) {
      return calls_size <= size && calls != 0 && address + size == calls + calls_size ? size - calls_size
                                                                                      : size;
    };
    for (const auto& [table, size, with_addend] :
         {std::tuple{kRela, kRelaSize, true}, std::tuple{kRel, kRelSize, false}})
      if (const std::uint64_t address = value(table); address != 0)
        tables.relocations.push_back(
            {place(address, without_calls(address, value(size))), with_addend, false});
    if (calls != 0)
      tables.relocations.push_back({place(calls, calls_size), value(kCallsKind) == kRela, true});
  }

  Status read_names(const ElfPlace& texts, const std::vector<std::uint64_t>& offsets,
                    std::vector<std::string>& out) {
    for (const std::uint64_t offset : offsets) {
      ARCHGUARD_TRY(name, text_at(texts, offset, "name of a needed library"));
      if (name.empty()) return Error{{}, "needs a library without a name", {}};
      names_size_ += name.size();
      if (names_size_ > kNamesMost)
        return Error{{}, "needs libraries whose names take more than 256 KiB", {}};
      out.push_back(std::move(name));
    }
    return Done{};
  }

  // Where bytes of memory stand in the file.
  Result<ElfPlace> place_of(std::uint64_t address, std::uint64_t size) const {
    for (const Segment& segment : loaded_) {
      if (address < segment.address || address - segment.address >= segment.size) continue;
      const std::uint64_t within = address - segment.address;
      return ElfPlace{segment.offset + within, std::min(size, segment.size - within)};
    }
    return Error{
        {}, "dynamic section's table of texts, at address " + hex(address) + ", is in no segment", {}};
  }

  Result<std::string> text_at(const ElfPlace& table, std::uint64_t offset, const char* what) {
    const std::uint64_t file_size = source_.size();
    const std::uint64_t start = table.offset + offset;
    const bool inside = offset < table.size && start >= table.offset && start < file_size;
    const std::uint64_t remain = inside ? std::min(table.size - offset, file_size - start) : 0;
    if (remain != 0) {
      ARCHGUARD_TRY(
          view, in_.at(start, static_cast<std::size_t>(std::min<std::uint64_t>(remain, kDynamicTextMost))));
      const std::string_view text = view.text();
      if (const auto end = text.find('\0'); end != std::string_view::npos)
        return std::string(text.substr(0, end));
    }
    return Error{{}, std::string(what) + " at " + hex(start) + " does not end within its table", {}};
  }

  const ByteSource& source_;
  Window in_;
  ElfDynamic out_;
  std::vector<Segment> loaded_;
  Segment dynamic_;
  std::size_t names_size_ = 0;
};

}  // namespace

Result<std::optional<ElfDynamic>> read_elf_dynamic(const ByteSource& source) {
  return DynamicReader(source).read();
}

}  // namespace archguard
