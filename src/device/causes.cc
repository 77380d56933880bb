#include "base/printable.h"
#include "base/text.h"
#include "compat/toolkit.h"
#include "device/diagnose.h"
#include "device/driver_library.h"
#include "device/isolated_child.h"
#include "device/system.h"

// The cause and the fix for each way in which a driver fails.

namespace archguard {
namespace {

struct ErrorName {
  int code;
  const char* name;
};

std::string folder_of_library(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

std::string or_unknown(const std::string& version) {
  return version.empty() ? std::string("of unknown version") : version;
}

std::string seen_by_nvml(const FailureFacts& facts) {
  const auto count = facts.nvml.devices.size();
  return count == 0 ? std::string() : "; NVML sees " + count_of(count, "GPU");
}

std::string on_the_bus(const PciGpu& gpu) {
  return gpu.bus_id +
         (gpu.kernel_driver.empty() ? ", without a kernel driver" : ", bound to " + gpu.kernel_driver);
}

// ", though it has …" where the PCI bus shows GPUs that no driver answers for.
std::string seen_on_bus(const FailureFacts& facts) {
  const auto& gpus = facts.around.pci_gpus;
  if (gpus.empty()) return {};
  if (gpus.size() == 1) return ", though it has an NVIDIA GPU (" + on_the_bus(gpus.front()) + ")";
  return ", though it has " + count_of(gpus.size(), "NVIDIA GPU") + " (the first is " +
         on_the_bus(gpus.front()) + ")";
}

// A virtual machine's monitor holds such a GPU for its guest.
bool given_to_a_guest(const FailureFacts& facts) {
  return !facts.around.pci_gpus.empty() && facts.around.pci_gpus.front().kernel_driver == "vfio-pci";
}

// Does NVIDIA_DRIVER_CAPABILITIES leave the CUDA library out of the container? Unset means utility,compute or
// what the image says (NVIDIA Container Toolkit, "Driver Capabilities").
bool lacks_compute(const std::optional<std::string>& capabilities) {
  if (!capabilities || trim(*capabilities).empty()) return false;
  for (const auto capability : split(*capabilities, ','))
    if (trim(capability) == "compute" || trim(capability) == "all") return false;
  return true;
}

std::string value_text(const std::string& value) {
  return value.empty() ? std::string("empty") : "'" + printable(value) + "'";
}

Diagnostic no_device(Diagnostic diagnostic, const FailureFacts& facts) {
  const auto& visible = facts.around.cuda_visible_devices;
  const auto& runtime = facts.around.nvidia_visible_devices;
  const bool nvml_sees = !facts.nvml.devices.empty();
  // NVML's 9: without the kernel module there is nothing that the environment could hide.
  const bool not_loaded = !facts.nvml.failures.empty() && facts.nvml.failures.front().code == 9;
  if (visible && (nvml_sees || (hides_all(*visible) && !not_loaded))) {
    return hidden_by_environment(std::move(diagnostic), facts);
  } else if (facts.around.wsl && facts.cuda.path.find("/wsl/") == std::string::npos) {
    diagnostic.cause =
        "a Linux libcuda" + in_file(facts.cuda.path) + " shadows the one of Windows in /usr/lib/wsl/lib";
    diagnostic.fix = "remove the Linux driver package from this WSL distribution";
  } else if (nvml_sees) {
    diagnostic.cause = "the CUDA driver finds no GPU" + seen_by_nvml(facts);
    diagnostic.fix = "give this process access to /dev/nvidia* (container or job scheduler settings)";
  } else if (runtime && (runtime->empty() || *runtime == "none" || *runtime == "void")) {
    diagnostic.stage = "environment";
    diagnostic.cause =
        "NVIDIA_VISIBLE_DEVICES is " + value_text(*runtime) + ": the container was given no GPU";
    diagnostic.fix = "start the container with NVIDIA_VISIBLE_DEVICES=all (docker run --gpus all)";
  } else if (facts.driver_version.empty() && !facts.cuda.control_opens && !facts.around.wsl) {
    diagnostic.cause = "libcuda" + in_file(facts.cuda.path) +
                       " is installed, but the nvidia kernel module is not loaded on this machine" +
                       seen_on_bus(facts);
    diagnostic.fix = given_to_a_guest(facts)
                         ? "build in the virtual machine that has the GPU, or give a fleet file"
                     : facts.around.pci_gpus.empty()
                         ? "load the nvidia kernel module, or give a fleet file on a machine without a GPU"
                         : "load the nvidia kernel module: modprobe nvidia";
  } else {
    diagnostic.cause = "the driver finds no CUDA device in this machine" + seen_on_bus(facts);
    diagnostic.fix = facts.around.pci_gpus.empty()
                         ? "check that the GPU is listed by lspci, or give a fleet file"
                         : "see what the kernel log says of the GPU: dmesg | grep -i nvrm";
  }
  return diagnostic;
}

Diagnostic compat_not_supported(Diagnostic diagnostic, const FailureFacts& facts) {
  if (facts.around.forward_compatible) {
    diagnostic.cause =
        "the forward-compatibility libcuda" + in_file(facts.cuda.path) + " does not support this GPU";
    diagnostic.fix = "remove " + folder_of_library(facts.cuda.path) +
                     " from LD_LIBRARY_PATH, or update the kernel driver (" +
                     or_unknown(facts.driver_version) + ")";
  } else {
    diagnostic.cause = "libcuda" + in_file(facts.cuda.path) + " " + or_unknown(facts.around.library_version) +
                       " is newer than the loaded kernel driver " + or_unknown(facts.driver_version);
    diagnostic.fix = "reboot, so that the kernel driver of the installed version is loaded";
  }
  return diagnostic;
}

// 803: the two halves of the driver are of different releases. Which one is wrong is told by where libcuda
// was found: a package for older kernel drivers, and what an image brings, stay wrong after any reboot.
Diagnostic mismatched(Diagnostic diagnostic, const FailureFacts& facts) {
  const std::string library = in_file(facts.cuda.path) + " " + or_unknown(facts.around.library_version);
  const std::string kernel = "kernel driver " + or_unknown(facts.driver_version);
  if (facts.around.forward_compatible) {
    diagnostic.cause =
        "the libcuda of the package cuda-compat" + library + " does not go with the loaded " + kernel;
    diagnostic.fix = "remove " + folder_of_library(facts.cuda.path) +
                     " from LD_LIBRARY_PATH, or from /etc/ld.so.conf.d and run ldconfig, so that the "
                     "driver's own libcuda is found";
  } else if (facts.around.build_kind == "a container") {
    diagnostic.cause = "the container's libcuda" + library + " and the host's " + kernel + " do not match";
    diagnostic.fix =
        "start the container anew if the host's driver was updated meanwhile; else remove the NVIDIA "
        "driver's "
        "packages from the image, so that the host's libcuda is found";
  } else {
    diagnostic.cause = "libcuda" + library + " and the loaded " + kernel + " do not match";
    diagnostic.fix = "reboot, or reload the nvidia kernel modules";
  }
  return diagnostic;
}

Diagnostic unknown_failure(Diagnostic diagnostic, const FailureFacts& facts) {
  if (!facts.around.uvm_node && !facts.around.wsl) {
    diagnostic.cause = "the driver fails without a reason; /dev/nvidia-uvm is missing";
    diagnostic.fix = facts.around.build_kind.empty() ? "run nvidia-modprobe -u as root"
                                                     : "pass /dev/nvidia-uvm into the container";
  } else {
    diagnostic.cause = "the driver fails without a reason, as it does after the machine was suspended";
    diagnostic.fix = "reload the module: rmmod nvidia_uvm && modprobe nvidia_uvm";
  }
  return diagnostic;
}

}  // namespace

std::string in_file(const std::string& path) {
  return path.empty() ? std::string() : " (" + path + ")";
}

// CUDA takes the entries up to the first that names no device, so an empty value or a leading -1 hides all
// (CUDA Programming Guide, "CUDA Environment Variables").
bool hides_all(const std::string& cuda_visible_devices) {
  const auto first = trim(split(cuda_visible_devices, ',').front());
  return first.empty() || first[0] == '-' || first == "NoDevFiles";
}

Diagnostic hidden_by_environment(Diagnostic diagnostic, const FailureFacts& facts) {
  diagnostic.stage = "environment";
  diagnostic.cause = "CUDA_VISIBLE_DEVICES is " + value_text(facts.around.cuda_visible_devices.value_or("")) +
                     " and hides every GPU" + seen_by_nvml(facts);
  diagnostic.fix = "unset CUDA_VISIBLE_DEVICES";
  return diagnostic;
}

std::string cuda_error_name(int code) {
  // cuda.h, enum cudaError_enum.
  static constexpr ErrorName kNames[] = {
      {1, "CUDA_ERROR_INVALID_VALUE"},
      {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {3, "CUDA_ERROR_NOT_INITIALIZED"},
      {4, "CUDA_ERROR_DEINITIALIZED"},
      {34, "CUDA_ERROR_STUB_LIBRARY"},
      {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"},
      {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
      {100, "CUDA_ERROR_NO_DEVICE"},
      {101, "CUDA_ERROR_INVALID_DEVICE"},
      {102, "CUDA_ERROR_DEVICE_NOT_LICENSED"},
      {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
      {304, "CUDA_ERROR_OPERATING_SYSTEM"},
      {800, "CUDA_ERROR_NOT_PERMITTED"},
      {801, "CUDA_ERROR_NOT_SUPPORTED"},
      {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
      {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
      {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
      {805, "CUDA_ERROR_MPS_CONNECTION_FAILED"},
      {806, "CUDA_ERROR_MPS_RPC_FAILURE"},
      {807, "CUDA_ERROR_MPS_SERVER_NOT_READY"},
      {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED"},
      {999, "CUDA_ERROR_UNKNOWN"},
  };
  for (const auto& each : kNames)
    if (each.code == code) return each.name;
  return {};
}

std::string nvml_error_name(int code) {
  // nvml.h, enum nvmlReturn_t.
  static constexpr ErrorName kNames[] = {
      {1, "NVML_ERROR_UNINITIALIZED"},
      {2, "NVML_ERROR_INVALID_ARGUMENT"},
      {3, "NVML_ERROR_NOT_SUPPORTED"},
      {4, "NVML_ERROR_NO_PERMISSION"},
      {6, "NVML_ERROR_NOT_FOUND"},
      {8, "NVML_ERROR_INSUFFICIENT_POWER"},
      {9, "NVML_ERROR_DRIVER_NOT_LOADED"},
      {10, "NVML_ERROR_TIMEOUT"},
      {11, "NVML_ERROR_IRQ_ISSUE"},
      {12, "NVML_ERROR_LIBRARY_NOT_FOUND"},
      {13, "NVML_ERROR_FUNCTION_NOT_FOUND"},
      {14, "NVML_ERROR_CORRUPTED_INFOROM"},
      {15, "NVML_ERROR_GPU_IS_LOST"},
      {16, "NVML_ERROR_RESET_REQUIRED"},
      {17, "NVML_ERROR_OPERATING_SYSTEM"},
      {18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH"},
      {19, "NVML_ERROR_IN_USE"},
      {20, "NVML_ERROR_MEMORY"},
      {999, "NVML_ERROR_UNKNOWN"},
  };
  for (const auto& each : kNames)
    if (each.code == code) return each.name;
  return {};
}

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
    diagnostic.fix =
        "in a container: set NVIDIA_DRIVER_CAPABILITIES to compute,utility; else install the driver's CUDA "
        "library "
        "(libcuda1, nvidia-driver-cuda)";
  } else if (facts.around.wsl) {
    diagnostic.cause = "libcuda.so.1 was not found in WSL: Windows has no NVIDIA driver, or hides its GPU";
    diagnostic.fix = "install the NVIDIA driver for Windows, or give a fleet file";
  } else if (!facts.around.build_kind.empty()) {
    diagnostic.cause = "no NVIDIA driver in " + facts.around.build_kind + " (libcuda.so.1 was not found)";
    diagnostic.fix =
        "give a fleet file that names the GPUs to build for: arch_probe select --fleet FILE, in CMake FLEET "
        "or "
        "-DARCHGUARD_FLEET=FILE";
    if (!facts.around.pci_gpus.empty())
      diagnostic.cause += "; the machine has " + count_of(facts.around.pci_gpus.size(), "NVIDIA GPU");
    if (facts.around.build_kind == "a container")
      diagnostic.fix =
          "start the container with --gpus all (NVIDIA Container Toolkit) to see the host's GPUs, or " +
          diagnostic.fix;
  } else {
    diagnostic.cause = "no NVIDIA driver on this machine (libcuda.so.1 was not found)" + seen_on_bus(facts);
    diagnostic.fix = "install the NVIDIA driver, or give a fleet file that names the GPUs to build for";
  }
  return diagnostic;
}

Diagnostic explain_cuda_code(const CallFailure& failure, const FailureFacts& facts) {
  Diagnostic diagnostic{failure.call, failure.code, cuda_error_name(failure.code), {}, {}};
  if (facts.around.windows)
    if (auto found = explain_cuda_code_on_windows(diagnostic, facts)) return std::move(*found);
  const auto& visible = facts.around.cuda_visible_devices;
  switch (failure.code) {
    case 34:
      diagnostic.cause =
          "the toolkit's stub library was loaded instead of the driver" + in_file(facts.cuda.path);
      diagnostic.fix =
          "remove " + folder_of_library(facts.cuda.path) + " from LD_LIBRARY_PATH (or from the RPATH)";
      return diagnostic;
    case 46:
      diagnostic.cause = "no GPU can be had now: another process holds it in exclusive mode, or it is reset";
      diagnostic.fix = "end that process; nvidia-smi -q -d COMPUTE,PIDS shows it";
      return diagnostic;
    case 805:
    case 806:
    case 807:
    case 808:
      diagnostic.cause = "the Multi-Process Service (MPS) is set up here and refuses";
      diagnostic.fix = "restart it: nvidia-cuda-mps-control -d; or unset CUDA_MPS_PIPE_DIRECTORY";
      return diagnostic;
    case 100:
      return no_device(diagnostic, facts);
    case 101:
      diagnostic.cause =
          visible ? "CUDA_VISIBLE_DEVICES is " + value_text(*visible) + ": a device is invalid or named twice"
                  : "the driver calls a device ordinal invalid";
      diagnostic.fix =
          visible ? "unset CUDA_VISIBLE_DEVICES, or name each device once" : "restart the driver";
      return diagnostic;
    case 802:
      diagnostic.cause =
          "the NVSwitch fabric is not ready: nvidia-fabricmanager does not run, or is not of the driver's "
          "version " +
          facts.driver_version;
      diagnostic.cause = std::string(trim(diagnostic.cause));
      diagnostic.fix = "systemctl start nvidia-fabricmanager, of exactly the driver's version";
      return diagnostic;
    case 803:
      return mismatched(diagnostic, facts);
    case 804:
      return compat_not_supported(diagnostic, facts);
    case 999:
      return unknown_failure(diagnostic, facts);
    default:
      diagnostic.cause =
          "the CUDA driver" + in_file(facts.cuda.path) + " failed with error " + std::to_string(failure.code);
      diagnostic.fix = "see what the kernel log says of the GPU: dmesg | grep -i -e nvrm -e xid";
      return diagnostic;
  }
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

std::vector<Diagnostic> explain_environment(const Surroundings& around) {
  std::vector<Diagnostic> found;
  // Numbers, UUIDs of GPUs and of MIG instances, and the two that people hide everything with.
  const std::string visible = around.cuda_visible_devices.value_or("");
  for (const auto entry : split(visible, ',')) {
    const std::string_view name = trim(entry);
    const bool number = name.find_first_not_of("-0123456789") == std::string_view::npos;
    if (number || starts_with(name, "GPU-") || starts_with(name, "MIG-") || name == "NoDevFiles") continue;
    found.push_back(
        {"environment", std::nullopt, "",
         "'" + printable(name) + "' in CUDA_VISIBLE_DEVICES is no device, and CUDA reads no further",
         "name devices by number or as GPU-… and MIG-…, between commas"});
    break;
  }
  const std::string order = around.cuda_device_order.value_or("");
  if (!order.empty() && order != "FASTEST_FIRST" && order != "PCI_BUS_ID")
    found.push_back({"environment", std::nullopt, "",
                     "CUDA_DEVICE_ORDER is " + value_text(order) + ", which CUDA does not know",
                     "set it to FASTEST_FIRST or PCI_BUS_ID"});
  return found;
}

}  // namespace archguard
