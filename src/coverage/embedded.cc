#include "coverage/embedded.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "compat/rules.h"
#include "compat/toolkit.h"

namespace archguard {
namespace {

constexpr std::size_t kNamesShown = 8;

// How near a failure is to running: what a newer driver or another environment mends comes first.
int nearness(const Judgement& judgement) {
  if (judgement.verdict == Verdict::unknown) return 4;
  if (judgement.code == kUnsupportedPtxVersion || judgement.code == kInvalidKernelImage ||
      judgement.code == kJitDisabled)
    return 3;
  if (judgement.verdict == Verdict::specific) return 0;
  return judgement.code == kNoKernelImage ? 1 : 2;
}

std::string fix_missing(ComputeCapability device, std::optional<Version> version, bool library) {
  const std::string own = to_string(arch_of(device));
  if (library) return "use a build of this library that embeds an image for sm_" + own;
  const Toolkit* toolkit = version ? find_toolkit(*version) : nullptr;
  const auto sass =
      toolkit != nullptr ? newest_sass_for(toolkit->archs, device) : std::optional(arch_of(device));
  const auto ptx =
      toolkit != nullptr ? newest_ptx_for(toolkit->archs, device) : std::optional(arch_of(device));
  std::vector<std::string> ways;
  if (ptx)
    ways.push_back("PTX of compute_" + to_string(*ptx) + " (nvcc -ptx -arch=compute_" + to_string(*ptx) +
                   ")");
  if (sass)
    ways.push_back("a cubin of sm_" + to_string(*sass) + " (nvcc -cubin -arch=sm_" + to_string(*sass) + ")");
  if (!ways.empty()) return "embed " + join(ways, " or ") + " as well";
  const auto last = last_toolkit_for(device);
  return last ? "build with CUDA " + to_string(*last) + ", the last toolkit that serves " +
                    to_string(device) + ", or leave this device out of the fleet"
              : "no known toolkit serves " + to_string(device) + "; leave this device out of the fleet";
}

std::string fix_of(const Judgement& judgement, const Device& device, const JudgePolicy& policy,
                   std::optional<Version> toolkit, bool library) {
  const ComputeCapability capability = *device.capability;
  switch (judgement.code) {
    case kJitDisabled:
      return "unset " + policy.environment.disables_jit;
    case kNoKernelImage:
      if (!policy.environment.forces_jit.empty()) return "unset " + policy.environment.forces_jit;
      return fix_missing(capability, toolkit, library);
    case kUnsupportedPtxVersion:
    case kInvalidKernelImage:
      if (judgement.needs_driver)
        return "update the driver to one that offers CUDA " + to_string(*judgement.needs_driver) +
               " or newer" + (library ? "" : ", or embed a cubin of sm_" + to_string(arch_of(capability)));
      return {};
    case kInvalidPtx:
      return "compile that PTX without -rdc=true, or embed the cubin that nvcc -dlink makes";
    default:
      return judgement.verdict == Verdict::unknown ? std::string()
                                                   : fix_missing(capability, toolkit, library);
  }
}

bool is_plain_ptx(const Image& image) {
  return image.entry.kind == EntryKind::ptx && image.entry.arch.suffix == Suffix::none;
}

}  // namespace

bool asks_as_embedded(const ContainerCode& code) {
  if (code.container.relocatable) return false;
  return std::any_of(code.images.begin(), code.images.end(), [](const Image& image) {
    return !image.entry.optix && (!image.unknown.empty() || (image.code && !image.code->kernels.empty()));
  });
}

void EmbeddedJudge::add(const std::string& place, const ContainerCode& code) {
  if (!asks_as_embedded(code)) return;
  JudgePolicy policy = policy_;
  policy.require_ptx = false;  // asked of all of them together
  const Judgement judgement = judge(code, device_, policy);
  if (judgement.verdict == Verdict::nothing) return;
  if (++total_ == 1) first_ = place;
  for (const Image& image : code.images) {
    any_plain_ptx_ = any_plain_ptx_ || is_plain_ptx(image);
    const std::string name = image_name(image.entry);
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    if (const auto toolkit = toolkit_of(image);
        image.unknown.empty() && toolkit && (!toolkit_ || *toolkit_ < *toolkit))
      toolkit_ = toolkit;
  }
  switch (judgement.verdict) {
    case Verdict::sass:
      ++sass_;
      return;
    case Verdict::jit:
      ++jit_;
      if (judgement.needs_driver && (!needs_driver_ || *judgement.needs_driver < *needs_driver_))
        needs_driver_ = judgement.needs_driver;
      return;
    case Verdict::unknown:
      ++unknown_;
      break;
    default:
      break;
  }
  if (!failed_ || nearness(failed_->judgement) < nearness(judgement))
    failed_ = Failed{judgement, place, code.kernels.empty() ? std::string() : code.kernels.front().name};
}

EmbeddedResult EmbeddedJudge::finish(bool library) const {
  EmbeddedResult result;
  result.total = total_;
  result.fitting = sass_ + jit_;
  result.unknown = unknown_;
  if (sass_ == 0 && jit_ != 0) result.needs_driver = needs_driver_;
  if (!result.lacking() && policy_.require_ptx && !any_plain_ptx_) {
    result.fitting = 0;
    result.reason = "none of them is plain PTX, which is required";
    result.where = first_;
    result.found = names_text();
    result.fix = fix_missing(*device_.capability, toolkit_, library);
    return result;
  }
  if (!result.lacking()) return result;
  Judgement judgement = failed_->judgement;
  if (judgement.verdict == Verdict::specific) {
    judgement.code = kNoKernelImage;
    judgement.reason = "images with an a or f suffix, none for this device";
  }
  result.needs_driver = judgement.needs_driver;
  result.code = judgement.code;
  result.reason = judgement.reason;
  result.where = failed_->place;
  result.kernel = failed_->kernel;
  result.found = names_text();
  result.fix = fix_of(judgement, device_, policy_, toolkit_, library);
  return result;
}

std::string EmbeddedJudge::names_text() const {
  const std::size_t shown = std::min(names_.size(), kNamesShown);
  const auto end = names_.begin() + static_cast<std::ptrdiff_t>(shown);
  const std::string text = join(std::vector<std::string>(names_.begin(), end), ", ");
  return shown == names_.size() ? text : text + " and " + std::to_string(names_.size() - shown) + " more";
}

}  // namespace archguard
