#include <algorithm>

#include "coverage/device_link.h"

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

std::string LinkJudge::change_for(std::size_t link) const {
  const std::string device = to_string(*device_.capability);
  const Answer& runtime = runtimes_[link];
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
