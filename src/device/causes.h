#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/failure_facts.h"
#include "device/probe.h"

// The cause and the fix of each way in which a driver fails. Each kind has a file of its own.
namespace archguard {

// ---- causes_load.cc ----

// No libcuda, or one that cannot be loaded. Is there a driver nevertheless?
Diagnostic explain_load(const FailureFacts& facts);
bool kernel_driver_present(const FailureFacts& facts);

// A child that did not finish.
Diagnostic explain_end(const std::string& library, const LibraryAnswers& answers, const Surroundings& around);

// ---- causes_cuda.cc ----

// A code that cuInit or a later call of the driver API returned.
Diagnostic explain_cuda_code(const CallFailure& failure, const FailureFacts& facts);

// ---- causes_nvml.cc ----

// NVML failed where the driver API did not.
Diagnostic explain_nvml_code(const CallFailure& failure, const FailureFacts& facts);

// ---- causes_environment.cc ----

// A CUDA_DEVICE_ORDER that CUDA does not know, an empty one too: cuInit then says 101 (recorded on
// CUDA 13.0).
std::optional<Diagnostic> order_is_unknown(const Surroundings& around);
// Variables of the environment that say nothing CUDA understands.
std::vector<Diagnostic> explain_environment(const Surroundings& around);
bool hides_all(const std::string& cuda_visible_devices);
Diagnostic hidden_by_environment(Diagnostic diagnostic, const FailureFacts& facts);

// ---- causes_windows.cc: on Windows, where the words of a Linux machine help nobody ----

Diagnostic explain_load_on_windows(const FailureFacts& facts);
// Fills in cause and fix; nothing where the words of a Linux machine do.
std::optional<Diagnostic> explain_cuda_code_on_windows(Diagnostic diagnostic, const FailureFacts& facts);
Diagnostic explain_nvml_code_on_windows(Diagnostic diagnostic, const FailureFacts& facts);

}  // namespace archguard
