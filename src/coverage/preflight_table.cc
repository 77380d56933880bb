#include "coverage/preflight_table.h"

#include <algorithm>
#include <set>

#include "base/preflight_format.h"
#include "coverage/bare_images.h"
#include "coverage/device_link.h"
#include "coverage/verify.h"
#include "fatbin/format.h"
#include "fatbin/runtime_code.h"

namespace archguard {
namespace {

// An item: its role, and how many equal ones there are (u32 each), and a fat binary without the bytes of its
// images. The objects of a device link stand behind what it made. Images that a file holds as data beside
// other code may never be loaded: verify warns of those alone.
constexpr std::uint32_t kRoleAlone = 1, kRoleLinked = 2, kRolePart = 3, kRoleData = 4;
constexpr std::size_t kTimesAt = 4;
constexpr std::uint16_t kNotUnderstood = 0;  // no image has this kind: the preflight takes it for unknown

void put(Bytes& out, std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

// Of a cubin's ELF header what tells its toolkit, as those of ABI 7 do (image/cubin.h).
Bytes header_of_cubin(Version toolkit) {
  Bytes header(64, 0);
  const std::uint8_t begin[] = {0x7f, 'E', 'L', 'F', 0, 0, 0, 0x33};
  std::copy(std::begin(begin), std::end(begin), header.begin());
  const auto number = static_cast<unsigned>(toolkit.major * 10 + toolkit.minor);
  header[20] = static_cast<std::uint8_t>(number);
  header[21] = static_cast<std::uint8_t>(number >> 8U);
  return header;
}

void put_image(Bytes& out, std::uint16_t kind, const Image& image, Arch arch) {
  const FatbinEntry& entry = image.entry;
  const bool sass = entry.kind == EntryKind::sass, packed = entry.compression == Compression::zstd;
  const Version isa = entry.ptx_isa.value_or(Version{});
  Bytes payload;
  if (sass && image.code && image.code->relocatable && image.code->toolkit)
    payload = header_of_cubin(*image.code->toolkit);
  put(out, kind, 2);
  put(out, fatbin::kEntryVersion, 2);
  put(out, fatbin::kEntryFieldsSize, 4);
  put(out, payload.size(), 8);
  put(out, 0, 8);
  put(out, static_cast<std::uint64_t>(sass && image.code ? image.code->cubin_abi : isa.minor), 2);
  put(out, static_cast<std::uint64_t>(sass ? 1 : isa.major), 2);
  put(out, static_cast<std::uint64_t>(arch.number), 4);
  put(out, 0, 8);
  put(out,
      (packed ? fatbin::kFlagZstd : 0) | (arch.suffix == Suffix::a ? fatbin::kFlagA : 0) |
          (arch.suffix == Suffix::f ? fatbin::kFlagF : 0),
      8);
  put(out, 0, 16);
  out.insert(out.end(), payload.begin(), payload.end());
}

std::uint16_t kind_in_table(const FatbinEntry& entry) {
  switch (entry.kind) {
    case EntryKind::ptx:
      return fatbin::kKindPtx;
    case EntryKind::sass:
      return fatbin::kKindElf;
    case EntryKind::ltoir:
      return fatbin::kKindLtoir;
    case EntryKind::reloc_ptx:
      return fatbin::kKindRelocatablePtx;
    case EntryKind::other:
      break;
  }
  return kNotUnderstood;
}

// What a driver does with it is told by more than a header.
bool is_in_doubt(const Image& image, std::uint32_t role) {
  const bool for_linking = image.code && image.code->relocatable && role != kRolePart;
  return !image.unknown.empty() || for_linking || (image.code && image.code->refused) ||
         (image.entry.own_arch && image.entry.kind != EntryKind::sass);
}

void put_item(Bytes& out, std::uint32_t role, const std::vector<Image>& images) {
  Bytes entries;
  for (const Image& image : images) {
    if (image.entry.optix) continue;
    Arch arch = image.entry.arch;
    const bool doubt = is_in_doubt(image, role);
    // It is for this very device in any case; for others nobody knows.
    const bool suffix_in_doubt = !image.entry.or_archs.empty();
    if (suffix_in_doubt) arch.suffix = Suffix::a;
    if (!doubt) put_image(entries, kind_in_table(image.entry), image, arch);
    if (doubt || suffix_in_doubt) put_image(entries, kNotUnderstood, image, arch);
  }
  put(out, role, 4);
  put(out, 1, 4);
  put(out, fatbin::kMagic, 4);
  put(out, 1, 2);
  put(out, fatbin::kHeaderSize, 2);
  put(out, entries.size(), 8);
  out.insert(out.end(), entries.begin(), entries.end());
}

Bytes unit_of(const std::vector<Image>& images, std::uint32_t role = kRoleAlone) {
  Bytes unit;
  put_item(unit, role, images);
  return unit;
}

// The fat binaries of a file's device links, until all of the file is read.
class Links {
 public:
  explicit Links(const DeviceCode& code) : code_(code), links_(code), found_(links_.size()) {}

  // False where it is of no link.
  bool add(const DeviceObject& object, const FatbinCode& contents) {
    const auto at = static_cast<std::size_t>(&object - code_.objects.data());
    const auto same = [&](const Fatbin& each) { return each.offset == contents.fatbin.offset; };
    const auto fatbin = std::find_if(object.fatbins.begin(), object.fatbins.end(), same);
    const LinkRole* role = links_.role(at, static_cast<std::size_t>(fatbin - object.fatbins.begin()));
    if (role == nullptr) return false;
    links_.note(*role, object, contents);
    if (role->linked) put_item(found_[*role->linked].linked.emplace_back(), kRoleLinked, contents.images);
    for (const auto& [link, part] : role->parts) {
      Found& found = found_[link];
      put_item(DeviceLinks::is_runtime(contents) ? found.runtime : found.parts, kRolePart, contents.images);
    }
    return true;
  }

  std::vector<Bytes> units() const {
    std::vector<Bytes> all;
    for (std::size_t link = 0; link < found_.size(); ++link) {
      if (!links_.asks(link)) continue;
      for (Bytes unit : found_[link].linked) {
        const Found& found = found_[link];
        unit.insert(unit.end(), found.parts.begin(), found.parts.end());
        if (links_.wants_runtime(link)) unit.insert(unit.end(), found.runtime.begin(), found.runtime.end());
        all.push_back(std::move(unit));
      }
    }
    return all;
  }

 private:
  struct Found {
    std::vector<Bytes> linked;
    Bytes parts, runtime;  // of libcudadevrt, which a link may have no use for
  };
  const DeviceCode& code_;
  DeviceLinks links_;
  std::vector<Found> found_;
};

// Of the images that a file holds as data, one a module: the program loads the one that fits.
std::vector<Bytes> units_of(const BareImages& bare, std::uint32_t role) {
  std::vector<Bytes> all;
  std::set<std::size_t> modules;
  const auto image_of = [&](std::size_t item) {
    return bare.kinds()[bare.items()[item].kind].images.front();
  };
  for (const auto& [name, kernel] : bare.kernels()) modules.insert(kernel.module);
  for (const std::size_t module : modules) {
    std::vector<Image> images;
    for (const std::size_t item : bare.items_of(module)) images.push_back(image_of(item));
    all.push_back(unit_of(images, role));
  }
  for (std::size_t item = 0; item < bare.items().size(); ++item)
    if (bare.items()[item].kernel.empty()) all.push_back(unit_of({image_of(item)}, role));
  return all;
}

}  // namespace

Status PreflightTable::add(const DeviceCode& code, const ByteSource& file, const std::string& path) {
  Links links(code);
  BareImages bare;
  bool any_alone = false;
  Waivers none;
  const auto collect = [&](const DeviceObject& object, const FatbinCode& contents) {
    if (contents.fatbin.bare)
      bare.add(where(object, contents.fatbin), contents, fatbin::compiles_code(object.runtime_code));
    else if (!links.add(object, contents) && asks_for_image(contents) && !contents.fatbin.relocatable) {
      add_unit(unit_of(contents.images));
      any_alone = true;
    }
  };
  const FileResult result = verify_file(code, file, path, {}, none, {}, collect);
  if (!result.errors.empty()) return result.errors.front();
  for (Bytes& unit : links.units()) {
    add_unit(std::move(unit));
    any_alone = true;
  }
  bare.finish();
  for (Bytes& unit : units_of(bare, any_alone ? kRoleData : kRoleAlone)) add_unit(std::move(unit));
  return Done{};
}

void PreflightTable::add_unit(Bytes unit) {
  const auto [known, is_new] = known_.try_emplace(unit, units_.size());
  if (is_new) {
    units_.push_back(std::move(unit));
    times_.push_back(0);
  }
  ++times_[known->second];
}

Result<Bytes> PreflightTable::bytes(const std::string& build_id) const {
  Bytes items;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const std::size_t begin = items.size();
    items.insert(items.end(), units_[i].begin(), units_[i].end());
    for (unsigned byte = 0; byte < 4; ++byte)
      items[begin + kTimesAt + byte] = static_cast<std::uint8_t>(times_[i] >> (8 * byte));
  }
  Bytes out(kTableMagic.begin(), kTableMagic.end());
  put(out, kTableVersion, 4);
  put(out, build_id.size(), 4);
  put(out, items.size(), 8);
  out.insert(out.end(), build_id.begin(), build_id.end());
  out.resize((out.size() + 7) / 8 * 8);
  out.insert(out.end(), items.begin(), items.end());
  if (out.size() > kTableMost)
    return Error{"the table",
                 "has " + std::to_string(out.size()) + " bytes, and a preflight reads at most " +
                     std::to_string(kTableMost),
                 "link without it, with --wrap=__cudaRegisterFatBinary"};
  return out;
}

}  // namespace archguard
