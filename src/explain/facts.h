#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "compat/arch.h"

namespace archguard {

// The architectures that a text names: "sm_121a", "compute_61", "sm100f"; in its order, each once.
std::vector<Arch> archs_in(std::string_view text);
// The device that it names: "capability (12, 0)", "capability 6.1", "CUDA capability sm_61", "cc=860". Not
// what something asks for ("requires compute capability 8.9", "8.9 or higher"), and none of several.
std::optional<ComputeCapability> device_in(std::string_view text);
// Versions X.Y, in its order.
std::vector<Version> versions_in(std::string_view text);

// What a text tells of a kind of error, in sentences without a full stop. `slice` is what was found of it,
// `around` that and what stands behind.
using Tell = std::vector<std::string> (*)(std::string_view slice, std::string_view around);
std::vector<std::string> tell_compilers(std::string_view slice,
                                        std::string_view around);  // that know its archs
std::vector<std::string> tell_ptx_versions(std::string_view slice, std::string_view around);
std::vector<std::string> tell_device(std::string_view slice, std::string_view around);  // and its toolkits
std::vector<std::string> tell_arch_list(std::string_view slice,
                                        std::string_view around);  // and whether one fits
std::vector<std::string> tell_arch_specific(std::string_view slice,
                                            std::string_view around);  // sm_90a: for 9.0 alone
std::vector<std::string> tell_two_cudas(std::string_view slice, std::string_view around);
std::vector<std::string> tell_torch_names(std::string_view slice, std::string_view around);
std::vector<std::string> tell_library(std::string_view slice, std::string_view around);    // libnvrtc.so.12
std::vector<std::string> tell_driver(std::string_view slice, std::string_view around);     // "version 11040"
std::vector<std::string> tell_condition(std::string_view slice, std::string_view around);  // "cuda>=12.8"

}  // namespace archguard
