#include "compat/rules.h"

#include <algorithm>

#include "compat/tables.h"
#include "compat/toolkit.h"

namespace archguard {
namespace {

template <std::size_t kCount>
bool lists(const ComputeCapability (&devices)[kCount], ComputeCapability device) {
  for (const ComputeCapability each : devices)
    if (each == device) return true;
  return false;
}

bool same_major_not_older(Arch image, ComputeCapability device) {
  const ComputeCapability made_for = capability_of(image);
  return made_for.major == device.major && made_for.minor <= device.minor;
}

// A family grows with later releases (100f got 10.7 with CUDA 13.4), so a family or a device that the table
// does not know leaves the question open, unless the major version already settles it.
Fit family_fits(Arch image, ComputeCapability device) {
  bool is_known = false;
  for (const FamilyMember& member : kFamilyMembers) {
    if (member.family != image.number) continue;
    if (member.device == device) return Fit::yes;
    is_known = true;
  }
  if (!is_known) return capability_of(image).major == device.major ? Fit::unknown : Fit::no;
  return is_beyond_table(device) && same_major_not_older(image, device) ? Fit::unknown : Fit::no;
}

Fit ptx_fits_by_name(Arch image, ComputeCapability device) {
  switch (image.suffix) {
    case Suffix::a:
      return capability_of(image) == device ? Fit::yes : Fit::no;
    case Suffix::f:
      return family_fits(image, device);
    case Suffix::none:
      break;
  }
  return device < capability_of(image) ? Fit::no : Fit::yes;
}

template <class Fits>
std::optional<Arch> highest_plain(const std::vector<Arch>& archs, ComputeCapability device, Fits fits) {
  std::optional<Arch> highest;
  for (const Arch arch : archs)
    if (arch.suffix == Suffix::none && fits(arch, device) == Fit::yes && (!highest || *highest < arch))
      highest = arch;
  return highest;
}

}  // namespace

bool is_tegra(ComputeCapability device) {
  return lists(kTegraDevices, device);
}

bool may_be_tegra(ComputeCapability device) {
  return is_tegra(device) || lists(kSuspectedTegraDevices, device);
}

Fit sass_fits(Arch image, ComputeCapability device) {
  if (image.suffix == Suffix::f) return family_fits(image, device);
  const ComputeCapability made_for = capability_of(image);
  if (made_for == device) return Fit::yes;
  if (image.suffix == Suffix::a) return Fit::no;
  // Tegra chips take no image of a desktop GPU of the same major version, nor the other way round; and no two
  // Tegra chips share a major version, except with the suspected one. So exact matches are all there is.
  for (const ComputeCapability side : {made_for, device})
    if (may_be_tegra(side)) return Fit::no;
  return same_major_not_older(image, device) ? Fit::yes : Fit::no;
}

Fit ptx_fits(Arch image, ComputeCapability device) {
  const Fit fit = ptx_fits_by_name(image, device);
  const auto renamed = later_name(image);
  return fit != Fit::yes && renamed ? ptx_fits_by_name(*renamed, device) : fit;
}

bool sass_fit_is_doubted(Arch image, ComputeCapability device) {
  return image == Arch{120, Suffix::none} && device == ComputeCapability{12, 1};
}

std::optional<Arch> newest_sass_for(const std::vector<Arch>& archs, ComputeCapability device) {
  return highest_plain(archs, device, sass_fits);
}

std::optional<Arch> newest_ptx_for(const std::vector<Arch>& archs, ComputeCapability device) {
  return highest_plain(archs, device, ptx_fits);
}

std::optional<Arch> later_name(Arch arch) {
  for (const Renaming& renaming : kRenamings)
    if (renaming.from == arch.number) return Arch{renaming.to, arch.suffix};
  return std::nullopt;
}

bool lacks_device_runtime(ComputeCapability device) {
  return device == ComputeCapability{8, 7} || device == ComputeCapability{8, 8};
}

bool lacks_32_bits(ComputeCapability device) {
  constexpr ComputeCapability kFirstWithout{9, 0};
  return !(device < kFirstWithout);
}

bool lacks_device_sync(ComputeCapability device) {
  constexpr ComputeCapability kFirstWithout{9, 0};
  return !(device < kFirstWithout);
}

bool has_cublaslt_for_bitsandbytes(ComputeCapability device) {
  constexpr ComputeCapability kFirst{7, 5};
  return !(device < kFirst);
}

bool is_for_second_ptxas_of_triton(ComputeCapability device) {
  constexpr ComputeCapability kFirst{10, 0};
  return !(device < kFirst);
}

bool is_refused_by_inductor(ComputeCapability device) {
  constexpr ComputeCapability kFirst{7, 0};
  return device < kFirst;
}

bool is_beyond_table(ComputeCapability device) {
  const Arch own = arch_of(device);
  return std::none_of(known_toolkits().begin(), known_toolkits().end(),
                      [own](const Toolkit& toolkit) { return has_arch(toolkit, own); });
}

}  // namespace archguard
