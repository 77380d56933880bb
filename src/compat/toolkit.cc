#include "compat/toolkit.h"

#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/tables.h"

namespace archguard {
namespace {

// "+90a -35" applied to the archs of the release before.
void apply_changes(std::string_view changes, std::vector<Arch>& archs) {
  for (const auto change : split(changes, ' ')) {
    const auto arch = parse_arch(change.substr(std::min<std::size_t>(change.size(), 1)));
    if (!arch) continue;  // the empty piece of a row without changes
    if (change[0] == '+')
      archs.insert(std::lower_bound(archs.begin(), archs.end(), *arch), *arch);
    else
      archs.erase(std::remove(archs.begin(), archs.end(), *arch), archs.end());
  }
}

// The numbers of the architectures of all releases.
struct KnownNumbers {
  bool is[1000] = {};
  int oldest = 999, newest = 0;
};

constexpr KnownNumbers numbers_of_table() {
  KnownNumbers known;
  for (const CudaRelease& release : kCudaReleases)
    for (const char* at = release.changes; at != nullptr && *at != '\0'; ++at) {
      int number = 0;
      for (; *at >= '0' && *at <= '9'; ++at) number = number * 10 + (*at - '0');
      if (number == 0) continue;
      known.is[number] = true;
      known.oldest = number < known.oldest ? number : known.oldest;
      known.newest = number > known.newest ? number : known.newest;
      if (*at == '\0') break;
    }
  return known;
}

constexpr KnownNumbers kKnownNumbers = numbers_of_table();

std::vector<Toolkit> toolkits_of_table() {
  std::vector<Toolkit> toolkits;
  std::vector<Arch> archs;
  for (const CudaRelease& release : kCudaReleases) {
    if (release.changes == nullptr) continue;
    apply_changes(release.changes, archs);
    toolkits.push_back({release.cuda, release.ptx_isa, archs, release.cuda >= kFirstMeasuredToolkit});
  }
  return toolkits;
}

std::vector<ComputeCapability> devices_of_table() {
  std::vector<ComputeCapability> devices;
  for (const Toolkit& toolkit : known_toolkits())
    for (const Arch arch : toolkit.archs) devices.push_back(capability_of(arch));
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

bool serves(const Toolkit& toolkit, ComputeCapability device) {
  return newest_sass_for(toolkit.archs, device) || newest_ptx_for(toolkit.archs, device);
}

bool runs_on(const Toolkit& toolkit, std::optional<Version> driver_cuda) {
  return !driver_cuda || lowest_driver_cuda_for_toolkit(toolkit.version) <= *driver_cuda;
}

}  // namespace

bool has_arch(const Toolkit& toolkit, Arch arch) {
  return std::binary_search(toolkit.archs.begin(), toolkit.archs.end(), arch);
}

bool is_sass_only(Arch arch) {
  return arch == Arch{21, Suffix::none};
}

bool may_be_made(Arch arch, std::optional<Version> toolkit) {
  if (toolkit && *toolkit > newest_known_toolkit().version) return true;
  bool is_known = false;
  for (const Toolkit& each : known_toolkits()) {
    if (has_arch(each, arch) && (!toolkit || each.version <= *toolkit)) return true;
    is_known |= has_arch(each, Arch{arch.number, Suffix::none});
  }
  return !is_known;
}

bool is_no_arch(int number) {  // asked of each entry of each fat binary
  const auto at = static_cast<std::size_t>(number);
  return number > kKnownNumbers.oldest && number < kKnownNumbers.newest && !kKnownNumbers.is[at];
}

std::optional<Version> first_ptx_for(Arch target) {
  for (const FirstPtx& first : kFirstPtx)
    if (first.number == target.number && target.suffix != Suffix::f) return first.ptx_isa;
  for (const Toolkit& toolkit : known_toolkits())
    if (has_arch(toolkit, target)) return toolkit.ptx_isa;
  return std::nullopt;
}

const std::vector<Toolkit>& known_toolkits() {
  static const std::vector<Toolkit> toolkits = toolkits_of_table();
  return toolkits;
}

const Toolkit* find_toolkit(Version version) {
  for (const Toolkit& toolkit : known_toolkits())
    if (toolkit.version == version) return &toolkit;
  return nullptr;
}

const Toolkit& newest_known_toolkit() {
  return known_toolkits().back();
}

const std::vector<ComputeCapability>& known_devices() {
  static const std::vector<ComputeCapability> devices = devices_of_table();
  return devices;
}

std::optional<Version> first_toolkit_for(ComputeCapability device) {
  for (const Toolkit& toolkit : known_toolkits())
    if (serves(toolkit, device)) return toolkit.version;
  return std::nullopt;
}

std::optional<ToolkitRange> toolkits_with_sass_for(ComputeCapability device) {
  return toolkits_with_sass_for(device, std::nullopt);
}

std::optional<Version> toolkit_of_ltoir(unsigned container) {
  constexpr unsigned kLastOf11 = 54, kFirstOf12 = 57, kLastOf12 = 64;
  if (container == 0) return std::nullopt;
  if (container <= kLastOf11) return Version{11, 2};  // the first with -dlto
  if (container < kFirstOf12) return std::nullopt;
  return container <= kLastOf12 ? Version{12, 0} : Version{13, 0};
}

bool is_linked_for(unsigned container, ComputeCapability device) {
  const auto made_by = toolkit_of_ltoir(container);
  if (!made_by) return true;
  const auto range = toolkits_with_sass_for(device);
  if (!range) return true;
  return made_by->major == 11 ? range->first < Version{12, 0} : !(range->last < *made_by);
}

std::optional<ToolkitRange> toolkits_with_sass_for(ComputeCapability device,
                                                   std::optional<Version> driver_cuda) {
  std::optional<ToolkitRange> range;
  for (const Toolkit& toolkit : known_toolkits()) {
    if (!newest_sass_for(toolkit.archs, device) || !runs_on(toolkit, driver_cuda)) continue;
    if (!range) range = ToolkitRange{toolkit.version, toolkit.version};
    range->last = toolkit.version;
  }
  return range;
}

std::optional<Version> newest_toolkit_for(const std::vector<ComputeCapability>& devices,
                                          std::optional<Version> driver_cuda) {
  std::optional<Version> with_sass, with_ptx;
  for (const Toolkit& toolkit : known_toolkits()) {
    if (!runs_on(toolkit, driver_cuda)) continue;
    const bool jit = !driver_cuda || driver_takes_ptx(toolkit.ptx_isa, *driver_cuda) == Fit::yes;
    bool sass = true, any = true;
    for (const ComputeCapability device : devices) {
      const bool has_sass = newest_sass_for(toolkit.archs, device).has_value();
      sass = sass && has_sass;
      any = any && (has_sass || (jit && newest_ptx_for(toolkit.archs, device)));
    }
    if (sass) with_sass = toolkit.version;
    if (any) with_ptx = toolkit.version;
  }
  return with_sass ? with_sass : with_ptx;
}

std::optional<Version> last_toolkit_for(ComputeCapability device) {
  std::optional<Version> last;
  for (const Toolkit& toolkit : known_toolkits())
    if (serves(toolkit, device)) last = toolkit.version;
  return last;
}

}  // namespace archguard
