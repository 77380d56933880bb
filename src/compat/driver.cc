#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "compat/rules.h"
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

std::string jetpack_advice(Version driver_cuda) {
  return "upgrade to a JetPack that offers CUDA " + to_string(driver_cuda) +
         " or newer, or install NVIDIA's package cuda-compat for the board, and give the CUDA that it then "
         "offers as driver_cuda";
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
    if (ptx_isa <= release.ptx_isa) return release.cuda;
  return std::nullopt;
}

std::optional<int> driver_branch_of(Version driver_cuda) {
  for (const CudaRelease& release : kCudaReleases)
    if (release.cuda == driver_cuda && release.driver_branch != 0) return release.driver_branch;
  return std::nullopt;
}

std::optional<int> last_driver_branch_for(ComputeCapability device) {
  for (const LastBranch& row : kLastBranches)
    if (!(device < row.first) && !(row.last < device)) return row.branch;
  return std::nullopt;
}

Version lowest_driver_cuda_for_toolkit(Version toolkit) {
  return toolkit.major >= 11 ? Version{toolkit.major, 0} : toolkit;
}

}  // namespace archguard
