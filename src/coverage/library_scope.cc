#include "coverage/library_scope.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "coverage/failures_by_cause.h"

namespace archguard {
namespace {

void fail(DeviceResult& result, int code, const std::string& reason) {
  Failure failure;
  failure.code = code;
  failure.reason = reason;
  failure.cause = FailureCause::partly;
  result.failures.push_back(std::move(failure));
}

// No kernel that fits does anything: such are there to be asked whether they run. What would run with a
// newer driver or in another environment is told instead.
void fail_idle(DeviceResult& result, const LibraryCensus& census, const KernelSum& got) {
  auto& failures = result.failures;
  const auto is_moot = [](const Failure& failure) {
    return !failure.unknown &&
           (failure.code == kNoKernelImage || failure.code == kInvalidPtx || failure.sooner);
  };
  failures.erase(std::remove_if(failures.begin(), failures.end(), is_moot), failures.end());
  result.partly = census.told(got);
  const Partly working = census.working(got);
  const std::string idle = got.fit == 1 ? "the only kernel that fits does nothing"
                                        : "the " + std::to_string(got.fit) + " kernels that fit do nothing";
  fail(result, kNoKernelImage,
       idle + "; " + to_string(working.best_device) + " gets " + std::to_string(working.best) +
           " that do something");
}

std::string reason_of(const Partly& partly, const KernelSum& got) {
  return to_string(partly.best_device) + " gets " + count_of(partly.best, "kernel") + " of it, this device " +
         std::to_string(partly.kernels) + (got.compiled == got.fit ? ", all of them compiled from PTX" : "");
}

// What the driver that is stated refuses of a library that supports the device.
std::optional<Partly> refused_by_driver(const DeviceResult& result, const LibraryQuestion& question) {
  const std::uint64_t with_any = question.census.with_any_driver(question.device).fit;
  const bool is_too_old = question.driver && result.needs_driver && *question.driver < *result.needs_driver;
  if (!is_too_old || with_any <= question.got.fit) return std::nullopt;
  Partly partly;
  partly.kernels = question.got.fit;
  partly.best = with_any;
  partly.best_device = question.device;
  partly.compiles_at_run_time = question.loads_code;
  partly.needs_driver = result.needs_driver;
  return partly;
}

// A device that gets less than others do.
void judge_share(DeviceResult& result, const LibraryQuestion& question) {
  LibraryCensus& census = question.census;
  const bool is_asked = question.partly != PartlyPolicy::off && census.tells();
  auto partly = is_asked ? census.judge(question.got, question.device) : std::nullopt;
  // Enough kernels from few fat binaries are a doubt alone, whatever the driver.
  const auto is_short = [](const std::optional<Partly>& of) { return of && of->core_fatbins == 0; };
  const bool would_be_served =
      is_short(partly) && !is_short(census.judge(census.with_any_driver(question.device), question.device));
  // Where a newer driver, or another environment, gives the device enough, that is what it lacks.
  if (would_be_served && forgive_missing_images(result.failures)) return;
  forgive_fatbins(result.failures);
  if (!partly) {
    if (is_asked) result.partly = refused_by_driver(result, question);
    return;
  }
  partly->compiles_at_run_time = question.loads_code;
  if (question.loads_code) partly->clear = false;
  result.partly = partly;
  if (partly->clear && question.partly == PartlyPolicy::error)
    fail(result, 0, reason_of(*partly, question.got));
}

}  // namespace

void judge_as_library(DeviceResult& result, const LibraryQuestion& question) {
  const KernelSum& got = question.got;
  // What is linked again may hold kernels that no linked image has.
  result.kernels.total = std::max(question.census.kernels(), got.fit);
  result.kernels.covered = got.fit;
  result.kernels.missing.clear();
  result.kernels.unlaunchable.clear();
  result.variables.missing.clear();
  result.variables.unregistered.clear();
  result.variables.unnamed.clear();
  if (got.working == 0 && question.census.tells()) {
    if (got.fit != 0) fail_idle(result, question.census, got);
    forgive_missing_images(result.failures);
  } else if (!question.any_fits) {
    forgive_missing_images(result.failures);
  } else {
    judge_share(result, question);
  }
}

}  // namespace archguard
