#include "fatbin/region_reader.h"

#include <algorithm>

#include "base/text.h"
#include "fatbin/format.h"
#include "fatbin/signature.h"

namespace archguard::fatbin {
namespace {

// A search reads small blocks at first, since the next fat binary is often near, and larger ones as it goes
// on. A read of a header takes what stands next to it along.
constexpr std::size_t kBlockLeast = 256, kBlockMost = std::size_t{128} * 1024, kBlockGrowth = 8;
constexpr std::size_t kHeaderAhead = 256;
constexpr std::size_t kRegionMagicSize = 4;

}  // namespace

bool Found::drop_before(std::uint64_t offset) {
  if (offset <= begin) return true;
  if (!errors.empty() || cut) return false;
  const auto next = std::lower_bound(fatbins.begin(), fatbins.end(), offset,
                                     [](const Fatbin& c, std::uint64_t at) { return c.offset < at; });
  if (next != fatbins.begin() && (next - 1)->offset + (next - 1)->size > offset) return false;
  fatbins.erase(fatbins.begin(), next);
  return true;
}

std::size_t count_zeros(ByteView bytes) {
  std::size_t zeros = 0;
  while (zeros < bytes.size && bytes.data[zeros] == 0) ++zeros;
  return zeros;
}

RegionReader::RegionReader(const ByteSource& source, const std::vector<const Section*>& sections,
                           std::size_t entries_most)
    : sections_(sections),
      in_(source, kBlockMost, kHeaderAhead),
      reader_(in_),
      images_(source),
      entries_most_(entries_most) {}

void RegionReader::start(std::uint64_t begin) {
  found_ = {};
  found_.begin = begin;
  entries_ = 0;
}

Found RegionReader::go_on(const Region& region, const Found& cut, std::optional<std::uint64_t> stop) {
  start(cut.end);
  found_.last_end = cut.last_end;
  if (!cut.searching) return walk_from(region, cut.end);
  search_in(region, cut.end, stop.value_or(region.end), stop.has_value());
  return std::move(found_);
}

Found RegionReader::walk(const Region& region) {
  if (region.kind == RegionKind::offload) return walk_offload(region);
  if (region.kind == RegionKind::bundle) return walk_bundle(region);
  start(region.begin);
  return walk_from(region, region.begin);
}

Found RegionReader::walk_from(const Region& region, std::uint64_t at) {
  std::size_t block_size = kHeaderAhead;
  while (at < region.end && !found_.cut) {
    const std::uint64_t remain = region.end - at;
    const auto block = in_.at(at, static_cast<std::size_t>(std::min<std::uint64_t>(remain, block_size)));
    if (!block) {
      add_error(region, Error{hex(at), block.error().what, {}});
      break;
    }
    const Cursor bytes(*block);
    const std::size_t zeros = count_zeros(*block);
    if (zeros >= 8 || zeros == remain) {
      at += zeros == remain ? zeros : zeros / 8 * 8;
      if (zeros == block->size) {
        const std::uint64_t data = std::min(skip_hole(at), region.end);
        at = std::max(at, region.begin + (data - region.begin) / 8 * 8);
        block_size = std::min(block_size * kBlockGrowth, kBlockMost);
      }
      continue;
    }
    block_size = kHeaderAhead;
    const std::uint32_t magic = bytes.u32(0);
    if (magic == kMagic) {
      const auto next = take_fatbin(region, at, region.end);
      if (!next) {
        search_in(region, at + kRegionMagicSize, region.end, false);
        break;
      }
      at = *next;
      continue;
    }
    add_error(region, magic == kOldMagic ? Error{hex(at), "old fat binary format 0x1ee55a01 is unknown", {}}
                                         : Error{hex(at),
                                                 "expected a fat binary's magic 0xba55ed50, found " +
                                                     (remain < 4 ? count_of(remain, "byte") : hex(magic)),
                                                 {}});
    search_in(region, at + std::min<std::uint64_t>(remain, kRegionMagicSize), region.end, false);
    break;
  }
  if (!found_.searching) found_.end = found_.cut ? at : region.end;
  return std::move(found_);
}

Found RegionReader::search(const Region& region, std::uint64_t begin, std::uint64_t stop) {
  start(begin);
  search_in(region, begin, stop, true);
  return std::move(found_);
}

void RegionReader::search_in(const Region& region, std::uint64_t begin, std::uint64_t stop, bool images) {
  found_.searching = true;
  std::uint64_t at = begin, block_end = at;
  std::size_t block_size = kBlockMost;
  while (at < stop && region.end - at >= kHeaderSize && !found_.cut) {
    // A block is read once, however many magic numbers it holds.
    if (block_end < at + kSignatureSize) {
      at = skip_hole(at);
      if (at >= stop || region.end - at < kHeaderSize) break;
      block_end = at + std::min<std::uint64_t>({block_size, stop - at + kSignatureSize - 1, region.end - at});
      block_size = std::min(block_size * kBlockGrowth, kBlockMost);
    }
    const auto count = static_cast<std::size_t>(block_end - at);
    const auto block = in_.at(at, count);
    if (!block) {
      add_error(region, Error{hex(at), block.error().what, {}});
      break;
    }
    const Signature found = find_signature(*block);
    if (found.at == count) {
      at = block_end - (kSignatureSize - 1);
      continue;
    }
    at += found.at;
    const bool is_image = found.kind != SignatureKind::fatbin;
    if (is_image && !images) {
      ++at;
      continue;
    }
    const Section* section = region.section.empty() ? section_at(at) : nullptr;
    const std::uint64_t end =
        section == nullptr ? region.end : std::min(region.end, section->offset + section->size);
    Region place = region;
    if (section != nullptr) {
      place.begin = std::max(region.begin, section->offset);
      place.section = section->name;
      place.section_offset = section->offset;
    }
    if (is_image) {
      const auto next = take_image(place, at, end, found.kind);
      at = next.value_or(at + 1);
      continue;
    }
    if (!reader_.is_fatbin(at, end)) {
      const bool code = section != nullptr && section->executable;
      if (!code && at % 8 == 0 && reader_.is_damaged(at, end)) add_damaged(place, at, end);
      ++at;
      continue;
    }
    at = take_fatbin(place, at, end).value_or(at + kRegionMagicSize);
    block_end = at;
    block_size = kBlockLeast;
  }
  found_.end = found_.cut ? at : std::max(at, std::min(stop, region.end));
}

void RegionReader::add_damaged(const Region& region, std::uint64_t at, std::uint64_t end) {
  auto fatbin = reader_.read(at, end);
  add_error(region, fatbin ? Error{hex(at), "fat binary's size must not be 0 before an entry", {}}
                           : std::move(fatbin).error());
}

// Reads the fat binary at `at` and says where it ends; nothing where it is damaged so that nobody knows.
std::optional<std::uint64_t> RegionReader::take_fatbin(const Region& region, std::uint64_t at,
                                                       std::uint64_t end) {
  auto fatbin = reader_.read(at, end);
  if (!fatbin) {
    add_error(region, std::move(fatbin).error());
    return reader_.end_of_damaged(at, end);
  }
  fatbin->relocatable = region.relocatable;
  return add(region, std::move(*fatbin));
}

// Reads the image that may begin at `at` and says where to go on; nothing where there is none, or it is
// damaged.
std::optional<std::uint64_t> RegionReader::take_image(const Region& region, std::uint64_t at,
                                                      std::uint64_t end, SignatureKind kind) {
  if (kind == SignatureKind::nvvm) {
    auto image = images_.nvvm_at(at, end);
    return image ? std::optional(add(region, std::move(*image))) : std::nullopt;
  }
  if (kind == SignatureKind::tile_ir) {
    auto image = images_.tile_ir_at(at, end);
    return image ? std::optional(add(region, std::move(*image))) : std::nullopt;
  }
  if (kind == SignatureKind::ptx) {
    // The comments above it are none of the module before it.
    auto image = images_.ptx_at(std::max(region.begin, found_.last_end), at, end);
    if (image.damage) add_error(region, std::move(*image.damage));
    if (image.fatbin) add(region, std::move(*image.fatbin));
    return image.next;
  }
  auto image = images_.cubin_at(at, end);
  if (!image) add_error(region, std::move(image).error());
  return image && *image ? std::optional(add(region, std::move(**image))) : std::nullopt;
}

// Says where it ends.
std::uint64_t RegionReader::add(const Region& region, Fatbin fatbin) {
  fatbin.section = region.section;
  fatbin.section_offset = region.section_offset;
  entries_ += fatbin.entries.size() + 1;
  found_.cut = found_.cut || entries_ > entries_most_;
  const std::uint64_t next = fatbin.offset + fatbin.size;
  found_.last_end = next;
  found_.fatbins.push_back(std::move(fatbin));
  return next;
}

// Asking the system costs as much as reading a header, and most files have no hole at all.
std::uint64_t RegionReader::skip_hole(std::uint64_t at) {
  if (at < data_.begin || at >= data_.end) data_ = in_.source().data_from(at);
  return std::max(at, data_.begin);
}

const Section* RegionReader::section_at(std::uint64_t offset) const {
  const auto after = std::upper_bound(sections_.begin(), sections_.end(), offset,
                                      [](std::uint64_t at, const Section* s) { return at < s->offset; });
  if (after == sections_.begin()) return nullptr;
  const Section* section = *(after - 1);
  return offset - section->offset < section->size ? section : nullptr;
}

void RegionReader::add_error(const Region& region, Error error) {
  found_.errors.push_back({found_.fatbins.size(), region.section, region.section_offset, std::move(error)});
  found_.cut = found_.cut || found_.errors.size() == kErrorsMost;
}

}  // namespace archguard::fatbin
