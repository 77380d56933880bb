#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "doctor/checks.h"
#include "doctor/compiler_archs.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"

namespace archguard::doctor {
namespace {

// The architecture that Triton asks its ptxas for: the device's own, with the suffix where it has one
// (`sm_arch_from_capability` in its compiler.py). Before 3.3 only 9.0 got one.
Arch asked_of_ptxas(ComputeCapability device, const JitTool& tool) {
  Arch arch = arch_of(device);
  const bool is_old =
      tool.owner && is_older(tool.owner->version, "3.3") && arch.number != kFirstArchWithSuffix;
  if (arch.number >= kFirstArchWithSuffix && !is_old) arch.suffix = Suffix::a;
  return arch;
}

bool is_of_triton(const JitTool& tool) {
  return tool.path.find("/triton/") != std::string::npos || (tool.owner && tool.owner->name == "triton");
}

// The name of Triton's second ptxas, which has a variable of its own.
constexpr const char* kSecondPtxas = "ptxas-blackwell";

struct TritonPtxas {
  const char* variable;               // that names another
  std::vector<const JitTool*> tools;  // the one that the variable names, else those of the installed tritons
};

TritonPtxas triton_ptxas_for(const Facts& facts, ComputeCapability device) {
  std::vector<const JitTool*> first, second;
  for (const JitTool& tool : facts.tools)
    if (tool.kind == "ptxas" && !tool.chosen && is_of_triton(tool))
      (file_name_of(tool.path) == kSecondPtxas ? second : first).push_back(&tool);
  const bool takes_second = !second.empty() && is_for_second_ptxas_of_triton(device);
  TritonPtxas used{takes_second ? "TRITON_PTXAS_BLACKWELL_PATH" : "TRITON_PTXAS_PATH", takes_second ? second : first};
  const std::string named = variable(facts, used.variable);
  for (const JitTool& tool : facts.tools)
    if (tool.kind == "ptxas" && tool.chosen && tool.path == named) used.tools = {&tool};
  return used;
}

void check_ptxas(const Facts& facts, Findings& findings) {
  for (const DeviceClass& each : facts.classes) {
    const TritonPtxas used = triton_ptxas_for(facts, *each.device.capability);
    const auto answer_of = [&](const JitTool* tool) {
      return tool->version ? knows(*tool->version, asked_of_ptxas(*each.device.capability, *tool))
                           : Knows::untold;
    };
    const auto refuses = [&](const JitTool* tool) {
      return answer_of(tool) == Knows::too_old || answer_of(tool) == Knows::too_new;
    };
    if (used.tools.empty() || !std::all_of(used.tools.begin(), used.tools.end(), refuses)) continue;
    const JitTool& tool = *used.tools.front();
    const Knows answer = answer_of(&tool);
    const Arch arch = asked_of_ptxas(*each.device.capability, tool);
    const bool is_asked = !facts.torch || !is_refused_by_inductor(*each.device.capability);
    Finding finding{FindingId::jit_compiler, is_asked ? Rank::likely : Rank::risk, tool.owner};
    const std::string name = "sm_" + to_string(arch);
    finding.cause = (tool.chosen ? std::string("the ptxas that ") + used.variable + " names" : "triton's " + file_name_of(tool.path)) +
                    " " + to_string(*tool.version) + " does not know " + name + ", of " +
                    archguard::describe(each.device) + ": " + range_text(arch, answer);
    finding.evidence = {tool.path,
                        "ptxas says then: Value '" + name + "' is not defined for option 'gpu-name'"};
    finding.fix = std::string("set ") + used.variable +
                  (answer == Knows::too_old
                       ? " to a ptxas that knows it (/usr/local/cuda/bin/ptxas of a newer toolkit), or update triton"
                       : " to a ptxas of an older toolkit, or install an older triton");
    if (!is_asked)
      finding.fix += "; torch.compile refuses the GPU all the same: " + std::string(kRefusedByInductor);
    findings.push_back(std::move(finding));
    return;
  }
}

// triton's ptxas may know a device for which torch.compile asks nothing of Triton. Others, as JAX, do ask.
void check_triton_itself(const Facts& facts, Findings& findings) {
  if (!facts.torch) return;
  for (const DeviceClass& each : facts.classes) {
    const TritonPtxas used = triton_ptxas_for(facts, *each.device.capability);
    if (used.tools.empty() || !is_refused_by_inductor(*each.device.capability)) continue;
    Finding finding{FindingId::jit_compiler, Rank::risk, used.tools.front()->owner};
    finding.cause = "torch.compile ends with an error on " + archguard::describe(each.device) + ": " + kRefusedByInductor;
    finding.evidence = {"torch says then: Found … which is too old to be supported by the triton GPU compiler"};
    finding.fix = "run without torch.compile: TORCHDYNAMO_DISABLE=1";
    findings.push_back(std::move(finding));
    return;
  }
}

// Who compiles with NVRTC whatever it does: these have no other way to a kernel.
bool lives_by_nvrtc(const Facts& facts) {
  return std::any_of(facts.packages.begin(), facts.packages.end(), [](const InstalledPackage& each) {
    return starts_with(each.package.name, "cupy") || starts_with(each.package.name, "numba_cuda") ||
           starts_with(each.package.name, "warp_lang") || starts_with(each.package.name, "taichi");
  });
}

// A driver takes the PTX of its own release, and older ones.
std::optional<Finding> makes_newer_ptx(const JitTool& tool, const std::string& name,
                                       const DeviceClass& each) {
  const Toolkit* release = find_toolkit(*tool.version);
  if (release == nullptr || !each.device.driver_cuda || each.device.cuda_at_least ||
      driver_takes_ptx(release->ptx_isa, *each.device.driver_cuda) != Fit::no)
    return std::nullopt;
  Finding finding{FindingId::jit_compiler, Rank::risk, tool.owner};
  finding.code = kUnsupportedPtxVersion;
  const auto takes = newest_ptx_for_driver(*each.device.driver_cuda);
  finding.cause = name + " " + to_string(*tool.version) + " makes PTX " + to_string(release->ptx_isa) +
                  ", the driver of " + archguard::describe(each.device) + " takes " +
                  (takes ? to_string(*takes) : std::string("an older one"));
  finding.evidence = {tool.path,
                      "it matters to programs that hand PTX to the driver: error 222, Unsupported .version"};
  finding.fix =
      "update the driver, or use " + name + " of CUDA " + to_string(*each.device.driver_cuda) + " or older";
  return finding;
}

void check_nvrtc(const Facts& facts, const JitTool& tool, Findings& findings) {
  if (tool.kind != "nvrtc" || !tool.version) return;
  const bool in_use = tool.chosen || std::any_of(facts.environments.begin(), facts.environments.end(),
                                                 [&](const PythonEnvironment& each) {
                                                   return starts_with(tool.path, each.prefix);
                                                 });
  if (!in_use) return;
  for (const DeviceClass& each : facts.classes) {
    const ComputeCapability device = *each.device.capability;
    const Arch arch = arch_of(device);
    const Knows answer = knows(*tool.version, arch);
    Finding finding{FindingId::jit_compiler, Rank::risk, tool.owner};
    finding.evidence = {tool.path};
    if (answer == Knows::too_old || answer == Knows::too_new) {
      if (lives_by_nvrtc(facts) || tool.chosen) finding.rank = Rank::likely;
      finding.cause = "NVRTC " + to_string(*tool.version) + " cannot compile for " +
                      archguard::describe(each.device) + ": " + range_text(arch, answer);
      finding.evidence.emplace_back(
          "its error: nvrtc: error: invalid value for --gpu-architecture (-arch)");
      finding.fix = answer == Knows::too_old
                        ? "install a newer build of the program that uses it, with the NVRTC it is made for"
                        : "install an older build of the program that uses it, with the NVRTC it is made for";
      findings.push_back(std::move(finding));
      return;
    }
    if (auto newer = makes_newer_ptx(tool, "NVRTC", each)) {
      findings.push_back(std::move(*newer));
      return;
    }
  }
}

// numba makes PTX with NVVM, and hands it to the driver. numba_cuda does so with NVRTC's linker where it can;
// and where CUDA's minor version compatibility is asked for, nvJitLink makes SASS of it (numba's manual,
// "Minor version compatibility").
void check_nvvm(const Facts& facts, const JitTool& tool, Findings& findings) {
  if (tool.kind != "nvvm" || !tool.version || is_on(facts, "NUMBA_CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY"))
    return;
  if (installed_package(facts, "numba") == nullptr || installed_package(facts, "numba-cuda") != nullptr) return;
  for (const DeviceClass& each : facts.classes)
    if (auto newer = makes_newer_ptx(tool, "NVVM", each)) {
      newer->evidence.emplace_back("numba is here, which compiles with NVVM");
      findings.push_back(std::move(*newer));
      return;
    }
}

}  // namespace

void check_jit_compiler(const Facts& facts, Findings& findings) {
  check_ptxas(facts, findings);
  check_triton_itself(facts, findings);
  for (const JitTool& tool : facts.tools) {
    check_nvrtc(facts, tool, findings);
    check_nvvm(facts, tool, findings);
  }
}

}  // namespace archguard::doctor
