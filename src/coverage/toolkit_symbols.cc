#include "coverage/toolkit_symbols.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "coverage/waivers.h"
#include "image/symbol_name.h"

namespace archguard {
namespace {

struct ToolkitVariable {
  std::string_view name;              // a glob on path_of()
  std::uint64_t least = 0, most = 0;  // bytes
  std::string_view header;            // that defines it
  std::uint64_t older = 0;            // bytes in older releases, 0 where they are the same
};

// An object of one byte has no member that host code could set. libcu++ keeps all it defines in a namespace
// of its ABI, `__4`, which tells it from a namespace `cuda` of somebody else's.
constexpr std::array<ToolkitVariable, 15> kToolkitVariables = {{
    {"cuda::__?::*", 1, 1, "cuda/*"},                 // in_place_from, get_stream, grid
    {"cuda::*::__?::*", 1, 1, "cuda/*, cuda/std/*"},  // cuda::std::__4::nullopt, cuda::mr, cuda::execution
    {"cuda::std::__?::numbers::*", 2, 16, "cuda/std/numbers"},
    {"thrust::*", 1, 1, "thrust/*"},  // seq, device, placeholders::_1, cuda_cub::par, async::reduce
    {"cute::_", 1, 1, "CUTLASS: cute/underscore.hpp"},
    {"cute::product", 1, 1, "CUTLASS: cute/numeric/integral_constant.hpp"},
    {"precalc_xorwow_matrix", 102400, 102400, "curand_precalc.h", 25600},  // CUDA 7.5 to 11.0 and newer
    {"precalc_xorwow_offset_matrix", 102400, 102400, "curand_precalc.h", 25600},
    {"mrg32k3aM1", 2304, 2304, "curand_mrg32k3a.h", 4608},  // of double, until CUDA 10.0 or newer
    {"mrg32k3aM2", 2304, 2304, "curand_mrg32k3a.h", 4608},
    {"mrg32k3aM1SubSeq", 2016, 2016, "curand_mrg32k3a.h", 4032},
    {"mrg32k3aM2SubSeq", 2016, 2016, "curand_mrg32k3a.h", 4032},
    {"mrg32k3aM1Seq", 2304, 2304, "curand_mrg32k3a.h", 4608},
    {"mrg32k3aM2Seq", 2304, 2304, "curand_mrg32k3a.h", 4608},
    {"__cr_lgamma_table", 72, 72, "curand_poisson.h"},
}};

constexpr std::size_t kToolkitNameMost = 1024;

bool is_of_file(std::string_view component) {
  return starts_with(component, "_INTERNAL_") || starts_with(component, "_GLOBAL__N_");
}

}  // namespace

std::string path_of(std::string_view variable) {
  std::string_view rest = without_file_mark(variable);
  if (!starts_with(rest, "_Z")) return std::string(rest);
  rest.remove_prefix(2);
  const bool nested = starts_with(rest, "N");
  if (nested) rest.remove_prefix(1);
  std::string path;
  while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
    std::size_t length = 0, at = 0;
    for (; at < rest.size() && rest[at] >= '0' && rest[at] <= '9' && length <= rest.size(); ++at)
      length = length * 10 + static_cast<std::size_t>(rest[at] - '0');
    if (length > rest.size() - at) return {};
    const std::string_view component = rest.substr(at, length);
    rest.remove_prefix(at + length);
    if (!is_of_file(component)) (path += path.empty() ? "" : "::") += component;
    if (!nested) break;
  }
  const bool whole = nested ? rest == "E" : rest.empty();
  return whole || starts_with(rest, "I") ? path : std::string();
}

bool is_toolkits_own(const DeviceVariable& variable) {
  const auto has_size = [&](const ToolkitVariable& own) {
    return (own.least <= variable.size && variable.size <= own.most) ||
           (own.older != 0 && variable.size == own.older);
  };
  if (variable.name.size() > kToolkitNameMost ||
      std::none_of(kToolkitVariables.begin(), kToolkitVariables.end(), has_size))
    return false;
  const std::string path = path_of(variable.name);
  return std::any_of(kToolkitVariables.begin(), kToolkitVariables.end(), [&](const ToolkitVariable& own) {
    return has_size(own) && glob_matches(own.name, path);
  });
}

// CUB asks the runtime which arch this kernel was compiled for, before it launches others of the same file
// (cub/util_device.cuh). The namespace tells the file's arch list, so that no other file's kernel can stand
// in for it; CUB before 1.16 and in a wrapped namespace (CUB_WRAPPED_NAMESPACE) has none such, and there a
// file without an image would fail others.
bool is_toolkits_own(const Kernel& kernel) {
  return kernel.state == KernelState::empty &&
         (glob_matches("_ZN3cub*CUB_*11EmptyKernelIvEEvv", kernel.name) ||
          glob_matches("_ZN3cub*_V_*11EmptyKernelIvEEvv", kernel.name));  // of CUDA 13.2 to 13.4
}

}  // namespace archguard
