#include "compat/driver.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "compat/error_codes.h"
#include "compat/tables.h"
#include "compat/toolkit.h"

namespace archguard {
namespace {

// "535.104.05", "576.57", "550": the number before the first dot.
std::optional<int> driver_branch_in(std::string_view driver_version) {
  const auto parts = split(trim(driver_version), '.');
  if (parts.size() > 3) return std::nullopt;
  for (const auto part : parts)
    if (!parse_number(part, 99999)) return std::nullopt;
  return static_cast<int>(*parse_number(parts.front(), 99999));
}

const LastTegraCuda* last_of_tegra(ComputeCapability device) {
  for (const LastTegraCuda& row : kLastTegraCudas)
    if (row.device == device) return &row;
  return nullptr;
}

// The CUDA whose drivers are the first that compile PTX of this arch.
std::optional<Version> first_driver_cuda_of(Arch arch) {
  const auto ptx_isa = first_ptx_for(arch);
  return ptx_isa ? lowest_driver_cuda_for_ptx(*ptx_isa) : std::nullopt;
}

// The same for the first of a major version: drivers before it know no chip of that generation.
std::optional<Version> first_driver_cuda_of_major(int major) {
  std::optional<Version> first;
  for (const ComputeCapability device : known_devices()) {
    const auto cuda = device.major == major ? first_driver_cuda_of(arch_of(device)) : std::nullopt;
    if (cuda && (!first || *cuda < *first)) first = cuda;
  }
  return first;
}

}  // namespace

std::optional<Version> driver_cuda_of(std::string_view driver_version) {
  const auto branch = driver_branch_in(driver_version);
  if (!branch) return std::nullopt;
  std::optional<Version> cuda;
  for (const CudaRelease& release : kCudaReleases)
    if (release.driver_branch != 0 && release.driver_branch <= *branch) cuda = release.cuda;
  return cuda;
}

std::optional<Version> driver_cuda_of(std::string_view driver_version,
                                      std::optional<ComputeCapability> device) {
  if (device && may_be_tegra(*device)) return std::nullopt;
  return driver_cuda_of(driver_version);
}

bool is_driver_beyond_table(std::string_view driver_version) {
  const auto branch = driver_branch_in(driver_version);
  return branch && std::all_of(std::begin(kCudaReleases), std::end(kCudaReleases),
                               [&](const auto& release) { return release.driver_branch < *branch; });
}

bool is_cuda_beyond_driver(Version cuda, std::string_view driver_version,
                           std::optional<ComputeCapability> device) {
  const auto own = driver_cuda_of(driver_version, device);
  if (!own || is_driver_beyond_table(driver_version)) return false;
  const auto& all = known_driver_cudas();
  return std::count_if(all.begin(), all.end(), [&](Version each) { return *own < each && !(cuda < each); }) >=
         2;
}

std::string jetpack_advice(Version driver_cuda, ComputeCapability device) {
  const LastTegraCuda* last = last_of_tegra(device);
  const std::string jetpack = "upgrade to a JetPack that offers CUDA " + to_string(driver_cuda) + " or newer";
  const std::string compat = "install NVIDIA's package cuda-compat for the board";
  const std::string tell = ", and give the CUDA that it then offers as driver_cuda";
  if (last == nullptr) return jetpack + ", or " + compat + tell;
  if (driver_cuda <= last->jetpack) return jetpack + tell;
  return compat + ", of CUDA " + to_string(driver_cuda) + " to " + to_string(last->compat) + tell;
}

std::optional<Version> newest_ptx_for_driver(Version driver_cuda) {
  std::optional<Version> ptx_isa;
  if (driver_cuda > kNewestCuda) return ptx_isa;
  for (const CudaRelease& release : kCudaReleases)
    if (release.cuda <= driver_cuda) ptx_isa = release.ptx_isa;
  return ptx_isa;
}

std::optional<Version> lowest_driver_cuda_for_ptx(Version ptx_isa) {
  for (const CudaRelease& release : kCudaReleases)
    if (ptx_isa == release.ptx_isa) return release.cuda;
  return std::nullopt;
}

std::optional<int> driver_branch_of(Version driver_cuda) {
  for (const CudaRelease& release : kCudaReleases)
    if (release.cuda == driver_cuda && release.driver_branch != 0) return release.driver_branch;
  return std::nullopt;
}

std::optional<int> last_driver_branch_for(ComputeCapability device) {
  if (may_be_tegra(device)) return std::nullopt;
  for (const LastBranch& row : kLastBranches)
    if (!(device < row.first) && !(row.last < device)) return row.branch;
  return std::nullopt;
}

bool is_dropped_by_branch(std::string_view driver_version, ComputeCapability device) {
  const auto branch = driver_branch_in(driver_version), last = last_driver_branch_for(device);
  return branch && last && *last < *branch;
}

std::optional<Version> last_driver_cuda_for(ComputeCapability device) {
  if (const LastTegraCuda* last = last_of_tegra(device)) return last->compat;
  const auto branch = last_driver_branch_for(device);
  return branch ? driver_cuda_of(std::to_string(*branch)) : std::nullopt;
}

bool may_ever_offer(ComputeCapability device, Version driver_cuda) {
  const auto last = last_driver_cuda_for(device);
  return !last || driver_cuda <= *last;
}

std::optional<Version> first_driver_cuda_for(ComputeCapability device) {
  return first_driver_cuda_of(arch_of(device));
}

const std::vector<Version>& known_driver_cudas() {
  static const std::vector<Version> known = [] {
    std::vector<Version> versions;
    for (const CudaRelease& each : kCudaReleases) versions.push_back(each.cuda);
    return versions;
  }();
  return known;
}

Fit driver_knows(ComputeCapability device, Version driver_cuda) {
  const auto last = last_driver_cuda_for(device);
  if (last && *last < driver_cuda) return Fit::no;
  const auto first = first_driver_cuda_for(device);
  if (!first || *first <= driver_cuda) return Fit::yes;
  const auto first_of_major = first_driver_cuda_of_major(device.major);
  return first_of_major && driver_cuda < *first_of_major ? Fit::no : Fit::unknown;
}

Fit driver_takes_sass(const SassMaker& maker, Version driver_cuda) {
  if (maker.abi == kNewCubinAbi && driver_cuda < kFirstNewCubinDriver) return Fit::no;
  if (!maker.toolkit || lowest_driver_cuda_for_toolkit(*maker.toolkit) <= driver_cuda) return Fit::yes;
  const bool seen = maker.toolkit->major >= 12 && driver_cuda.major < 12;
  return seen ? Fit::no : Fit::unknown;
}

std::optional<Version> lowest_driver_cuda_for_sass(const SassMaker& maker) {
  std::optional<Version> lowest;
  if (maker.toolkit) lowest = lowest_driver_cuda_for_toolkit(*maker.toolkit);
  if (maker.abi == kNewCubinAbi && (!lowest || *lowest < kFirstNewCubinDriver)) lowest = kFirstNewCubinDriver;
  return lowest;
}

int cubin_abi_of(Version toolkit, Arch arch) {
  const bool is_new = toolkit >= Version{13, 0} || arch.number >= 100;
  return is_new ? kNewCubinAbi : kNewCubinAbi - 1;
}

bool takes_large_parameters(Version ptx_isa, Arch target) {
  return Version{8, 1} <= ptx_isa && target.number >= 70;
}

Version lowest_driver_cuda_for_toolkit(Version toolkit) {
  return toolkit.major >= 11 ? Version{toolkit.major, 0} : toolkit;
}

Fit driver_takes_ptx(Version ptx_isa, Version driver_cuda) {
  if (const auto lowest = lowest_driver_cuda_for_ptx(ptx_isa))
    return driver_cuda >= *lowest ? Fit::yes : Fit::no;
  const bool is_newer = std::end(kCudaReleases)[-1].ptx_isa < ptx_isa;
  return is_newer && driver_cuda <= kNewestCuda ? Fit::no : Fit::unknown;
}

int error_of_newer_ptx(Version driver_cuda) {
  return driver_cuda < Version{11, 0} ? kInvalidPtx : kUnsupportedPtxVersion;
}

int error_of_unfit_link(Version driver_cuda) {
  constexpr Version kRecorded{13, 0};
  return driver_cuda < kRecorded ? kNoKernelImage : kSymbolNotFound;
}

bool driver_takes_zstd(Version driver_cuda) {
  return driver_cuda >= kFirstZstdDriver;
}

}  // namespace archguard
