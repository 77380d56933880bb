#include "coverage/embedded_failure.h"

namespace archguard {

void add_embedded_failure(DeviceResult& result, const VerifyPolicy& policy, bool compiles_code) {
  EmbeddedResult& embedded = result.embedded;
  const bool all = result.fatbins.total == 0;
  // A library links it for the device that it finds, as cuFFT does with 12,728 pieces.
  if (policy.scope == Scope::library && embedded.ltoir && !all) embedded = {};
  const bool is_error =
      all || embedded.taken_by_runtime || (policy.embedded == EmbeddedPolicy::error && !embedded.ltoir);
  // The program chooses between these and what runs here.
  embedded.for_others =
      embedded.for_others && !embedded.taken_by_runtime && result.fatbins.sass + result.fatbins.jit != 0;
  embedded.is_error =
      embedded.lacking() && is_error && !embedded.comes_later && !embedded.in_doubt && !embedded.for_others;
  if (!embedded.is_error) return;
  if (compiles_code && policy.embedded != EmbeddedPolicy::error && !embedded.taken_by_runtime) {
    embedded.may_run = true;
    embedded.reason +=
        "; the file compiles code when it runs (NVRTC), and may need these images on other devices alone: "
        "then give --embedded off";
  }
  Failure failure;
  failure.code = embedded.code;
  failure.unknown = embedded.undecided();
  failure.reason = embedded.reason;
  failure.found = embedded.found + " among the data of the file";
  failure.where = embedded.where;
  failure.kernel = embedded.kernel;
  failure.fix = embedded.fix;
  failure.mend = embedded.mend;
  result.failures.push_back(std::move(failure));
  if (result.fix.empty()) result.fix = embedded.fix;
}

}  // namespace archguard
