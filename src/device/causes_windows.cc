#include "base/printable.h"
#include "base/text.h"
#include "device/causes.h"
#include "device/failure_words.h"

namespace archguard {

Diagnostic explain_load_on_windows(const FailureFacts& facts) {
  Diagnostic diagnostic;
  diagnostic.stage = "load";
  diagnostic.fix = "reinstall the NVIDIA driver";
  if (facts.cuda.state == DynamicLibrary::State::broken) {
    diagnostic.cause = "nvcuda.dll cannot be loaded: " + printable(facts.cuda.load_error);
  } else if (facts.cuda.state == DynamicLibrary::State::loaded) {
    diagnostic.cause =
        "nvcuda.dll" + in_file(facts.cuda.path) + " lacks the functions of the CUDA driver API";
    diagnostic.fix = "remove this file, which is no NVIDIA driver library, or its folder from PATH";
  } else if (!facts.nvml.devices.empty()) {
    diagnostic.cause =
        "NVML sees " + count_of(facts.nvml.devices.size(), "GPU") + ", but nvcuda.dll was not found";
  } else {
    diagnostic.cause = "no NVIDIA driver on this machine (nvcuda.dll was not found)";
    diagnostic.fix = "install the NVIDIA driver, or give a fleet file that names the GPUs to build for";
  }
  return diagnostic;
}

std::optional<Diagnostic> explain_cuda_code_on_windows(Diagnostic diagnostic, const FailureFacts& facts) {
  const auto& visible = facts.around.cuda_visible_devices;
  const int code = diagnostic.code.value_or(0);
  if (code == 46 || code == 101) return std::nullopt;
  if (code == 100 && visible && (!facts.nvml.devices.empty() || hides_all(*visible)))
    return hidden_by_environment(std::move(diagnostic), facts);
  if (code == 100) {
    diagnostic.cause = "the driver finds no CUDA device in this machine";
    if (!facts.nvml.devices.empty())
      diagnostic.cause += "; NVML sees " + count_of(facts.nvml.devices.size(), "GPU");
    diagnostic.fix = "check that the Device Manager shows the GPU without a warning, or give a fleet file";
  } else if (code == 34) {
    diagnostic.cause =
        "the toolkit's stub library was loaded instead of the driver" + in_file(facts.cuda.path);
    diagnostic.fix = "remove its folder from PATH";
  } else {
    diagnostic.cause =
        "the CUDA driver" + in_file(facts.cuda.path) + " failed with error " + std::to_string(code);
    diagnostic.fix = "restart the machine, or reinstall the NVIDIA driver";
  }
  return diagnostic;
}

Diagnostic explain_nvml_code_on_windows(Diagnostic diagnostic, const FailureFacts& facts) {
  diagnostic.cause += " with error " + std::to_string(diagnostic.code.value_or(0)) + in_file(facts.nvml.path);
  diagnostic.fix = "compare with nvidia-smi";
  return diagnostic;
}

}  // namespace archguard
