#include "base/printable.h"
#include "base/text.h"
#include "device/causes.h"
#include "device/driver_library.h"
#include "device/failure_words.h"
#include "device/isolated_child.h"
#include "device/system.h"

namespace archguard {
namespace {

// Does NVIDIA_DRIVER_CAPABILITIES leave the CUDA library out of the container? Unset means utility,compute or
// what the image says (NVIDIA Container Toolkit, "Driver Capabilities").
bool lacks_compute(const std::optional<std::string>& capabilities) {
  if (!capabilities || trim(*capabilities).empty()) return false;
  for (const auto capability : split(*capabilities, ','))
    if (trim(capability) == "compute" || trim(capability) == "all") return false;
  return true;
}

constexpr const char* kStartWithGpu =
    "start the container with a GPU: docker run --gpus all IMAGE, with the NVIDIA container toolkit on the "
    "host "
    "(nvidia-ctk runtime configure --runtime=docker, then restart docker); where it only builds, name the "
    "GPUs: "
    "arch_probe select --fleet fleet.csv";

// The container toolkit brings device nodes and both libraries of the driver. /proc is the host's in any
// container.
bool was_given_no_gpu(const FailureFacts& facts) {
  return facts.around.build_kind == "a container" && !facts.cuda.control_opens && !facts.nvml.control_opens &&
         facts.nvml.state == DynamicLibrary::State::missing && facts.nvml.devices.empty();
}

}  // namespace

bool kernel_driver_present(const FailureFacts& facts) {
  return !facts.cuda.kernel_version.empty() || facts.cuda.control_opens || !facts.nvml.devices.empty();
}

Diagnostic explain_load(const FailureFacts& facts) {
  if (facts.around.windows) return explain_load_on_windows(facts);
  Diagnostic diagnostic;
  diagnostic.stage = "load";
  if (facts.cuda.state == DynamicLibrary::State::broken) {
    diagnostic.cause = "libcuda.so.1 cannot be loaded: " + printable(facts.cuda.load_error);
    diagnostic.fix = "reinstall the NVIDIA driver's libraries, or correct LD_LIBRARY_PATH";
  } else if (facts.cuda.state == DynamicLibrary::State::loaded) {
    diagnostic.cause =
        "libcuda.so.1" + in_file(facts.cuda.path) + " lacks the functions of the CUDA driver API";
    diagnostic.fix = "correct LD_LIBRARY_PATH: this file is no NVIDIA driver library";
  } else if (kernel_driver_present(facts)) {
    const std::string version = facts.driver_version.empty() ? std::string() : " " + facts.driver_version;
    diagnostic.cause = "the NVIDIA kernel driver" + version + " is loaded, but libcuda.so.1 was not found";
    if (lacks_compute(facts.around.driver_capabilities)) {
      diagnostic.cause += ": NVIDIA_DRIVER_CAPABILITIES is " + value_text(*facts.around.driver_capabilities);
      diagnostic.fix = "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility";
      return diagnostic;
    }
    if (was_given_no_gpu(facts)) {
      diagnostic.cause = "this container was started without a GPU: the host's NVIDIA kernel driver" +
                         version + " is loaded, but /dev/nvidiactl and the driver's libraries are not here";
      diagnostic.fix = kStartWithGpu;
      return diagnostic;
    }
    diagnostic.fix =
        "in a container: set NVIDIA_DRIVER_CAPABILITIES to compute,utility; else install the driver's CUDA "
        "library "
        "(libcuda1, nvidia-driver-cuda)";
  } else if (facts.around.wsl) {
    diagnostic.cause = "libcuda.so.1 was not found in WSL: Windows has no NVIDIA driver, or hides its GPU";
    diagnostic.fix = "install the NVIDIA driver for Windows, or give a fleet file";
  } else if (!facts.around.build_kind.empty()) {
    const bool is_container = facts.around.build_kind == "a container";
    diagnostic.cause = (is_container ? "this container has no NVIDIA driver"
                                     : "no NVIDIA driver in " + facts.around.build_kind) +
                       std::string(" (libcuda.so.1 was not found)");
    diagnostic.fix =
        "name the GPUs to build for: archguard_select_architectures(FLEET fleet.csv) or "
        "-DARCHGUARD_FLEET=fleet.csv; "
        "arch_probe select --fleet fleet.csv";
    if (!facts.around.pci_gpus.empty())
      diagnostic.cause += "; the machine has " + count_of(facts.around.pci_gpus.size(), "NVIDIA GPU");
    if (is_container) diagnostic.fix += "; to use this host's GPUs start the container with --gpus all";
  } else {
    diagnostic.cause = "no NVIDIA driver on this machine (libcuda.so.1 was not found)" + seen_on_bus(facts);
    diagnostic.fix = "install the NVIDIA driver, or give a fleet file that names the GPUs to build for";
  }
  return diagnostic;
}

Diagnostic explain_end(const std::string& library, const LibraryAnswers& answers,
                       const Surroundings& around) {
  Diagnostic diagnostic;
  diagnostic.stage = answers.stage.empty() ? "load" : answers.stage;
  const std::string who = library + in_file(answers.path);
  const auto timeout = around.timeout;
  const std::string seconds =
      std::to_string(timeout.count() / 1000) +
      (timeout.count() % 1000 == 0 ? "" : "." + std::to_string(timeout.count() % 1000 / 100));
  switch (answers.end) {
    case ChildOutcome::End::late:
      diagnostic.name = "timeout";
      diagnostic.cause = who + " did not answer within " + seconds + " s";
      diagnostic.fix = std::string("the driver hangs: ") + (around.windows ? "" : "see dmesg, ") +
                       "restart the machine; or allow more time with --timeout";
      break;
    case ChildOutcome::End::crashed:
      diagnostic.name = "crash";
      diagnostic.cause = who + " crashed: " + signal_text(answers.end_detail);
      diagnostic.fix = "reinstall the NVIDIA driver";
      break;
    case ChildOutcome::End::not_started:
      diagnostic.name = around.windows ? "start" : "fork";
      diagnostic.cause =
          "the process that asks " + library + " cannot be started: " + errno_text(answers.end_detail);
      diagnostic.fix = "raise the limit of processes or memory";
      break;
    default:
      diagnostic.name = "exit";
      diagnostic.cause = who + " ended the process with exit code " + std::to_string(answers.end_detail);
      diagnostic.fix = "reinstall the NVIDIA driver";
      break;
  }
  return diagnostic;
}

}  // namespace archguard
