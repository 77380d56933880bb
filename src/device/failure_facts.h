#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "device/answers.h"

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

struct FailureFacts {
  const LibraryAnswers& cuda;
  const LibraryAnswers& nvml;
  const Surroundings& around;
  std::string driver_version;  // of the kernel driver
};

}  // namespace archguard
