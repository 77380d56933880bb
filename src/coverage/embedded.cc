#include "coverage/embedded.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "coverage/choices.h"

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
  add_choice(all_, code);
  for (const Image& image : code.images) {
    any_but_ltoir_ = any_but_ltoir_ || image.entry.kind != EntryKind::ltoir;
    const std::string name = image_name(image.entry);
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
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
  result.ltoir = total_ != 0 && !any_but_ltoir_;
  if (sass_ == 0 && jit_ != 0) result.needs_driver = needs_driver_;
  if (!result.lacking() && policy_.require_ptx && !holds_plain_ptx_as_data(all_)) {
    result.fitting = 0;
    result.reason = "none of them is plain PTX, which is required";
    result.where = first_;
    result.found = names_text();
    Judgement judgement;
    judgement.verdict = Verdict::uncovered;
    say_fix(result, judgement, library);
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
  if (unknown_ != 0) judgement.verdict = Verdict::unknown;
  say_fix(result, judgement, library);
  return result;
}

void EmbeddedJudge::say_fix(EmbeddedResult& result, const Judgement& judgement, bool library) const {
  result.mend = find_fix({all_, device_, policy_, library}, judgement);
  result.fix = text_of(result.mend, device_, {}, {});
}

std::string EmbeddedJudge::names_text() const {
  const std::size_t shown = std::min(names_.size(), kNamesShown);
  const auto end = names_.begin() + static_cast<std::ptrdiff_t>(shown);
  const std::string text = join(std::vector<std::string>(names_.begin(), end), ", ");
  return shown == names_.size() ? text : text + " and " + std::to_string(names_.size() - shown) + " more";
}

}  // namespace archguard
