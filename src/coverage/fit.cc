#include "coverage/fit.h"

#include <algorithm>
#include <utility>

#include "compat/rules.h"
#include "compat/toolkit.h"

namespace archguard {
namespace {

Fit fit_as(const FatbinEntry& entry, Arch arch, ComputeCapability device) {
  if (!is_linked_for(entry.ltoir_version, device)) return Fit::no;
  return entry.kind == EntryKind::sass || entry.own_arch ? sass_fits(arch, device) : ptx_fits(arch, device);
}

// Does the image fit as one arch that it may be for, and not as another?
bool suffix_decides(const FatbinEntry& entry, ComputeCapability device) {
  const Fit fit = fit_as(entry, entry.arch, device);
  return std::any_of(entry.or_archs.begin(), entry.or_archs.end(),
                     [&](Arch arch) { return fit_as(entry, arch, device) != fit; });
}

}  // namespace

bool is_native(EntryKind kind) {
  return kind == EntryKind::sass || kind == EntryKind::ltoir;
}

Fit fit_of(const FatbinEntry& entry, ComputeCapability device) {
  return suffix_decides(entry, device) ? Fit::unknown : fit_as(entry, entry.arch, device);
}

bool is_image_by_itself(const Fatbin& fatbin) {
  return fatbin.size != 0 && fatbin.entries.size() == 1 && fatbin.entries[0].stored_size == fatbin.size;
}

bool is_taken_before(const FatbinEntry& entry, const FatbinEntry& earlier, ComputeCapability device) {
  const auto rank = [](const FatbinEntry& each) {
    const Suffix suffix = each.arch.suffix;
    return std::make_pair(each.arch.number, suffix == Suffix::a ? 2 : suffix == Suffix::f ? 1 : 0);
  };
  if (rank(entry) != rank(earlier)) return rank(entry) > rank(earlier);
  return entry.kind == EntryKind::ptx && entry.arch == arch_of(device);
}

bool is_cubin_by_itself(const Fatbin& fatbin) {
  return (is_image_by_itself(fatbin) || fatbin.bare) && !fatbin.entries.empty() &&
         fatbin.entries[0].kind == EntryKind::sass;
}

std::string why_unknown(const FatbinEntry& entry, ComputeCapability device) {
  const std::string name = image_name(entry);
  if (suffix_decides(entry, device) && entry.kind == EntryKind::ptx)
    return "its header says " + to_string(entry.or_archs.front()) + ", the PTX itself sm_" +
           to_string(entry.arch) + ", and these differ on " + to_string(device);
  if (suffix_decides(entry, device))
    return "it does not tell whether it is " + name + ", and these differ on " + to_string(device);
  return "whether " + name + " runs on " + to_string(device) + " is not known";
}

}  // namespace archguard
