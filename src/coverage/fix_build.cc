#include "coverage/fix_build.h"

#include <algorithm>

#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "coverage/fit.h"
#include "coverage/fix.h"
#include "coverage/judge_fatbin.h"

namespace archguard {

namespace {

// What nvcc compresses so without being asked: all of a relocatable fat binary, and PTX beside raw SASS.
constexpr Version kFirstZstdByDefault{13, 0};

}  // namespace

std::vector<Arch> listable(const Toolkit& toolkit) {
  std::vector<Arch> archs = toolkit.archs;
  archs.erase(std::remove_if(archs.begin(), archs.end(), is_sass_only), archs.end());
  return archs;
}

const std::vector<Arch>& archs_of_all() {
  static const std::vector<Arch> archs = [] {
    std::vector<Arch> all;
    for (const Toolkit& toolkit : known_toolkits())
      for (const Arch arch : listable(toolkit)) all.push_back(arch);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }();
  return archs;
}

bool is_zstd(const Image& image) {
  return image.entry.compression == Compression::zstd;
}

bool asks_for_zstd(const FatbinCode& code) {
  const auto is_sass = [](const Image& image) { return image.entry.kind == EntryKind::sass; };
  const bool any_sass = std::any_of(code.images.begin(), code.images.end(), is_sass);
  return std::any_of(code.images.begin(), code.images.end(), [&](const Image& image) {
    if (!is_zstd(image) || (!is_sass(image) && any_sass)) return false;
    const auto toolkit = toolkit_of(image);
    return !code.fatbin.relocatable || (toolkit && *toolkit < kFirstZstdByDefault);
  });
}

namespace {

std::vector<Arch> archs_of(const FatbinCode& code) {
  std::vector<Arch> archs;
  for (const Image& image : code.images) archs.push_back(image.entry.arch);
  return archs;
}

std::vector<Arch> not_made(std::vector<Arch> archs, const Toolkit& toolkit) {
  const auto is_made = [&](Arch arch) { return has_arch(toolkit, arch); };
  archs.erase(std::remove_if(archs.begin(), archs.end(), is_made), archs.end());
  std::sort(archs.begin(), archs.end());
  archs.erase(std::unique(archs.begin(), archs.end()), archs.end());
  return archs;
}

}  // namespace

std::vector<Arch> not_made(const FatbinCode& code, const Toolkit& toolkit) {
  return not_made(archs_of(code), toolkit);
}

bool is_of_ltoir(const FatbinCode& code) {
  const bool to_link = std::any_of(code.images.begin(), code.images.end(), [](const Image& image) {
    return image.entry.kind == EntryKind::ltoir && !image.entry.own_arch;
  });
  return !code.lto_parts.empty() || (code.fatbin.relocatable && to_link);
}

bool is_linked_as_is(const FatbinCode& code, Arch sass) {
  const auto serves = [&](const FatbinEntry& entry) {
    const bool is_taken =
        entry.kind == EntryKind::ltoir || entry.kind == EntryKind::sass || entry.kind == EntryKind::ptx;
    const bool is_of_arch = entry.arch.suffix == Suffix::none || entry.arch == sass;
    return is_taken && is_of_arch && entry.unknown.empty() && fit_of(entry, capability_of(sass)) == Fit::yes;
  };
  return !code.lto_parts.empty() &&
         std::all_of(code.lto_parts.begin(), code.lto_parts.end(), [&](const Fatbin& part) {
           return std::any_of(part.entries.begin(), part.entries.end(), serves);
         });
}

void rebuild(std::vector<Image>& images, const Toolkit& toolkit) {
  const auto gone = [&](const Image& image) { return !has_arch(toolkit, image.entry.arch); };
  images.erase(std::remove_if(images.begin(), images.end(), gone), images.end());
  for (Image& image : images) {
    if (image.entry.kind == EntryKind::ptx) image.entry.ptx_isa = toolkit.ptx_isa;
    if (!image.code) continue;
    image.code->toolkit = toolkit.version;
    image.code->cubin_abi = cubin_abi_of(toolkit.version, image.entry.arch);
    if (image.code->ptx_isa) image.code->ptx_isa = toolkit.ptx_isa;
  }
}

Image made(Image image, EntryKind kind, Arch arch, std::optional<Version> toolkit) {
  if (!image.code) image.code.emplace();
  image.code->kernels = {{"others", KernelState::real, 0}, {"some", KernelState::real, 0}};
  image.unknown.clear();
  image.entry.unknown.clear();
  image.entry.kind = kind;
  image.entry.arch = arch;
  image.code->archs = {arch};
  image.entry.or_archs.clear();
  image.entry.own_arch = false;
  image.code->toolkit = toolkit;
  image.code->cubin_abi = toolkit ? cubin_abi_of(*toolkit, arch) : 0;
  const Toolkit* maker = toolkit ? find_toolkit(*toolkit) : nullptr;
  image.entry.ptx_isa.reset();
  if (kind == EntryKind::ptx && maker != nullptr) image.entry.ptx_isa = maker->ptx_isa;
  return image;
}

void build_too(Remedy& way, const std::vector<Arch>& archs) {
  std::vector<Arch> all = way.drop;
  all.insert(all.end(), archs.begin(), archs.end());
  way.drop = not_made(std::move(all), *find_toolkit(way.toolkits->first));
}

void build_too(Remedy& way, const FatbinCode& code) {
  build_too(way, archs_of(code));
  way.lz4 = way.lz4 || (way.toolkits->first < kFirstCompressMode && asks_for_zstd(code));
}

void Fix::build_nothing(const std::string& instead) {
  const auto any = ways.size();
  const auto builds = [](const Remedy& way) { return !way.add.empty() && !way.toolkits; };
  ways.erase(std::remove_if(ways.begin(), ways.end(), builds), ways.end());
  if (ways.empty() && any != 0) change = instead;
}

}  // namespace archguard
