#include "base/text.h"
#include "compat/torch.h"
#include "doctor/checks.h"
#include "doctor/compiler_archs.h"

namespace archguard::doctor {
namespace {

constexpr const char* kUnsupportedArch = "nvcc-unsupported-arch";

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

// torch builds extensions with a toolkit of its own major version (`_check_cuda_version` in
// torch/utils/cpp_extension.py).
std::string toolkit_to_take(const Facts& facts, Arch arch, Knows answer) {
  const auto home = [&](Version release) {
    const std::string folder = "/usr/local/cuda-" + to_string(release);
    return "export CUDA_HOME=" +
           (facts.toolkits.count(folder) != 0 ? folder : "<folder of CUDA " + to_string(release) + ">");
  };
  const auto& cuda = facts.torch ? facts.torch->cuda : std::nullopt;
  if (cuda && knows(*cuda, arch) == Knows::yes)
    return "a toolkit of CUDA " + to_string(*cuda) + ", torch's own: " + home(*cuda);
  const Version nearest = *nearest_that_knows(arch, answer);
  std::string text = "a toolkit of CUDA " + to_string(nearest) +
                     (answer == Knows::too_old ? " or newer" : " or older") + " for builds: " + home(nearest);
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

// nvcc refuses what it does not know; what is installed already does not care.
void check_archs(const Facts& facts, const JitTool& tool, Findings& findings) {
  for (const AskedOfNvcc& asked : asked_of_nvcc(facts)) {
    const Knows answer = knows(*tool.version, asked.arch);
    if (answer != Knows::too_old && answer != Knows::too_new) continue;
    const std::string name = "compute_" + to_string(asked.arch);
    Finding finding{FindingId::environment, asked.told ? Rank::likely : Rank::risk};
    finding.cause = "nvcc " + to_string(*tool.version) + " does not know " + name +
                    (asked.device != nullptr ? ", of " + archguard::describe(asked.device->device) : "") +
                    ": " + range_text(asked.arch, answer);
    finding.evidence = {tool.path, "its error: nvcc fatal : Unsupported gpu architecture '" + name + "'"};
    if (!asked.told)
      finding.evidence.emplace_back("it matters to what is built here: extensions, and programs from source");
    finding.fix = nvcc_fix_for(facts, asked, answer);
    finding.errors = {kUnsupportedArch};
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
  finding.fix = "set CUDA_HOME to a toolkit of CUDA " + std::to_string(facts.torch->cuda->major) +
                " before you build an extension";
  finding.errors = {"nvcc-torch-mismatch"};
  findings.push_back(std::move(finding));
}

}  // namespace

void check_nvcc(const Facts& facts, Findings& findings) {
  for (const JitTool& tool : facts.tools) {
    if (tool.kind != "nvcc" || !tool.version) continue;
    check_archs(facts, tool, findings);
    check_major(facts, tool, findings);
  }
}

}  // namespace archguard::doctor
