#include "fatbin/object_reader.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "container/window.h"
#include "fatbin/bare_image.h"
#include "fatbin/container_reader.h"
#include "fatbin/format.h"

namespace archguard::fatbin {
namespace {

// A search reads small blocks at first, since the next container is often near, and larger ones as it goes
// on.
constexpr std::size_t kBlockLeast = std::size_t{4} * 1024, kBlockMost = std::size_t{256} * 1024;
constexpr std::size_t kHeaderAhead = 1024;
constexpr std::size_t kMagicSize = 4;
constexpr std::size_t kErrorsMost = 16;  // of one object; bounds the work on a file made of damage

// Sections that hold nothing but containers. Linkers of PE images cut names to eight bytes.
bool is_linked_section(std::string_view name) {
  return name == ".nv_fatbin" || name == ".nv_fatb";
}

bool is_relocatable_section(std::string_view name) {
  return name == "__nv_relfatbin" || name == "__nv_rel";
}

std::size_t find_magic(ByteView bytes) {
  constexpr std::uint8_t kSecond = kMagic >> 8 & 0xff;  // rarer in text and machine code than the others
  const Cursor in(bytes);
  for (std::size_t from = 1; from < bytes.size;) {
    const void* hit = std::memchr(bytes.data + from, kSecond, bytes.size - from);
    if (hit == nullptr) break;
    const auto at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(hit) - bytes.data);
    if (bytes.data[at - 1] == (kMagic & 0xff) && in.u32(at - 1) == kMagic) return at - 1;
    from = at + 1;
  }
  return bytes.size;
}

// A part of the object: a section of device code, or what lies between two of them.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string section;
  std::uint64_t section_offset = 0;
  bool relocatable = false;

  Region from(std::uint64_t offset) const { return {offset, end, section, section_offset, relocatable}; }
};

class ObjectReader {
 public:
  ObjectReader(const ByteSource& source, const HostObject& host, DeviceObject& out, DeviceCode& code)
      : host_(host),
        out_(out),
        code_(code),
        in_(source, kBlockMost, kHeaderAhead),
        reader_(in_),
        size_(source.size()) {}

  void read() {
    std::uint64_t at = 0;
    for (const Region& region : named_regions()) {
      search({at, region.begin, {}, 0, false});
      walk(region);
      at = region.end;
    }
    search({at, size_, {}, 0, false});
  }

 private:
  // The regions that the object itself says hold device code, in order, without overlap.
  std::vector<Region> named_regions() {
    if (host_.format == HostFormat::fatbin) return {{0, size_, {}, 0, false}};
    std::vector<Region> regions;
    for (const Section& section : host_.sections) {
      if (section.has_bytes) sections_.push_back(&section);
      const bool relocatable = is_relocatable_section(section.name);
      if (!relocatable && !is_linked_section(section.name)) continue;
      if (section.has_bytes) {
        regions.push_back(
            {section.offset, section.offset + section.size, section.name, section.offset, relocatable});
      } else {
        out_.data_missing = true;
        code_.warnings.push_back(object_name(out_.path, out_.member) + "(" + section.name +
                                 "): has a size but no bytes: a file of debug information only");
      }
    }
    const auto by_offset = [](const Section* a, const Section* b) { return a->offset < b->offset; };
    std::stable_sort(sections_.begin(), sections_.end(), by_offset);
    std::sort(regions.begin(), regions.end(),
              [](const Region& a, const Region& b) { return a.begin < b.begin; });
    std::uint64_t end = 0;
    for (Region& region : regions) {
      if (region.begin < end) {
        add_error(region, Error{hex(region.begin), "section overlaps another section of device code", {}});
        region.begin = std::min(end, region.end);
      }
      end = std::max(end, region.end);
      region.end = std::max(region.end, region.begin);
    }
    return regions;
  }

  // Reads a region that holds nothing but containers, at multiples of 8 from its start, with zero bytes
  // between. Anything else is an error, and what follows is searched.
  void walk(const Region& region) {
    std::uint64_t at = region.begin;
    while (at < region.end && !stopped_) {
      const std::uint64_t remain = region.end - at;
      const auto block = in_.at(at, static_cast<std::size_t>(std::min<std::uint64_t>(remain, kHeaderAhead)));
      if (!block) return add_error(region, Error{hex(at), block.error().what, {}});
      const Cursor bytes(*block);
      const std::size_t zeros = count_zeros(*block);
      if (zeros >= 8 || zeros == remain) {
        at += zeros == remain ? zeros : zeros / 8 * 8;
        continue;
      }
      const std::uint32_t magic = bytes.u32(0);
      if (magic == kMagic) {
        const auto next = take_container(region, at, region.end);
        if (!next) return search(region.from(at + kMagicSize));
        at = *next;
        continue;
      }
      add_error(region, magic == kOldMagic ? Error{hex(at), "old fat binary format 0x1ee55a01 is unknown", {}}
                                           : Error{hex(at),
                                                   "expected a fat binary's magic 0xba55ed50, found " +
                                                       (remain < 4 ? count_of(remain, "byte") : hex(magic)),
                                                   {}});
      return search(region.from(at + std::min<std::uint64_t>(remain, kMagicSize)));
    }
  }

  // Looks for containers by signature. A magic that no header follows is chance: code that makes fat binaries
  // holds it as a constant.
  void search(const Region& region) {
    std::uint64_t at = region.begin, block_end = at;
    std::size_t block_size = kBlockLeast;
    while (at < region.end && region.end - at >= kHeaderSize && !stopped_) {
      // A block is read once, however many magic numbers it holds.
      if (block_end < at + kMagicSize) {
        block_end = at + std::min<std::uint64_t>(block_size, region.end - at);
        block_size = std::min(block_size * 2, kBlockMost);
      }
      const auto count = static_cast<std::size_t>(block_end - at);
      const auto block = in_.at(at, count);
      if (!block) return add_error(region, Error{hex(at), block.error().what, {}});
      const std::size_t found = find_magic(*block);
      if (found == count) {
        at = block_end - (kMagicSize - 1);
        continue;
      }
      at += found;
      const Section* section = region.section.empty() ? section_at(at) : nullptr;
      const std::uint64_t end =
          section == nullptr ? region.end : std::min(region.end, section->offset + section->size);
      if (!reader_.is_container(at, end)) {
        ++at;
        continue;
      }
      Region place = region;
      if (section != nullptr) {
        place.section = section->name;
        place.section_offset = section->offset;
      }
      at = take_container(place, at, end).value_or(at + kMagicSize);
      block_end = at;
      block_size = kBlockLeast;
    }
  }

  // Reads the container at `at` and says where it ends; nothing where it is damaged so that nobody knows.
  std::optional<std::uint64_t> take_container(const Region& region, std::uint64_t at, std::uint64_t end) {
    auto container = reader_.read(at, end);
    if (!container) {
      add_error(region, std::move(container).error());
      return reader_.end_of_damaged(at, end);
    }
    container->section = region.section;
    container->section_offset = region.section_offset;
    container->relocatable = region.relocatable;
    entries_ += container->entries.size() + 1;
    const std::uint64_t next = at + container->size;
    out_.containers.push_back(std::move(*container));
    if (entries_ > kEntriesMost) {
      add_error(
          region,
          Error{hex(at), "more than " + std::to_string(kEntriesMost) + " images, the rest is not read", {}});
      stopped_ = true;
    }
    return next;
  }

  static std::size_t count_zeros(ByteView bytes) {
    std::size_t zeros = 0;
    while (zeros < bytes.size && bytes.data[zeros] == 0) ++zeros;
    return zeros;
  }

  const Section* section_at(std::uint64_t offset) const {
    const auto after = std::upper_bound(sections_.begin(), sections_.end(), offset,
                                        [](std::uint64_t at, const Section* s) { return at < s->offset; });
    if (after == sections_.begin()) return nullptr;
    const Section* section = *(after - 1);
    return offset - section->offset < section->size ? section : nullptr;
  }

  // `error.where` comes as an offset within the object and leaves as a place: "t.o(.nv_fatbin+0x10)".
  void add_error(const Region& region, Error error) {
    const std::uint64_t offset = std::strtoull(error.where.c_str(), nullptr, 16);
    error.where =
        place_name(object_name(out_.path, out_.member), region.section, offset - region.section_offset);
    code_.errors.push_back(std::move(error));
    if (++errors_ < kErrorsMost) return;
    code_.errors.push_back(
        {object_name(out_.path, out_.member), "is damaged in many places, the rest is not read", {}});
    stopped_ = true;
  }

  const HostObject& host_;
  DeviceObject& out_;
  DeviceCode& code_;
  Window in_;
  ContainerReader reader_;
  std::uint64_t size_;
  std::vector<const Section*> sections_;  // with bytes, by offset
  std::size_t entries_ = 0;
  std::size_t errors_ = 0;
  bool stopped_ = false;
};

void add_bare(Result<Container> container, DeviceObject& out, DeviceCode& code) {
  if (container)
    out.containers.push_back(std::move(*container));
  else
    code.errors.push_back({object_name(out.path, out.member), container.error().what, container.error().fix});
}

}  // namespace

void read_object(const ByteSource& source, const HostObject& host, DeviceObject& out, DeviceCode& code) {
  switch (host.format) {
    case HostFormat::cubin:
      return add_bare(read_bare_cubin(source, host), out, code);
    case HostFormat::ptx:
      return add_bare(read_bare_ptx(source), out, code);
    default:
      return ObjectReader(source, host, out, code).read();
  }
}

}  // namespace archguard::fatbin
