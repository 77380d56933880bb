#include <algorithm>

#include "compat/rules.h"
#include "coverage/device_link.h"
#include "image/ptx_limits.h"

// What keeps objects from being linked for a device although each has code for it.
namespace archguard {

// What an image that is taken wants of the others, where only images define it that are not: a function
// behind `#if __CUDA_ARCH__`. What no object defines is the driver's own.
std::optional<LinkJudge::Unresolved> LinkJudge::unresolved(std::size_t link) const {
  const Answer& objects = objects_[link];
  for (const auto& [name, object] : objects.wanted)
    if (objects.defined.count(name) == 0 && links_.defines(link, name)) return Unresolved{object, name};
  return std::nullopt;
}

// Objects may share one, as a member of a class template: it counts once.
void LinkJudge::add_constants(Answer& answer, const ImageKernels& code) const {
  for (const DeviceVariable& variable : code.variables) {
    if (variable.space != VariableSpace::constant) continue;
    std::uint64_t& bytes = answer.constants[variable.name];
    bytes = std::max(bytes, variable.size);
  }
}

std::uint64_t LinkJudge::constants(std::size_t link) const {
  std::uint64_t bytes = 0;
  for (const auto& each : objects_[link].constants) bytes += std::min(each.second, UINT64_MAX - bytes);
  return bytes;
}

void LinkJudge::add_once(std::size_t link, Answer& answer, const std::string& object,
                         const ImageKernels& code) const {
  for (const std::string& name : code.names.once) {
    const auto [known, is_new] = answer.once.emplace(name, object);
    if (!is_new && answer.twice.empty() && !links_.was_linked_twice(link, name))
      answer.twice = known->second + " and " + object + " both define '" + name + "'";
  }
}

// nvJitLink 12.0 to 12.5 refuses it; from 12.6 on it prints the error and links.
void LinkJudge::refuse_definitions(std::size_t link, const std::string& again, Judgement& judgement) const {
  constexpr Version kFirstToLink{12, 6};
  const std::string& twice = objects_[link].twice;
  if (twice.empty()) return;
  if (!judgement.needs_driver || *judgement.needs_driver < kFirstToLink)
    judgement.needs_driver = kFirstToLink;
  if (!device_.driver_cuda || kFirstToLink <= *device_.driver_cuda) return;
  judgement.verdict = Verdict::uncovered;
  judgement.code = kNoKernelImage;
  judgement.reason = again + twice + " for this architecture, which drivers before CUDA " +
                     to_string(kFirstToLink) + " do not link; this one offers CUDA " +
                     to_string(*device_.driver_cuda);
  judgement.mend = "make one of them static, or name them differently";
}

// nvJitLink 13.0 and newer refuses it; 12.x does not look. For targets with an `a` it takes more of it.
void LinkJudge::refuse_shared(std::size_t link, const std::string& again, Judgement& judgement) const {
  constexpr Version kFirstToLook{13, 0};
  const auto most = most_linked_shared(objects_[link].shared);
  if (!most) return;
  const bool looks = !device_.driver_cuda || kFirstToLook <= *device_.driver_cuda;
  const bool is_sure = most->sure && looks && !most->specific;
  judgement.verdict = is_sure ? Verdict::uncovered : Verdict::unknown;
  judgement.code = is_sure ? kNoKernelImage : 0;
  judgement.reason = again + "the kernel '" + most->kernel + "' has " + std::to_string(most->bytes) +
                     " bytes of static shared memory with functions of other objects, and " +
                     std::to_string(kSharedMost) + " are the most";
  if (!most->sure)
    judgement.reason += "; functions that are called one after the other may share theirs";
  else if (!is_sure)
    judgement.reason += "; whether this driver takes more is not known";
  judgement.mend = "declare that shared memory without a size (extern __shared__), which the launch gives";
}

bool may_link_runtime_of_others(const Device& device) {
  return lacks_device_runtime(*device.capability) &&
         (!device.driver_cuda || device.cuda_at_least || kFirstToLinkRuntime <= *device.driver_cuda);
}

std::string LinkJudge::change_for(std::size_t link) const {
  const std::string device = to_string(*device_.capability);
  const Answer& runtime = runtimes_[link];
  const bool loads_newer = !device_.driver_cuda || Version{13, 0} <= *device_.driver_cuda;
  if (links_.wants_runtime(link) && runtime.bad && runtime.fitting == 0 && loads_newer &&
      lacks_device_runtime(*device_.capability))
    return "build it with CUDA " + to_string(kFirstToLinkRuntime) + " or newer, for sm_" +
           to_string(arch_of(*device_.capability)) +
           ", too: the linkers of older ones refuse its libcudadevrt";
  if (links_.wants_runtime(link) && runtime.bad && runtime.fitting == 0)
    return "launch no kernels from device code, or leave " + device +
           " out: the libcudadevrt that is linked in has no code for it";
  // Compiled for the device, it lacks what its PTX for the same architecture lacks.
  if (const auto wanted = unresolved(link); wanted && objects_[link].exact)
    return "define '" + wanted->name + "' for " + device +
           ", too: its code for that is there and lacks it (#if on __CUDA_ARCH__)";
  return {};
}

Fix fix_of_runtime(ComputeCapability device) {
  Fix fix;
  fix.change =
      "verify the programs that are linked with it instead: libcudadevrt is NVIDIA's, and no program takes "
      "it "
      "but one that launches kernels from device code; that needs the libcudadevrt of a toolkit with code "
      "for " +
      to_string(device);
  return fix;
}

}  // namespace archguard
