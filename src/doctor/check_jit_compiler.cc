#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
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

constexpr Version kOldestPtxasOfXla{11, 8};

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
  TritonPtxas used{takes_second ? "TRITON_PTXAS_BLACKWELL_PATH" : "TRITON_PTXAS_PATH",
                   takes_second ? second : first};
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
    finding.cause = (tool.chosen ? std::string("the ptxas that ") + used.variable + " names"
                                 : "triton's " + file_name_of(tool.path)) +
                    " " + to_string(*tool.version) + " does not know " + name + ", of " +
                    archguard::describe(each.device) + ": " + range_text(arch, answer);
    finding.evidence = {tool.path,
                        "ptxas says then: Value '" + name + "' is not defined for option 'gpu-name'"};
    finding.fix =
        std::string("set ") + used.variable +
        (answer == Knows::too_old
             ? " to a ptxas that knows it (/usr/local/cuda/bin/ptxas of a newer toolkit), or update triton"
             : " to a ptxas of an older toolkit, or install an older triton");
    if (!is_asked)
      finding.fix += "; torch.compile refuses the GPU all the same: " + std::string(kRefusedByInductor);
    findings.push_back(std::move(finding));
    return;
  }
}

// The newest toolkit of the driver's major version that knows the device: one that is installed, else by its
// number.
std::string ptxas_for_driver(const Facts& facts, const Device& device) {
  std::optional<Version> newest, installed;
  for (const Toolkit& each : known_toolkits()) {
    if (each.version.major != device.driver_cuda->major ||
        knows(each.version, arch_of(*device.capability)) != Knows::yes)
      continue;
    newest = each.version;
    if (facts.toolkits.count("/usr/local/cuda-" + to_string(each.version)) != 0) installed = each.version;
  }
  if (!newest) return {};
  return installed ? "/usr/local/cuda-" + to_string(*installed) + "/bin/ptxas"
                   : "<folder of CUDA " + to_string(*newest) + ">/bin/ptxas";
}

// triton hands the driver cubins that its own ptxas made. A driver loads those of its major version of CUDA,
// and of older ones (compat/driver.h). (pytorch/pytorch#119054: ptxas 12.3 under driver 470, "device kernel
// image is invalid".)
void check_ptxas_and_driver(const Facts& facts, Findings& findings) {
  for (const DeviceClass& each : facts.classes) {
    const Device& device = each.device;
    if (!device.driver_cuda || device.cuda_at_least) continue;
    const TritonPtxas used = triton_ptxas_for(facts, *device.capability);
    const auto is_too_new = [&](const JitTool* tool) {
      return tool->version &&
             knows(*tool->version, asked_of_ptxas(*device.capability, *tool)) == Knows::yes &&
             *device.driver_cuda < lowest_driver_cuda_for_toolkit(*tool->version);
    };
    if (used.tools.empty() || !std::all_of(used.tools.begin(), used.tools.end(), is_too_new)) continue;
    const JitTool& tool = *used.tools.front();
    const Version lowest = lowest_driver_cuda_for_toolkit(*tool.version);
    Finding finding{FindingId::jit_compiler, Rank::risk, tool.owner, kInvalidKernelImage};
    finding.cause = (tool.chosen ? std::string("the ptxas that ") + used.variable + " names"
                                 : "triton's " + file_name_of(tool.path)) +
                    " is of CUDA " + to_string(*tool.version) + ", and the driver of " +
                    archguard::describe(device) + " loads no code of its: error " +
                    std::to_string(kInvalidKernelImage) + " in what torch.compile or triton compiles";
    finding.evidence = {tool.path, "its code needs a driver of " + cuda_text(lowest) + " or newer"};
    const std::string other = ptxas_for_driver(facts, device);
    finding.fix =
        (other.empty() ? std::string() : std::string("export ") + used.variable + "=" + other + "; or ") +
        "update the driver to one of " + cuda_text(lowest) + " or newer";
    finding.errors = {"invalid-kernel-image"};
    findings.push_back(std::move(finding));
    return;
  }
}

// JAX tells XLA the folder of CUDA_ROOT, else that of nvidia-cuda-nvcc (jax/_src/lib/__init__.py), whose
// ptxas XLA takes first; then, and where a part of it is not told that folder, the first ptxas of PATH that
// is 11.8 or newer (`FindCudaExecutable` and `FindPtxAsExecutable` of
// xla/stream_executor/cuda/subprocess_compilation.cc). TensorFlow tells it no folder. (jax-ml/jax#25718)
bool is_of_xla(const InstalledPackage& each) {
  const std::string& name = each.package.name;
  return starts_with(name, "jax_cuda") || starts_with(name, "jax-cuda") || name == "jaxlib" ||
         name == "tensorflow" || name == "tensorflow_gpu" || name == "tensorflow-gpu";
}

void check_ptxas_of_xla(const Facts& facts, Findings& findings) {
  if (std::none_of(facts.packages.begin(), facts.packages.end(), is_of_xla)) return;
  const JitTool* own = nullptr;
  for (const JitTool& tool : facts.tools)
    if (tool.kind == "ptxas" && tool.version && tool.found_by.empty() && !tool.chosen &&
        !is_of_triton(tool) && (own == nullptr || *own->version < *tool.version))
      own = &tool;
  if (own == nullptr) return;
  for (const JitTool& tool : facts.tools) {
    if (tool.found_by.empty() || tool.kind != "ptxas" || !tool.version || !(*tool.version < *own->version) ||
        *tool.version < kOldestPtxasOfXla)
      continue;
    Finding finding{FindingId::jit_compiler, Rank::risk};
    finding.cause = "XLA may compile with ptxas " + to_string(*tool.version) + ", which " + tool.found_by +
                    " leads to, in place of " + to_string(*own->version) + " of " +
                    who(own->owner, own->path);
    finding.evidence = {
        tool.path, own->path,
        "an older ptxas refuses newer PTX (Unsupported .version), and XLA warns of releases that miscompile"};
    finding.fix =
        tool.found_by == "PATH" ? "export PATH=" + folder_of(own->path) + ":$PATH" : "unset " + tool.found_by;
    finding.errors = {"xla-ptxas", "ptx-version", "ptxas-unknown-arch"};
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
    finding.cause =
        "torch.compile ends with an error on " + archguard::describe(each.device) + ": " + kRefusedByInductor;
    finding.evidence = {
        "torch says then: Found … which is too old to be supported by the triton GPU compiler"};
    finding.fix = "run without torch.compile: TORCHDYNAMO_DISABLE=1";
    finding.errors = {"triton-too-old-gpu"};
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
  finding.errors = {"ptx-version"};
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
      finding.errors = {"nvrtc-arch"};
      finding.evidence.emplace_back("its error: nvrtc: error: invalid value for --gpu-architecture (-arch)");
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
  if (installed_package(facts, "numba") == nullptr || installed_package(facts, "numba-cuda") != nullptr)
    return;
  for (const DeviceClass& each : facts.classes)
    if (auto newer = makes_newer_ptx(tool, "NVVM", each)) {
      newer->evidence.emplace_back("numba is here, which compiles with NVVM" +
                                   (tool.found_by.empty() ? std::string() : ", that of " + tool.found_by));
      findings.push_back(std::move(*newer));
      return;
    }
}

}  // namespace

void check_jit_compiler(const Facts& facts, Findings& findings) {
  check_ptxas(facts, findings);
  check_ptxas_and_driver(facts, findings);
  check_ptxas_of_xla(facts, findings);
  check_triton_itself(facts, findings);
  for (const JitTool& tool : facts.tools) {
    check_nvrtc(facts, tool, findings);
    check_nvvm(facts, tool, findings);
  }
}

}  // namespace archguard::doctor
