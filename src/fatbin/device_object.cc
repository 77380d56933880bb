#include "fatbin/device_object.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/parallel.h"
#include "base/text.h"
#include "fatbin/bare_image.h"
#include "fatbin/completeness.h"
#include "fatbin/format.h"
#include "fatbin/nvvm_image.h"
#include "fatbin/offload_reader.h"
#include "fatbin/region_reader.h"
#include "fatbin/registrations.h"
#include "fatbin/runtime_code.h"

namespace archguard::fatbin {
namespace {

// What lies between the sections of device code is searched in parts of this size, on all cores.
constexpr std::uint64_t kObjectPart = std::uint64_t{4} << 20;
constexpr std::size_t kPiecesAhead = 32;
// What a piece may hold before its turn comes: bounds the memory that a hostile file costs.
constexpr std::size_t kEntriesAhead = 1 << 14;

struct Span {
  std::uint64_t begin = 0, end = 0;
  bool code = false;  // machine code, in which an image may stand all the same
};

// One piece of the work: a section of device code, or a part of what is searched.
struct Piece {
  Region region;
  bool named = false;
  std::uint64_t begin = 0, stop = 0;  // its fat binaries start there

  Found read(RegionReader& reader, std::uint64_t from) const {
    if (named) return reader.walk(region);
    Region rest = region;
    if (from > begin) rest.begin = from;  // what stands before is a part of what was found
    return reader.search(rest, from, stop);
  }
  Found go_on(RegionReader& reader, const Found& cut) const {
    return reader.go_on(region, cut, named ? std::nullopt : std::optional(stop));
  }
};

class ObjectReader {
 public:
  ObjectReader(const ByteSource& source, const HostObject& host, DeviceObject& out, DeviceCode& code,
               Kept& kept)
      : source_(source), host_(host), out_(out), code_(code), list_(host, out, kept), size_(source.size()) {}

  void read() {
    const unsigned threads = size_ < 2 * kObjectPart ? 1 : threads_to_use();
    read_pieces(plan(threads > 1), threads);
    if (!stopped_ && errors_ == 0 && !out_.holds_fatbins() && !loads_code())
      read_pieces(plan_code(threads > 1), threads);
    if (stopped_) return;
    for (Error& error : check_completeness(source_, host_, out_, list_, errors_ == 0))
      code_.errors.push_back(std::move(error));
  }

 private:
  // Assemblers put bytes into `.text` where no section was named, so images may stand there. It is searched
  // in a file that loads code from somewhere, and before "no device code" is said of any.
  bool loads_code() const { return !out_.runtime_code.empty(); }

  // Reads the pieces on all cores, each as if nothing came before it, and joins them in the file's order. A
  // fat binary that reaches into the next piece shows only then: what was read of that piece still holds
  // where the fat binary ends between two of the piece's own; else that piece is read again from there. One
  // with many entries comes part by part.
  void read_pieces(const std::vector<Piece>& pieces, unsigned threads) {
    std::vector<std::unique_ptr<RegionReader>> readers;
    for (unsigned i = 0; i < threads; ++i)
      readers.push_back(std::make_unique<RegionReader>(source_, sections_, kEntriesAhead));
    InOrder<Found> found(
        pieces.size(), kPiecesAhead,
        [&](std::size_t i, unsigned thread) { return pieces[i].read(*readers[thread], pieces[i].begin); },
        threads);
    std::uint64_t at = 0;  // where the fat binaries so far end
    for (const Piece& piece : pieces) {
      if (stopped_) return;
      Found part = found.next();
      const std::uint64_t begin = std::max(at, piece.begin);
      if (begin >= part.end && !part.cut) continue;  // all of it lies within a fat binary
      if (piece.region.kind != RegionKind::nvidia && part.cut) {
        RegionReader again(source_, sections_, kEntriesMost);
        part = piece.read(again, begin);
      } else if (const bool holds = part.drop_before(begin); !holds || part.cut) {
        RegionReader again(source_, sections_, kEntriesAhead);
        if (!holds) part = piece.read(again, begin);
        while (part.cut) {
          add(part);
          if (stopped_) return;
          part = piece.go_on(again, part);
        }
      }
      at = part.end;
      add(part);
    }
  }

  std::vector<Piece> plan(bool parts) {
    std::vector<Piece> pieces;
    std::uint64_t at = 0;
    const auto regions = named_regions();
    std::vector<Span> without_data = spans_without_data();
    if (loads_code())
      without_data.erase(std::remove_if(without_data.begin(), without_data.end(),
                                        [](const Span& span) { return span.code; }),
                         without_data.end());
    auto hidden = without_data.begin();
    // From `at` to `end`, in parts, without what holds no data. A fat binary may still reach over that.
    const auto add_search = [&](std::uint64_t end) {
      const Region region{at, end, {}, 0, false};
      while (at < end) {
        while (hidden != without_data.end() && hidden->end <= at) ++hidden;
        std::uint64_t stop = end;
        if (hidden != without_data.end()) {
          if (hidden->begin <= at) {
            at = std::min(end, hidden->end);
            continue;
          }
          stop = std::min(end, hidden->begin);
        }
        if (parts) stop = std::min(stop, at + kObjectPart);
        pieces.push_back({region, false, at, stop});
        at = stop;
      }
    };
    for (const Region& region : regions) {
      add_search(region.begin);
      pieces.push_back({region, true, region.begin, region.end});
      at = region.end;
    }
    add_search(size_);
    return pieces;
  }

  // The machine code that plan() leaves out of a file that loads none.
  std::vector<Piece> plan_code(bool parts) const {
    std::vector<Piece> pieces;
    for (const Span& span : spans_without_data()) {
      if (!span.code) continue;
      const Region region{span.begin, span.end, {}, 0, false};
      for (std::uint64_t at = span.begin, stop = 0; at < span.end; at = stop) {
        stop = parts ? std::min(span.end, at + kObjectPart) : span.end;
        pieces.push_back({region, false, at, stop});
      }
    }
    return pieces;
  }

  // The regions that the object itself says hold device code, in order, without overlap.
  std::vector<Region> named_regions() {
    if (host_.format == HostFormat::fatbin) return {{0, size_, {}, 0, false}};
    if (host_.format == HostFormat::offload) return {{0, size_, {}, 0, true, RegionKind::offload}};
    const bool is_program = host_.format == HostFormat::elf || host_.format == HostFormat::pe ||
                            host_.format == HostFormat::mach_o || host_.format == HostFormat::foreign;
    out_.registers = host_.sections.empty() && is_program;
    out_.has_sections = !host_.sections.empty() || !is_program;
    std::vector<Region> regions;
    for (const Section& section : host_.sections) {
      if (section.has_bytes) sections_.push_back(&section);
      if (is_registration_section(section.name)) out_.registers |= section.size >= kRegistrationSize;
      const bool relocatable = is_relocatable_section(section.name);
      const RegionKind kind = kind_of(section);
      const bool nvidia = kind == RegionKind::nvidia;
      if (!relocatable && nvidia && !is_linked_section(section.name)) continue;
      if (host_.linked && nvidia && !section.loaded && section.has_bytes)
        add_error(
            section.name, section.offset,
            Error{hex(section.offset), "section is no part of the program's memory (no SHF_ALLOC)", {}});
      if (section.has_bytes) {
        const bool is_filled =
            kind == RegionKind::offload && section.filled != 0;  // then zeros, up to an alignment
        const std::uint64_t size = is_filled ? std::min(section.size, section.filled) : section.size;
        regions.push_back({section.offset, section.offset + size, section.name, section.offset,
                           relocatable || (!nvidia && !host_.linked), kind});
      } else {
        out_.data_missing = true;
        code_.warnings.push_back(object_name(out_.path, out_.member) + "(" + section.name +
                                 "): has a size but no bytes: debug symbols only, without the device code");
      }
    }
    const auto by_offset = [](const Section* a, const Section* b) { return a->offset < b->offset; };
    for (const Section* section : sections_)
      if (host_.linked && section->loaded && section->mapped < section->size) cut_off_.push_back(section);
    std::stable_sort(sections_.begin(), sections_.end(), by_offset);
    std::sort(regions.begin(), regions.end(),
              [](const Region& a, const Region& b) { return a.begin < b.begin; });
    std::uint64_t end = 0;
    for (Region& region : regions) {
      if (region.begin < end) {
        add_error(region.section, region.section_offset,
                  Error{hex(region.begin), "section overlaps another section of device code", {}});
        region.begin = std::min(end, region.end);
      }
      end = std::max(end, region.end);
      region.end = std::max(region.end, region.begin);
    }
    return regions;
  }

  RegionKind kind_of(const Section& section) const {
    if (starts_with(section.name, kOffloadSection)) return RegionKind::offload;
    return !host_.linked && is_cuda_bundle(section.name) ? RegionKind::bundle : RegionKind::nvidia;
  }

  // The sections that say that they hold none, unless another section claims the same bytes.
  std::vector<Span> spans_without_data() const {
    std::vector<Span> spans;
    std::uint64_t end = 0;  // of the sections so far
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const Section& section = *sections_[i];
      const std::uint64_t section_end = section.offset + section.size;
      const bool overlaps =
          section.offset < end || (i + 1 < sections_.size() && sections_[i + 1]->offset < section_end);
      if (!section.data && !overlaps) spans.push_back({section.offset, section_end, section.executable});
      end = std::max(end, section_end);
    }
    return spans;
  }

  // Takes the fat binaries out of it, with their memory.
  void add(Found& found) {
    std::vector<Fatbin> fatbins = std::move(found.fatbins);
    std::size_t index = 0;
    for (const FoundError& error : found.errors) {
      for (; index < error.after && !stopped_; ++index) add_fatbin(std::move(fatbins[index]));
      if (stopped_) return;
      add_error(error.section, error.section_offset, error.error);
    }
    for (; index < fatbins.size() && !stopped_; ++index) add_fatbin(std::move(fatbins[index]));
  }

  void add_fatbin(Fatbin fatbin) {
    if (fatbin.orphan)
      return add_error(
          fatbin.section, fatbin.section_offset,
          Error{hex(fatbin.offset), "an image of a fat binary whose beginning was overwritten", kRebuild});
    entries_ += fatbin.entries.size() + 1;
    const bool may_be_data = host_.format == HostFormat::elf || host_.format == HostFormat::pe ||
                             host_.format == HostFormat::mach_o || host_.format == HostFormat::other;
    fatbin.in_data = host_.linked && may_be_data && !fatbin.bare && !fatbin.relocatable && !fatbin.offload &&
                     !is_linked_section(fatbin.section);
    if (entries_ > kEntriesMost) {
      add_error(fatbin.section, fatbin.section_offset,
                Error{hex(fatbin.offset),
                      "more than " + std::to_string(kEntriesMost) + " images, the rest is not read",
                      {}});
      stopped_ = true;
    }
    if (!host_.linked && is_relocatable_section(fatbin.section)) {
      fatbin.behind_another = any_for_linker_;
      any_for_linker_ = true;
    }
    check_mapped(fatbin);
    list_.add(std::move(fatbin));
  }

  // A section whose bytes the loader does not put where it says: what the program finds there is another
  // thing.
  void check_mapped(const Fatbin& fatbin) {
    const auto holds_it = [&](const Section* section) {
      return fatbin.offset >= section->offset && fatbin.offset - section->offset < section->size;
    };
    if (cut_off_.empty() || told_unmapped_) return;
    const auto found = std::find_if(cut_off_.begin(), cut_off_.end(), holds_it);
    if (found == cut_off_.end() || fatbin.offset + fatbin.size <= (*found)->offset + (*found)->mapped) return;
    const Section section = **found;
    told_unmapped_ = true;  // one error is enough
    add_error(section.name, section.offset,
              Error{hex(section.offset + section.mapped),
                    "the loader does not bring this part of the section into memory: the file's headers "
                    "disagree (" +
                        std::string(host_.format == HostFormat::pe ? "VirtualSize" : "PT_LOAD") + ")",
                    kRebuild});
  }

  // `error.where` comes as an offset within the object and leaves as a place: "t.o(.nv_fatbin+0x10)".
  void add_error(const std::string& section, std::uint64_t section_offset, Error error) {
    const std::uint64_t offset = std::strtoull(error.where.c_str(), nullptr, 16);
    error.where = place_name(object_name(out_.path, out_.member), section, offset - section_offset);
    code_.errors.push_back(std::move(error));
    if (++errors_ < kErrorsMost) return;
    code_.errors.push_back(
        {object_name(out_.path, out_.member), "is damaged in many places, the rest is not read", {}});
    stopped_ = true;
  }

  const ByteSource& source_;
  const HostObject& host_;
  DeviceObject& out_;
  DeviceCode& code_;
  FatbinList list_;
  std::uint64_t size_;
  std::vector<const Section*> sections_;  // with bytes, by offset
  std::vector<const Section*> cut_off_;   // of those, what the loader does not map whole
  bool told_unmapped_ = false;
  bool any_for_linker_ = false;  // in `__nv_relfatbin` of an object
  std::size_t entries_ = 0;
  std::size_t errors_ = 0;
  bool stopped_ = false;
};

void add_bare(Result<Fatbin> fatbin, DeviceObject& out, DeviceCode& code) {
  if (fatbin)
    out.fatbins.push_back(std::move(*fatbin));
  else
    code.errors.push_back({object_name(out.path, out.member), fatbin.error().what, fatbin.error().fix});
}

// LTO-IR or OptiX-IR, alone in its file.
Result<Fatbin> read_bare_nvvm(const ByteSource& source) {
  ARCHGUARD_TRY(start, read_bytes(source, 0, std::min<std::uint64_t>(kNvvmHead, source.size())));
  auto fatbin = read_nvvm_head(start);
  if (!fatbin) return Error{{}, "is LTO-IR or OptiX-IR whose head is not understood", {}};
  fatbin->bare = true;
  fatbin->size = source.size();
  fatbin->entries[0].stored_size = fatbin->entries[0].uncompressed_size = source.size();
  return std::move(*fatbin);
}

}  // namespace

void read_device_object(const ByteSource& source, const HostObject& host, DeviceObject& out, DeviceCode& code,
                        Kept& kept) {
  switch (host.format) {
    case HostFormat::cubin:
      return add_bare(read_bare_cubin(source, host), out, code);
    case HostFormat::ptx:
      return add_bare(read_bare_ptx(source), out, code);
    case HostFormat::nvvm:
      return add_bare(read_bare_nvvm(source), out, code);
    default:
      out.runtime_code = runtime_code_of(source, host);
      return ObjectReader(source, host, out, code, kept).read();
  }
}

}  // namespace archguard::fatbin
