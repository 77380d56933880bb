#include "host/elf_object.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "elf/elf.h"
#include "host/byte_stream.h"
#include "host/section_table.h"
#include "io/window.h"

namespace archguard {
namespace {

constexpr std::size_t kTableWindow = std::size_t{16} * 1024;
constexpr std::size_t kNamesAhead = 1024;  // names stand in any order
constexpr std::size_t kElfObjectNameMost = 255;
constexpr std::uint64_t kElfObjectSectionsMost =
    1'000'000;  // a limit on memory; the largest real objects have some 300,000
constexpr std::uint64_t kSegmentLoad = 1;
constexpr std::uint32_t kSegmentReadable = 4;  // PF_R

constexpr std::uint16_t kElfTypesMost = 4;  // objects, programs, libraries and core dumps: 1 to 4

class ElfObjectReader {
 public:
  ElfObjectReader(const ByteSource& source, HostObject& object)
      : source_(source),
        object_(object),
        table_(source, kTableWindow, kTableWindow),
        names_(source, kTableWindow, kNamesAhead) {}

  // The first thing that is wrong, after having read what can be read.
  Status read() {
    ARCHGUARD_TRY(
        start,
        table_.at(0, static_cast<std::size_t>(std::min<std::uint64_t>(kElfHeaderMost, source_.size()))));
    ARCHGUARD_TRY(header, parse_elf_header(start));
    header_ = header;
    object_.format = header_.machine == kElfMachineCuda ? HostFormat::cubin : HostFormat::elf;
    object_.linked = header_.type != kElfRelocatable;
    if (object_.format == HostFormat::elf && (header_.type == 0 || header_.type > kElfTypesMost))
      return Error{{}, "ELF file of type " + hex(header_.type) + " is no object, program or library", {}};
    Status sections = read_sections();
    Status segments = debug_only_ ? Status(Done{}) : check_segments();
    if (object_.linked && !debug_only_ && segments) mark_mapped();
    if (object_.linked && !debug_only_ && sections && segments) object_.end = std::max(end_, end_of_tables());
    return sections ? std::move(segments) : std::move(sections);
  }

 private:
  static Error no_section_table() {
    return {{}, "is an object without a section table: it is cut, or its header was overwritten", kGetWhole};
  }

  static Error section_overwritten(std::uint64_t index) {
    return {{},
            "section " + std::to_string(index) + " is zeros in the section table, which was overwritten",
            "build it again, or copy it whole"};
  }

  Status read_sections() {
    if (header_.sections_offset == 0) {
      if (object_.linked) return Done{};  // no section table: sstrip, some packers
      return no_section_table();
    }
    if (header_.section_count == 0 || header_.names_index == kElfIndexInSectionZero) {
      ElfHeader one = header_;
      one.section_count = 1;
      ARCHGUARD_CHECK(check_section_table(one, source_.size()));
      ARCHGUARD_TRY(zero, table_.at(header_.sections_offset, header_.section_size));
      apply_section_zero(header_, zero);
      if (header_.section_count == 0 && !object_.linked) return no_section_table();
    }
    ARCHGUARD_CHECK(check_section_table(header_, source_.size()));
    if (header_.section_count > kElfObjectSectionsMost)
      return Error{
          {}, "has " + std::to_string(header_.section_count) + " sections, at most 1000000 are read", {}};
    ElfSection names;
    if (header_.names_index < header_.section_count) {
      ARCHGUARD_TRY(found, section_at(header_.names_index));
      names = found;
      // Most linkers put it last (clang does not), where a copy that stopped left zeros.
      if (header_.names_index != 0 && (names.type != kElfStrings || names.size == 0))
        return Error{
            {},
            "section " + std::to_string(header_.names_index) +
                " should hold the section names, and is no string table: the section table was overwritten",
            "build it again, or copy it whole"};
      if (!holds_names(names))
        return Error{{},
                     "section " + std::to_string(header_.names_index) +
                         " should hold the section names, and its bytes are none: it was overwritten",
                     "build it again, or copy it whole"};
    }
    std::optional<Error> first_error;
    for (std::uint64_t i = 1; i < header_.section_count; ++i) {
      ARCHGUARD_TRY(section, section_at(i));
      if (section.type == kElfDynamicSymbols) dynamic_names_ = section.link;
      check_.add(section);
      // None but the first is empty, of 39,000 files and objects of a Debian system and CUDA's.
      const bool is_empty =
          section.type == 0 && section.name == 0 && section.offset == 0 && section.size == 0;
      Status status = is_empty && header_.machine != kElfMachineCuda
                          ? Status(section_overwritten(i))
                          : add_section(section, static_cast<std::uint32_t>(i), names);
      if (!status && !first_error) first_error = std::move(status).error();
    }
    if (header_.machine != kElfMachineCuda && !first_error) first_error = check_.error(object_.linked);
    if (header_.machine != kElfMachineCuda && !first_error) first_error = damaged_cubin();
    mark_machine_code();
    ARCHGUARD_CHECK(mark_dynamic_names());
    if (first_error) return std::move(*first_error);
    return Done{};
  }

  // A table of names begins and ends with a NUL (System V ABI, "String Table"), and holds its own name: of
  // all linkers, LLVM's objects and ptxas one of two.
  bool holds_names(const ElfSection& names) const {
    constexpr std::string_view kOwnNames[] = {".shstrtab", ".strtab"};
    constexpr std::uint64_t kNameBytes = 16;
    if (header_.names_index == 0 || names.size < kNameBytes || names.name >= names.size) return true;
    const auto first = read_bytes(source_, names.offset, 1),
               last = read_bytes(source_, names.offset + names.size - 1, 1),
               own = read_bytes(source_, names.offset + names.name,
                                std::min<std::uint64_t>(kNameBytes, names.size - names.name));
    if (!first || !last || !own) return true;  // it is told where the names are read
    const std::string_view text = ByteView(*own).text();
    return first->front() == 0 && last->front() == 0 &&
           std::find(std::begin(kOwnNames), std::end(kOwnNames), text.substr(0, text.find('\0'))) !=
               std::end(kOwnNames);
  }

  // A header of another machine above the sections of a cubin: drivers refuse it (error 200, recorded). No
  // compiler of another machine writes `.nv.info`.
  std::optional<Error> damaged_cubin() const {
    const auto info =
        std::find_if(object_.sections.begin(), object_.sections.end(),
                     [](const Section& section) { return starts_with(section.name, ".nv.info"); });
    if (info == object_.sections.end()) return std::nullopt;
    return Error{{},
                 "has the section " + info->name + " of a cubin, and its e_machine is " +
                     std::to_string(header_.machine) + ", not " + std::to_string(kElfMachineCuda) +
                     ": its header was overwritten",
                 "build it again, or copy it whole"};
  }

  // Data may stand in the sections of machine code that every linker makes where it was told to put it there;
  // then no section for constants is left. In another, somebody may have put some (`.section .mine,"ax"`).
  void mark_machine_code() {
    const auto is_constants = [](const Section& section) {
      return starts_with(section.name, ".rodata") || starts_with(section.name, ".lrodata");
    };
    auto& all = object_.sections;
    if (std::none_of(all.begin(), all.end(), is_constants)) return;
    for (Section& section : all)
      section.data = section.data && !(section.executable && is_usual_code(section.name));
  }

  // A loaded table of strings may hold anything, but for the one that the dynamic symbols have their names
  // in.
  Status mark_dynamic_names() {
    if (dynamic_names_ == 0 || dynamic_names_ >= header_.section_count) return Done{};
    ARCHGUARD_TRY(names, section_at(dynamic_names_));
    if (names.type != kElfStrings) return Done{};
    for (Section& section : object_.sections)
      if (section.index == dynamic_names_) section.data = false;
    return Done{};
  }

  static bool is_usual_code(std::string_view name) {
    return name == ".text" || starts_with(name, ".text.") || name == ".init" || name == ".fini" ||
           name == ".plt" || starts_with(name, ".plt.");
  }

  Result<ElfSection> section_at(std::uint64_t index) {
    ARCHGUARD_TRY(bytes, table_.at(header_.sections_offset + index * header_.section_size,
                                   static_cast<std::size_t>(header_.section_size)));
    return parse_elf_section(header_, bytes);
  }

  Status add_section(const ElfSection& section, std::uint32_t index, const ElfSection& names) {
    if (section.type == 0 || section.size == 0) return Done{};
    const std::uint64_t size = source_.size();
    const bool fits = section.offset <= size && section.size <= size - section.offset;
    Section out;
    out.offset = section.offset;
    out.size = section.size;
    out.address = section.address;
    out.index = index;
    out.has_bytes = section.type != kElfNoBits && (fits || !is_cuda_memory(section));
    out.executable = (section.flags & kElfCode) != 0;
    out.loaded = (section.flags & kElfLoaded) != 0;
    out.data = !is_elf_table(section.type) || (out.loaded && section.type == kElfStrings);
    if (!out.has_bytes && out.executable) debug_only_ = true;
    if (section.name < names.size) {
      const std::uint64_t at = names.offset + section.name;  // text_at refuses what lies outside; a sum that
      auto name = names_.text_at(at, kElfObjectNameMost);    // wraps is another place, no danger
      if (name) out.name = std::move(*name);
    }
    if (!out.loaded && starts_with(out.name, ".debug_")) out.data = false;
    if (out.has_bytes && !fits)
      return Error{{},
                   "section '" + out.name + "' needs " + count_of(section.size, "byte") + " at " +
                       hex(section.offset) + ", " +
                       std::to_string(section.offset < size ? size - section.offset : 0) + " remain",
                   {}};
    if (out.has_bytes) end_ = std::max(end_, out.offset + out.size);
    const bool is_named = !out.name.empty() || names.size == 0 || header_.machine == kElfMachineCuda;
    object_.sections.push_back(std::move(out));
    if (is_named) return Done{};
    return Error{{},  // none of 41,000 files and objects has one
                 "section " + std::to_string(index) + " holds " + count_of(section.size, "byte") +
                     " and has no name: the names of sections were overwritten",
                 "build it again, or copy it whole"};
  }

  std::uint64_t end_of_tables() const {
    return std::max(header_.sections_offset + header_.section_count * header_.section_size,
                    header_.segments_offset + header_.segment_count * header_.segment_size);
  }

  bool is_cuda_memory(const ElfSection& section) const {
    return header_.machine == kElfMachineCuda && section.type >= kElfMachineTypes;
  }

  // A file cut short may have lost its section table, or never had one: the segments tell too. The files that
  // objcopy --only-keep-debug and eu-strip -f write may keep the sizes of segments whose bytes they left out.
  Status check_segments() {
    const std::uint64_t header_size = header_.is64 ? 56 : 32;
    if (header_.segment_count == 0 || header_.segments_offset == 0) return Done{};
    if (header_.segment_size != header_size)
      return Error{{},
                   "ELF program headers must have " + std::to_string(header_size) + " bytes, found " +
                       std::to_string(header_.segment_size),
                   {}};
    const std::uint64_t size = source_.size();
    for (std::uint64_t i = 0; i < header_.segment_count; ++i) {
      ARCHGUARD_TRY(bytes, table_.at(header_.segments_offset + i * header_.segment_size,
                                     static_cast<std::size_t>(header_.segment_size)));
      const Cursor in(bytes);
      if (in.u32(0) != kSegmentLoad) continue;
      const std::uint64_t offset = header_.is64 ? in.u64(8) : in.u32(4);
      const std::uint64_t count = header_.is64 ? in.u64(32) : in.u32(16);
      if (count != 0 && (offset > size || count > size - offset))
        return Error{{},
                     "segment " + std::to_string(i) + " needs " + count_of(count, "byte") + " at " +
                         hex(offset) + ", " + std::to_string(offset < size ? size - offset : 0) + " remain",
                     {}};
      end_ = std::max(end_, offset + count);
      const std::uint32_t flags = in.u32(header_.is64 ? 4 : 24);
      if ((flags & kSegmentReadable) != 0)
        loaded_.push_back({offset, header_.is64 ? in.u64(16) : in.u32(8), count});
    }
    return Done{};
  }

  // The loader goes by the segments alone: a section is where it says by one that has its bytes and puts them
  // at its address. Linkers put a section into one segment. Where there are more segments than any linker
  // makes, it is not told.
  void mark_mapped() {
    constexpr std::size_t kLoadSegmentsMost = 64;
    if (loaded_.empty() || loaded_.size() > kLoadSegmentsMost) return;
    for (Section& section : object_.sections) {
      if (!section.loaded || !section.has_bytes) continue;
      section.mapped = 0;
      for (const LoadSegment& segment : loaded_) {
        const std::uint64_t within = section.offset - segment.offset;  // wraps around where it begins before
        if (within >= segment.size || section.address - segment.address != within) continue;
        section.mapped = std::max(section.mapped, segment.size - within);
      }
    }
  }

  struct LoadSegment {
    std::uint64_t offset, address, size;
  };

  const ByteSource& source_;
  HostObject& object_;
  std::vector<LoadSegment> loaded_;
  Window table_;
  Window names_;
  ElfHeader header_;
  std::uint32_t dynamic_names_ = 0;  // the section that the dynamic symbols have their names in
  SectionTableCheck check_;
  bool debug_only_ = false;  // machine code without bytes
  std::uint64_t end_ = 0;    // of the sections and segments
};

}  // namespace

void read_elf_object(const ByteSource& source, const std::string& where, HostObject& object,
                     std::vector<Error>& errors) {
  object.format = HostFormat::elf;
  Status status = ElfObjectReader(source, object).read();
  if (status) return;
  Error error = std::move(status).error();
  error.where = where;
  errors.push_back(std::move(error));
}

}  // namespace archguard
