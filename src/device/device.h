#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/version.h"
#include "compat/arch.h"
#include "compat/rules.h"

namespace archguard {

// One GPU (or `count` equal ones) that a program shall run on: found in this machine, named on the command
// line or listed in a fleet file. Empty or absent means "not known", never a guess.
struct Device {
  std::string name;
  std::optional<ComputeCapability> capability;
  std::string driver_version;          // "580.95.05"
  std::optional<Version> driver_cuda;  // the CUDA that this driver offers: 13.0
  // Nobody stated driver_cuda: it is what the branch of driver_version comes with. Where the package
  // cuda-compat is installed, programs get a newer one.
  bool cuda_by_branch = false;
  bool cuda_at_least = false;  // so it is, and the branch is newer than any known: it offers that or more
  std::string uuid;
  std::string pci_bus_id;
  bool visible = true;  // false: hidden by CUDA_VISIBLE_DEVICES; listed, never selected
  bool mig = false;
  std::string excluded;  // why its fleet leaves it out, or empty: it is listed, neither selected nor judged
  int count = 1;
  std::optional<std::string> host;
  std::map<std::string, std::string>
      source;  // field (as in JSON) → cuda | nvml | proc | sys | fleet | option
  std::map<std::string, std::string> extra;  // unknown columns of a fleet file, kept
  std::string origin;                        // for messages: "fleet.csv:4", "--device 8.6", "this machine"
};

// Is it to be served? Not where the environment hides it, nor where its fleet leaves it out.
bool is_wanted(const Device& device);
bool is_excluded(const Device& device);          // by its fleet
std::string why_left_out(const Device& device);  // empty where it is to be served

// Was it found in this machine, by a driver that therefore knows it? Else somebody stated it.
bool is_found(const Device& device);

// Does the driver that is stated for it know it (compat/driver.h)? What a driver told of itself it knows, and
// so does one that is not stated. The device has a capability.
Fit driver_knows_device(const Device& device);

// Is it a line of a fleet file, which `origin` names?
bool is_of_fleet(const Device& device);

// May its programs get a newer CUDA than its driver's branch comes with? By NVIDIA's package cuda-compat, for
// data centre GPUs, some RTX and Jetson ("CUDA Compatibility", Forward Compatibility): by its name not for a
// GeForce or TITAN.
bool may_run_cuda_compat(const Device& device);

// Is more stated of its driver's CUDA than its driver comes with, and it may not run cuda-compat? So
// nvidia-smi says it in a container that brings that package, and no CUDA program starts there: error 804
// (libnvidia-container#131: "RTX 2080 Ti", 450.102.04, 11.2).
bool has_cuda_of_compat(const Device& device);

// "NVIDIA T4 (7.5, fleet.csv:4)": how every message names a device. Without a name "7.5 (--device 7.5)";
// without a capability "NVIDIA T4 (compute capability unknown, fleet.csv:4)".
std::string describe(const Device& device);

// Behind the first of equal devices: " and 9 more like it", empty for one.
std::string more_like_it(std::uint64_t count);

}  // namespace archguard
