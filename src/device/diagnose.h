#pragma once

#include <optional>
#include <string>

#include "device/answers.h"
#include "device/probe.h"

namespace archguard {

// A GPU of NVIDIA on the PCI bus, whatever driver it has.
struct PciGpu {
  std::string bus_id;         // in normal form
  std::string kernel_driver;  // "nouveau", "vfio-pci", "nvidia", or empty: none
};

// What the probe knows beside the libraries' answers; filled from the machine in probe.cc, by hand in tests.
struct Surroundings {
  std::optional<std::string> cuda_visible_devices;    // the environment variable; set and empty hides all
  std::optional<std::string> nvidia_visible_devices;  // what the container runtime was asked to show
  std::optional<std::string> cuda_device_order;
  std::optional<std::string> driver_capabilities;  // NVIDIA_DRIVER_CAPABILITIES: what the container was given
  bool windows = false;                            // the probe runs on Windows itself
  bool wsl = false;                                // Windows Subsystem for Linux
  std::string build_kind;                          // "a container", "a Nix build", "a conda build", or empty
  bool uvm_node = true;                            // /dev/nvidia-uvm exists
  bool forward_compatible = false;                 // the libcuda that answered is NVIDIA's compat package
  std::string library_version;                     // in its file name: libcuda.so.580.95.05
  std::string nvml_version;                        // the same of NVML's
  std::vector<PciGpu> pci_gpus;                    // looked for only where the drivers do not answer
  std::chrono::milliseconds timeout{0};
};

// Joins what the two libraries said into devices, a status and causes. Pure.
ProbeResult judge_answers(const LibraryAnswers& cuda, const LibraryAnswers& nvml, const Surroundings& around);

// ---- parts of it, in causes.cc: the cause and the fix of each way to fail ----

struct FailureFacts {
  const LibraryAnswers& cuda;
  const LibraryAnswers& nvml;
  const Surroundings& around;
  std::string driver_version;  // of the kernel driver
};

// ---- the same on Windows, in causes_windows.cc, where the words of a Linux machine help nobody ----

Diagnostic explain_load_on_windows(const FailureFacts& facts);
// Fills in cause and fix; nothing where the words of a Linux machine do.
std::optional<Diagnostic> explain_cuda_code_on_windows(Diagnostic diagnostic, const FailureFacts& facts);
Diagnostic explain_nvml_code_on_windows(Diagnostic diagnostic, const FailureFacts& facts);

// ---- for both ----

bool hides_all(const std::string& cuda_visible_devices);
Diagnostic hidden_by_environment(Diagnostic diagnostic, const FailureFacts& facts);
std::string in_file(const std::string& path);  // " (path)", or empty

std::string cuda_error_name(int code);
std::string nvml_error_name(int code);

// No libcuda, or one that cannot be loaded. Is there a driver nevertheless?
Diagnostic explain_load(const FailureFacts& facts);
bool kernel_driver_present(const FailureFacts& facts);

// A code that cuInit or a later call of the driver API returned.
Diagnostic explain_cuda_code(const CallFailure& failure, const FailureFacts& facts);

// A child that did not finish.
Diagnostic explain_end(const std::string& library, const LibraryAnswers& answers, const Surroundings& around);

// Variables of the environment that say nothing CUDA understands.
std::vector<Diagnostic> explain_environment(const Surroundings& around);

// NVML failed where the driver API did not.
Diagnostic explain_nvml_code(const CallFailure& failure, const FailureFacts& facts);

}  // namespace archguard
