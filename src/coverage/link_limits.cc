#include <algorithm>
#include <map>
#include <set>

#include "compat/rules.h"
#include "coverage/device_link.h"
#include "image/ptx_limits.h"

// What keeps objects from being linked for a device although each has code for it.
namespace archguard {
namespace {

// With what functions among them want.
std::set<std::string> with_what_they_need(const std::set<std::string>& names,
                                          const std::multimap<std::string, std::string>& through) {
  std::set<std::string> all = names;
  std::vector<std::string> open(names.begin(), names.end());
  while (!open.empty()) {
    const auto [first, last] = through.equal_range(open.back());
    open.pop_back();
    for (auto each = first; each != last; ++each)
      if (all.insert(each->second).second) open.push_back(each->second);
  }
  return all;
}

}  // namespace

// What an image that is taken wants of the others, and none that is taken defines: a function behind `#if
// __CUDA_ARCH__`, or of an object that was forgotten, which nvcc does not miss where it links no SASS. The
// driver's own functions are not among what is wanted. nvJitLink 12.0 to 13.5 refuses a variable that is not
// defined, also where nothing uses it, and a function that a kernel reaches.
std::optional<LinkJudge::Unresolved> LinkJudge::unresolved(std::size_t link) const {
  const Answer& objects = objects_[link];
  const auto surely = with_what_they_need(objects.surely, objects.through);
  const auto perhaps = with_what_they_need(objects.perhaps, objects.through);
  std::optional<Unresolved> doubt;
  for (const auto& [name, object] : objects.wanted) {
    if (objects.defined.count(name) != 0) continue;
    Unresolved found{object, name, links_.defines(link, name), true, is_of_device_runtime(name)};
    if (found.elsewhere) return found;
    if (links_.may_be_of_runtime(link, name)) continue;
    if (surely.count(name) == 0 && perhaps.count(name) == 0) continue;
    found.surely = surely.count(name) != 0 && links_.knows_all_names(link);
    if (found.surely) return found;
    if (!doubt) doubt = std::move(found);
  }
  return doubt;
}

void LinkJudge::refuse_unresolved(std::size_t link, const std::string& again, Judgement& judgement) const {
  if (judgement.verdict == Verdict::uncovered) return;
  const auto found = unresolved(link);
  if (!found) return;
  // An image in doubt may be what defines it.
  if (judgement.verdict == Verdict::unknown && (found->elsewhere || !found->surely)) return;
  judgement.verdict = found->surely ? Verdict::uncovered : Verdict::unknown;
  judgement.code = found->surely ? kNoKernelImage : 0;
  judgement.reason = again + found->object + " uses '" + found->name + "', which no ";
  judgement.reason += found->elsewhere ? "image that fits this device defines" : "object of its link defines";
  if (!found->surely)
    judgement.reason += "; whether the driver's linker leaves out the code that uses it is not known";
  if (!found->elsewhere) judgement.mend = change_for(link);
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
  const auto wanted = objects_[link].bad ? std::nullopt : unresolved(link);
  if (!wanted) return {};
  if (!wanted->elsewhere && wanted->runtime)
    return "compile and link it for sm_" + to_string(arch_of(*device_.capability)) +
           ", too, with libcudadevrt (nvcc's default, not -cudadevrt none): nvlink takes of it what it needs "
           "for what it links";
  if (!wanted->elsewhere) return "link the object or library that defines '" + wanted->name + "', too";
  // Compiled for the device, it lacks what its PTX for the same architecture lacks.
  if (!objects_[link].exact) return {};
  return "define '" + wanted->name + "' for " + device +
         ", too: its code for that is there and lacks it (#if on __CUDA_ARCH__)";
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
