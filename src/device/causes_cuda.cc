#include "base/text.h"
#include "compat/error_codes.h"
#include "device/causes.h"
#include "device/failure_words.h"

namespace archguard {
namespace {

// A virtual machine's monitor holds such a GPU for its guest.
bool given_to_a_guest(const FailureFacts& facts) {
  return !facts.around.pci_gpus.empty() && facts.around.pci_gpus.front().kernel_driver == "vfio-pci";
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
      if (const auto order = order_is_unknown(facts.around); order) {
        diagnostic.cause = order->cause;
        diagnostic.fix = order->fix;
        return diagnostic;
      }
      diagnostic.cause =
          visible ? "CUDA_VISIBLE_DEVICES is " + value_text(*visible) + ": a device is invalid or named twice"
                  : "the driver calls a device ordinal invalid";
      diagnostic.fix =
          visible ? "unset CUDA_VISIBLE_DEVICES, or name each device once" : "restart the driver";
      return diagnostic;
    case 802:
      diagnostic.cause =
          "the machine is not ready: with NVSwitch, nvidia-fabricmanager does not run or is not of the "
          "driver's version " +
          facts.driver_version;
      diagnostic.cause =
          std::string(trim(diagnostic.cause)) + "; or a GPU for confidential computing was not set ready";
      diagnostic.fix =
          "systemctl start nvidia-fabricmanager, of exactly the driver's version; or nvidia-smi "
          "conf-compute -srs 1";
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

}  // namespace archguard
