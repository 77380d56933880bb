#include <algorithm>

#include "base/text.h"
#include "fatbin/offload_reader.h"
#include "fatbin/region_reader.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kPieceAhead = 256;
constexpr std::uint64_t kGapMost = 128;  // no linker aligns sections of objects to more

}  // namespace

// Pieces back to back, with zero bytes between; see offload_reader.cc.
Found RegionReader::walk_offload(const Region& region) {
  start(region.begin);
  std::optional<Fatbin> fatbin;  // that the next piece may belong to
  std::uint64_t at = region.begin;
  bool any = false;
  while (at < region.end && !found_.cut) {
    const std::uint64_t remain = region.end - at;
    const auto block = in_.at(at, static_cast<std::size_t>(std::min<std::uint64_t>(remain, kPieceAhead)));
    const std::size_t zeros = block ? count_zeros(*block) : 0;
    if (zeros >= 8 || zeros == remain) {
      const std::uint64_t from = at;
      at += zeros == remain ? zeros : zeros / 8 * 8;
      if (zeros < kGapMost && (any || at < region.end)) continue;
      add_offloaded(fatbin);
      add_error(region,
                Error{hex(from),
                      "zeros stand here in place of an image of clang's: it was overwritten, or never "
                      "written",
                      {}});
      search_in(region, at, region.end, false);
      break;
    }
    any = true;
    auto piece = read_offload_piece(in_, at, region.end);
    if (!piece) {
      add_offloaded(fatbin);
      add_error(region, std::move(piece).error());
      search_in(region, at + std::min<std::uint64_t>(remain, 4), region.end, false);
      break;
    }
    if (piece->cuda && !piece->entry) {  // a fat binary of NVIDIA's
      add_offloaded(fatbin);
      take_fatbin(region, piece->image, piece->image_end);
    } else if (piece->cuda) {
      const bool relocatable = region.relocatable && !piece->whole;
      if (fatbin && (fatbin->offset + fatbin->size != at || fatbin->relocatable != relocatable ||
                     fatbin->for_runtime != piece->for_runtime || holds_like(*fatbin, *piece->entry)))
        add_offloaded(fatbin);
      if (!fatbin) {
        fatbin.emplace();
        fatbin->offset = at;
        fatbin->section = region.section;
        fatbin->section_offset = region.section_offset;
        fatbin->relocatable = relocatable;
        fatbin->offload = true;
        fatbin->for_runtime = piece->for_runtime;
      }
      if (!region.relocatable && piece->entry->own_arch)
        piece->entry->unknown = "code that libomptarget may compile when the program runs";
      fatbin->entries.push_back(std::move(*piece->entry));
      fatbin->size = piece->end - fatbin->offset;
    }
    at = piece->end;
  }
  add_offloaded(fatbin);
  found_.end = region.end;
  return std::move(found_);
}

void RegionReader::add_offloaded(std::optional<Fatbin>& fatbin) {
  if (!fatbin) return;
  entries_ += fatbin->entries.size() + 1;
  found_.cut = found_.cut || entries_ > entries_most_;
  found_.fatbins.push_back(std::move(*fatbin));
  fatbin.reset();
}

// Relocatable cubins back to back, with zero bytes between, or LLVM's bitcode.
Found RegionReader::walk_bundle(const Region& region) {
  start(region.begin);
  std::uint64_t at = region.begin;
  while (at < region.end && !found_.cut) {
    const std::uint64_t remain = region.end - at;
    const auto block = in_.at(at, static_cast<std::size_t>(std::min<std::uint64_t>(remain, kPieceAhead)));
    const std::size_t zeros = block ? count_zeros(*block) : 0;
    if (zeros != 0) {
      at += zeros;
      continue;
    }
    auto cubin = images_.cubin_at(at, region.end);
    std::optional<Fatbin> image;
    if (cubin) image = std::move(*cubin);
    if (!image) image = read_bitcode_bundle(in_, at, region.end, region.section);
    if (!image) {
      add_error(region, cubin ? Error{hex(at), "expected a cubin or LLVM bitcode of clang's", {}}
                              : std::move(cubin).error());
      break;
    }
    image->bare = image->orphan = false;
    image->offload = true;
    image->for_runtime = is_bundle_for_runtime(region.section);
    image->relocatable = image->relocatable || image->entries[0].own_arch;
    at = add(region, std::move(*image));
  }
  found_.end = region.end;
  return std::move(found_);
}

}  // namespace archguard::fatbin
