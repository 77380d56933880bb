#include "coverage/failures_by_cause.h"

#include <algorithm>
#include <tuple>

namespace archguard {

void FailuresByCause::add(const DeviceObject& object, const FatbinCode& code, const Cause& cause,
                          const std::string& kernel, const std::string& variable) {
  if (Failure* failure = like(cause, kernel.empty() && !variable.empty()))
    failure->places.push_back(subject_of(object, code).place);
  else
    add(cause, kernel, variable, subject_of(object, code));
}

void FailuresByCause::add(const Cause& cause, const std::string& kernel, const std::string& variable,
                          const LinkJudge::Subject& subject) {
  Failure* failure = like(cause, kernel.empty() && !variable.empty());
  if (failure == nullptr) {
    failures_.push_back({cause.number,
                         cause.unknown,
                         cause.reason,
                         {},
                         subject.found,
                         subject.where,
                         kernel,
                         variable,
                         cause.about,
                         text_of(cause.mend, device_, {}, target_),
                         cause.numbered,
                         cause.mend,
                         {},
                         cause.sooner});
    failure = &failures_.back();
  }
  failure->places.push_back(subject.place);
}

// The failure of that cause so far, or nullptr.
Failure* FailuresByCause::like(const Cause& cause, bool of_variable) {
  const std::string fix = text_of(cause.mend, device_, {}, target_);
  // Missing kernels and missing variables are listed apart.
  const auto is_apart = [&](const Failure& failure) {
    return cause.number == kSymbolNotFound && of_variable != failure.kernel.empty();
  };
  const auto same = [&](const Failure& failure) {
    return !is_apart(failure) &&
           std::tie(failure.code, failure.numbered, failure.unknown, failure.reason, failure.fix) ==
               std::tie(cause.number, cause.numbered, cause.unknown, cause.reason, fix);
  };
  const auto failure = std::find_if(failures_.begin(), failures_.end(), same);
  if (failure != failures_.end()) return &*failure;
  // Past that many causes the file is damaged throughout, and the rest is counted with the last of them.
  return failures_.size() >= kCausesMost ? &failures_.back() : nullptr;
}

void forgive_fatbins(std::vector<Failure>& failures) {
  failures.erase(std::remove_if(failures.begin(), failures.end(),
                                [](const Failure& failure) { return failure.cause != FailureCause::hollow; }),
                 failures.end());
}

bool forgive_missing_images(std::vector<Failure>& failures) {
  const auto is_mendable = [](const Failure& failure) {
    return !failure.sooner && (failure.code == kUnsupportedPtxVersion ||
                               failure.code == kInvalidKernelImage || failure.code == kJitDisabled);
  };
  const auto is_sure = [&](const Failure& failure) { return !failure.unknown && is_mendable(failure); };
  if (std::none_of(failures.begin(), failures.end(), is_mendable)) return false;
  const bool any_sure = std::any_of(failures.begin(), failures.end(), is_sure);
  const auto lacks_image = [&](const Failure& failure) {
    return failure.unknown ? any_sure || !is_mendable(failure) : failure.code == kNoKernelImage;
  };
  failures.erase(std::remove_if(failures.begin(), failures.end(), lacks_image), failures.end());
  return true;
}

}  // namespace archguard
