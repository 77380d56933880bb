#include <algorithm>

#include "base/text.h"
#include "compat/torch.h"
#include "doctor/checks.h"
#include "doctor/compiler_archs.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"

namespace archguard::doctor {
namespace {

constexpr const char* kUnsupportedArch = "nvcc-unsupported-arch";
// A build that asks for nvcc's release first, and says so: "Unsupported SM 120".
constexpr const char* kOldForBuild = "nvcc-too-old-for-build";

// What a build asks of nvcc: an architecture that the text of the error names, or the one of a GPU here.
struct AskedOfNvcc {
  Arch arch;
  const DeviceClass* device = nullptr;  // that it is for, where one here is
  bool told = false;                    // the error says that nvcc refused it
};

std::vector<AskedOfNvcc> asked_of_nvcc(const Facts& facts) {
  std::vector<AskedOfNvcc> asked;
  const auto device_for = [&](Arch arch) -> const DeviceClass* {
    for (const DeviceClass& each : facts.classes)
      if (*each.device.capability == capability_of(arch)) return &each;
    return nullptr;
  };
  for (const Explanation& each : facts.explained)
    if (each.id == kUnsupportedArch)
      for (const Arch arch : each.archs) asked.push_back({arch, device_for(arch), true});
  for (const DeviceClass& each : facts.classes)
    asked.push_back({arch_of(*each.device.capability), &each, false});
  return asked;
}

std::string home_line(const Facts& facts, Version release) {
  const std::string folder = "/usr/local/cuda-" + to_string(release);
  return "export CUDA_HOME=" +
         (facts.toolkits.count(folder) != 0 ? folder : "<folder of CUDA " + to_string(release) + ">");
}

// torch builds extensions with a toolkit of its own major version (`_check_cuda_version` in
// torch/utils/cpp_extension.py).
std::string toolkit_to_take(const Facts& facts, Arch arch, Knows answer) {
  const auto& cuda = facts.torch ? facts.torch->cuda : std::nullopt;
  if (cuda && knows(*cuda, arch) == Knows::yes)
    return "a toolkit of CUDA " + to_string(*cuda) + ", torch's own: " + home_line(facts, *cuda);
  const Version nearest = *nearest_that_knows(arch, answer);
  std::string text = "a toolkit of CUDA " + to_string(nearest) +
                     (answer == Knows::too_old ? " or newer" : " or older") +
                     " for builds: " + home_line(facts, nearest);
  if (cuda && cuda->major != nearest.major) text += ", and a torch for CUDA " + std::to_string(nearest.major);
  return text;
}

std::string nvcc_fix_for(const Facts& facts, const AskedOfNvcc& asked, Knows answer) {
  if (asked.device != nullptr || facts.classes.empty())
    return "take " + toolkit_to_take(facts, asked.arch, answer);
  std::vector<std::string> own;
  for (const DeviceClass& each : facts.classes)
    if (const auto name = torch_name(arch_of(*each.device.capability), false)) own.push_back(*name);
  const std::string list = join(own, ";");
  return "no GPU here needs it: take it out of the project's list (export TORCH_CUDA_ARCH_LIST='" + list +
         "', where the project heeds that), or take " + toolkit_to_take(facts, asked.arch, answer);
}

// Does a finding speak of it that names the list which asks for it?
bool is_in_error(const Findings& findings, const std::string& name) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
    return std::find(each.errors.begin(), each.errors.end(), kUnsupportedArch) != each.errors.end() &&
           each.cause.find(name) != std::string::npos;
  });
}

// nvcc refuses what it does not know; what is installed already does not care.
void check_archs(const Facts& facts, const JitTool& tool, Findings& findings) {
  for (const AskedOfNvcc& asked : asked_of_nvcc(facts)) {
    const Knows answer = knows(*tool.version, asked.arch);
    if (answer != Knows::too_old && answer != Knows::too_new) continue;
    const std::string name = "compute_" + to_string(asked.arch);
    if (asked.told && is_in_error(findings, name)) continue;
    Finding finding{FindingId::environment, asked.told ? Rank::likely : Rank::risk};
    finding.cause = "nvcc " + to_string(*tool.version) + " does not know " + name +
                    (asked.device != nullptr ? ", of " + archguard::describe(asked.device->device) : "") +
                    ": " + range_text(asked.arch, answer);
    finding.evidence = {tool.path, "its error: nvcc fatal : Unsupported gpu architecture '" + name + "'"};
    if (!asked.told)
      finding.evidence.emplace_back("it matters to what is built here: extensions, and programs from source");
    finding.fix = nvcc_fix_for(facts, asked, answer);
    finding.errors = {kUnsupportedArch};
    if (asked.device != nullptr) finding.errors.emplace_back(kOldForBuild);
    findings.push_back(std::move(finding));
    return;
  }
}

void check_major(const Facts& facts, const JitTool& tool, Findings& findings) {
  if (!facts.torch || !facts.torch->cuda || tool.version->major == facts.torch->cuda->major) return;
  Finding finding{FindingId::environment, Rank::risk, facts.torch->package};
  finding.cause = "nvcc is of CUDA " + to_string(*tool.version) + ", torch of CUDA " +
                  to_string(*facts.torch->cuda) + ": torch refuses to build extensions with it";
  finding.evidence = {tool.path,
                      "torch says then: the detected CUDA version mismatches the version that was "
                      "used to compile PyTorch"};
  finding.fix = "before you build an extension: " + home_line(facts, *facts.torch->cuda) +
                " (any toolkit of CUDA " + std::to_string(facts.torch->cuda->major) + " will do)";
  finding.errors = {"nvcc-torch-mismatch"};
  findings.push_back(std::move(finding));
}

// flashinfer compiles its kernels for the GPUs here with the toolkit of CUDA_HOME, CUDA_PATH or the nvcc of
// PATH; where there is none it goes by torch's CUDA. It asks for sm_120a and sm_121a
// (flashinfer/compilation_context.py; measured in its wheels: 0.5.3 to 0.6.6 ask for no release, 0.6.8 to
// 0.7.0 for 12.9 whichever GPU of 12.x it is, 0.7.1 and 0.7.2 for 12.8 on 12.0 and for 12.9 on others), and
// drops a GPU for which the toolkit is too old, so that none is left.
Version asked_by_flashinfer(const std::string& release, ComputeCapability device) {
  const bool any_of_major = !is_older(release, "0.6.8") && is_older(release, "0.7.1");
  return device.minor == 0 && !any_of_major ? Version{12, 8} : Version{12, 9};
}

void check_flashinfer(const Facts& facts, Findings& findings) {
  const InstalledPackage* flashinfer = installed_package(facts, "flashinfer-python");
  if (flashinfer == nullptr) return;
  const JitTool* nvcc = nvcc_of_builds(facts);
  const auto release = nvcc != nullptr ? nvcc->version : facts.torch ? facts.torch->cuda : std::nullopt;
  if (!release) return;
  for (const DeviceClass& each : facts.classes) {
    const ComputeCapability device = *each.device.capability;
    if (device.major != 12) continue;
    const Version asked = asked_by_flashinfer(flashinfer->package.version, device);
    if (!(*release < asked)) continue;
    Finding finding{FindingId::environment, Rank::risk};
    finding.cause = "flashinfer " + flashinfer->package.version + " compiles for " +
                    archguard::describe(each.device) + " with CUDA " + to_string(asked) + " or newer, and " +
                    (nvcc != nullptr ? "nvcc here is of " : "without an nvcc it takes torch's: ") +
                    to_string(*release);
    finding.evidence = {
        nvcc != nullptr ? nvcc->path : "no nvcc in CUDA_HOME, CUDA_PATH or PATH",
        "flashinfer then leaves the GPU out and says: No supported CUDA architectures found for major "
        "versions, or FlashInfer requires GPUs with sm75 or higher"};
    finding.fix =
        "install the toolkit of CUDA " + to_string(asked) + " or newer, and " + home_line(facts, asked);
    finding.errors = {"flashinfer-no-arch"};
    findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace

const JitTool* nvcc_of_builds(const Facts& facts) {
  for (const JitTool& tool : facts.tools)
    if (tool.kind == "nvcc" && tool.version) return &tool;
  return nullptr;
}

void check_nvcc(const Facts& facts, Findings& findings) {
  for (const JitTool& tool : facts.tools) {
    if (tool.kind != "nvcc" || !tool.version) continue;
    check_archs(facts, tool, findings);
    check_major(facts, tool, findings);
  }
  check_flashinfer(facts, findings);
}

}  // namespace archguard::doctor
