#include "coverage/fix.h"

#include <algorithm>

#include "base/text.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "coverage/waivers.h"

namespace archguard {
namespace {

// What is to be built for one arch.
struct Addition {
  Arch arch;
  bool sass = false, ptx = false;
};

std::string cmake_entry(const Addition& add) {
  return to_string(add.arch) + (!add.ptx ? "-real" : !add.sass ? "-virtual" : "");
}

std::string nvcc_flags(const Addition& add) {
  const std::string number = to_string(add.arch), flag = "-gencode=arch=compute_" + number + ",code=";
  if (!add.ptx) return flag + "sm_" + number;
  return (add.sass ? flag + "sm_" + number + " " : "") + flag + "compute_" + number;
}

std::string torch_entry(const Addition& add) {
  return to_string(capability_of(add.arch)) + suffix_text(add.arch.suffix) + (add.ptx ? "+PTX" : "");
}

template <class Spelling>
std::vector<std::string> spelled(const std::vector<Addition>& additions, Spelling spelling) {
  std::vector<std::string> texts;
  for (const Addition& add : additions) texts.push_back(spelling(add));
  return texts;
}

// "a", "a and b", "a, b and c"; not empty.
std::string listed(std::vector<std::string> texts) {
  const std::string last = texts.back();
  texts.pop_back();
  return texts.empty() ? last : join(texts, ", ") + " and " + last;
}

// The same entries for CMake, for nvcc and for PyTorch's extensions: who reads this may build with any of
// them.
std::string add_entries(const std::vector<Addition>& additions, const std::string& target) {
  const std::string add = "add " + listed(spelled(additions, cmake_entry)) + " to ";
  if (!target.empty()) return add + "CUDA_ARCHITECTURES of target '" + target + "'";
  return add + "CMAKE_CUDA_ARCHITECTURES (nvcc: " + join(spelled(additions, nvcc_flags), " ") +
         "; TORCH_CUDA_ARCH_LIST: " + join(spelled(additions, torch_entry), " ") + ")";
}

std::string add_arch(Arch arch, const std::string& target) {
  return add_entries({{arch, true, false}}, target);
}

std::string add_ptx(Arch arch, const std::string& target) {
  return add_entries({{arch, false, true}}, target);
}

// `what`: kernels or variables, `first` the one that the report names first.
std::string fix_missing(const std::string& what, const std::string& first,
                        const std::vector<std::string>& missing, ComputeCapability device) {
  return "compile every source file that holds these " + what + " for " + to_string(arch_of(device)) +
         " too, or waive them: --waivers FILE with " +
         (missing.size() > 1 ? "a line for each, such as '" : "the line '") +
         waiver_line(first, device, missing) + "'";
}

// A driver new enough for `cuda`, by its branch where that is known.
std::string update_driver(Version cuda, ComputeCapability device) {
  if (may_be_tegra(device)) return jetpack_advice(cuda);
  const auto branch = driver_branch_of(cuda);
  return "update the driver to " +
         (branch ? "branch " + std::to_string(*branch) + " (CUDA " + to_string(cuda) + ")"
                 : "one that offers CUDA " + to_string(cuda)) +
         " or newer";
}

std::string fix_missing_image(ComputeCapability device, const VerifyPolicy& policy,
                              std::optional<Version> version) {
  const auto last = last_toolkit_for(device);
  if (policy.scope == Scope::library) {
    std::string fix = "use a build of this library that holds sm_" + to_string(arch_of(device));
    if (last && *last < newest_known_toolkit().version)
      fix += ", made with CUDA " + to_string(*last) + " or older";
    return fix;
  }
  const Toolkit* toolkit = version ? find_toolkit(*version) : nullptr;
  if (toolkit == nullptr) return add_arch(arch_of(device), policy.target);
  if (const auto sass = newest_sass_for(toolkit->archs, device)) return add_arch(*sass, policy.target);
  if (last && *last < toolkit->version)
    return "build with CUDA " + to_string(*last) + ", the last toolkit that serves " + to_string(device) +
           ", or leave this device out of the fleet";
  if (const auto ptx = newest_ptx_for(toolkit->archs, device)) {
    std::string fix = add_ptx(*ptx, policy.target);
    if (const auto toolkits = toolkits_with_sass_for(device))
      fix += ", or build with CUDA " + to_string(toolkits->first) + " or newer and add " +
             to_string(arch_of(device)) + "-real";
    return fix;
  }
  return "no known toolkit serves " + to_string(device) + "; leave this device out of the fleet";
}

// A library that was not made for the device, though some of its kernels run there.
std::string fix_partly(ComputeCapability device, const VerifyPolicy& policy, std::optional<Version> toolkit) {
  const Environment& environment = policy.judge.environment;
  if (!environment.forces_jit.empty()) return "unset " + environment.forces_jit;
  return fix_missing_image(device, policy, toolkit) +
         "; --partly warn, if the program calls only what runs there";
}

// "", where no toolkit is known by that number.
std::string or_older_toolkit(Version cuda) {
  return find_toolkit(cuda) == nullptr ? "" : ", or build with CUDA " + to_string(cuda);
}

// Without the compression the driver must still serve the toolkit that made the image, and compile its PTX.
std::string fix_compression(const DeviceResult& result, const Device& device, const VerifyPolicy& policy) {
  const Version needed = result.needs_driver.value_or(kFirstZstdDriver);
  const std::string update = update_driver(needed, *device.capability);
  if (policy.scope == Scope::library) return update;
  if (kFirstZstdDriver < needed) return update + or_older_toolkit(*device.driver_cuda);
  return update + ", or compile with nvcc's --compress-mode=speed (LZ4)";
}

std::string fix_new_ptx(const DeviceResult& result, const Device& device, const VerifyPolicy& policy,
                        std::optional<Version> toolkit) {
  std::string update =
      result.needs_driver ? update_driver(*result.needs_driver, *device.capability) : "update the driver";
  if (policy.scope == Scope::library) return update;
  // SASS avoids the compiler of an old driver, but not the floor that this toolkit's runtime sets (35).
  if (result.toolkit_ahead) return update + or_older_toolkit(*device.driver_cuda);
  const Toolkit* made_by = toolkit ? find_toolkit(*toolkit) : nullptr;
  const auto sass = made_by != nullptr ? newest_sass_for(made_by->archs, *device.capability)
                                       : std::optional<Arch>(arch_of(*device.capability));
  return sass ? add_arch(*sass, policy.target) + ", or " + update : update;
}

}  // namespace

std::string fix_old_driver(const DeviceResult& result, const DeviceClass& devices,
                           const VerifyPolicy& policy) {
  const Device& device = devices.device;
  const Version driver = *device.driver_cuda;
  std::string fix = update_driver(*result.needs_driver, *device.capability);
  fix += policy.scope == Scope::library
             ? ", or use a build of this library for CUDA " + std::to_string(driver.major)
             : or_older_toolkit(driver);
  if (devices.may_have_compat)
    fix +=
        ", or, where cuda-compat gives programs a newer CUDA than this driver, tell that in the column "
        "driver_cuda of the fleet file";
  return fix;
}

std::string fix_for(const DeviceResult& result, const Device& device, const VerifyPolicy& policy,
                    std::optional<Version> toolkit) {
  const auto with_code = [&](int code) {
    return std::find_if(result.failures.begin(), result.failures.end(),
                        [&](const Failure& failure) { return failure.code == code && !failure.unknown; });
  };
  const auto failed = [&](int code) { return with_code(code) != result.failures.end(); };
  const ComputeCapability capability = *device.capability;
  const Environment& environment = policy.judge.environment;
  if (failed(kInsufficientDriver)) {
    DeviceResult rest = result;
    rest.failures.erase(rest.failures.begin());
    const std::string then = fix_for(rest, device, policy, toolkit);
    return result.runtime_fix + (then.empty() ? "" : "; then " + then);
  }
  if (failed(kJitDisabled)) return "unset " + environment.disables_jit;
  if (failed(kNoKernelImage) && !environment.forces_jit.empty()) return "unset " + environment.forces_jit;
  if (failed(kNoKernelImage)) return fix_missing_image(capability, policy, toolkit);
  if (result.partly && failed(0)) return fix_partly(capability, policy, toolkit);
  if (failed(kUnsupportedPtxVersion)) return fix_new_ptx(result, device, policy, toolkit);
  if (failed(kInvalidKernelImage)) return fix_compression(result, device, policy);
  if (failed(kInvalidPtx))
    return "link that code with nvcc (nvcc -dlink, or CUDA_RESOLVE_DEVICE_SYMBOLS in CMake), or compile it "
           "without -rdc=true (CUDA_SEPARABLE_COMPILATION)";
  if (failed(kInvalidDeviceFunction))
    return fix_missing("kernels", with_code(kInvalidDeviceFunction)->kernel, result.kernels.missing,
                       capability);
  if (failed(kInvalidSymbol))
    return fix_missing("variables", with_code(kInvalidSymbol)->variable, result.variables.missing,
                       capability);
  if (policy.judge.require_driver && result.containers.unknown != 0)
    return "name the driver: --device " + to_string(capability) + "@13.0, or " +
           (may_be_tegra(capability)
                ? "the column driver_cuda in the fleet file, with the CUDA of its JetPack"
                : "a driver_version column in the fleet file");
  if (policy.judge.require_sass && result.containers.uncovered != 0)
    return fix_missing_image(capability, policy, toolkit);
  if (policy.judge.require_ptx && result.containers.uncovered != 0) {
    const Toolkit* made_by = toolkit ? find_toolkit(*toolkit) : nullptr;
    const auto ptx = made_by != nullptr ? newest_ptx_for(made_by->archs, capability)
                                        : std::optional<Arch>(arch_of(capability));
    if (ptx) return add_ptx(*ptx, policy.target);
  }
  if (policy.hollow == HollowPolicy::error && !result.kernels.hollow.empty())
    return "compile that code for " + to_string(arch_of(capability)) + " too, or waive it: --waivers FILE";
  return {};
}

std::string fix_for_absent(const std::vector<ExpectedImage>& absent, const std::string& target) {
  // The target's property asks for them already.
  if (!target.empty())
    return "remove -arch and -gencode flags that override CUDA_ARCHITECTURES of target '" + target +
           "' for this source file";
  std::vector<Addition> additions;
  for (const ExpectedImage& image : absent) {
    auto add = std::find_if(additions.begin(), additions.end(),
                            [&](const Addition& each) { return each.arch == image.arch; });
    if (add == additions.end()) add = additions.insert(add, {image.arch});
    (image.sass ? add->sass : add->ptx) = true;
  }
  return add_entries(additions, target);
}

}  // namespace archguard
