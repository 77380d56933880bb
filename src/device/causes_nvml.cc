#include "device/causes.h"
#include "device/error_names.h"
#include "device/failure_words.h"

namespace archguard {

Diagnostic explain_nvml_code(const CallFailure& failure, const FailureFacts& facts) {
  Diagnostic diagnostic{"nvml", failure.code, nvml_error_name(failure.code), {}, {}};
  const std::string call = failure.call + " failed";
  if (facts.around.windows) {
    diagnostic.cause = call;
    return explain_nvml_code_on_windows(diagnostic, facts);
  }
  switch (failure.code) {
    case 9:
      diagnostic.cause = call + ": the nvidia kernel module is not loaded";
      diagnostic.fix = "load the nvidia kernel module";
      break;
    case 4:
      diagnostic.cause = call + ": this user may not ask the driver";
      diagnostic.fix = "give the user access to /dev/nvidiactl and /dev/nvidia*";
      break;
    case 15:
      diagnostic.cause = call + ": a GPU fell off the bus";
      diagnostic.fix = "see what the kernel log says of it (dmesg | grep -i xid), and restart the machine";
      break;
    case 18:
      diagnostic.cause = call + ": NVML" + in_file(facts.nvml.path) +
                         (facts.around.nvml_version.empty() ? "" : " " + facts.around.nvml_version) +
                         " and the loaded kernel driver " + or_unknown(facts.driver_version) +
                         " differ, as after an unattended upgrade";
      diagnostic.fix = "reboot, or reload the nvidia kernel modules";
      break;
    default:
      diagnostic.cause = call + " with error " + std::to_string(failure.code) + in_file(facts.nvml.path);
      diagnostic.fix = "compare with nvidia-smi";
      break;
  }
  return diagnostic;
}

}  // namespace archguard
