#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"

namespace archguard {

// One thing that stood between the probe and a device, with its cause and what to do about it.
struct Diagnostic {
  std::string stage;  // "load", "cuInit", "enumerate", "nvml", "environment", "timeout", …
  std::optional<int>
      code;          // the driver's error number (CUDA's CUresult or NVML's nvmlReturn_t), where it gave one
  std::string name;  // "CUDA_ERROR_NO_DEVICE", or empty
  std::string cause;
  std::string fix;
};

enum class ProbeStatus { ok, none, failed };  // devices found · none, and why · a driver is there and fails

struct ProbeResult {
  ProbeStatus status = ProbeStatus::none;
  std::string driver_version;          // of the kernel driver: "580.95.05", empty where unknown
  std::optional<Version> driver_cuda;  // cuDriverGetVersion
  std::string library;                 // path of the libcuda that answered
  std::string library_version;         // in its file name, empty where it tells none: "580.95.05"
  std::vector<Device> devices;
  std::vector<Diagnostic> diagnostics;
  bool from_cache = false;    // the drivers were not asked: nothing that their answer depends on has changed
  std::string cache_dropped;  // why they were, where a file with an earlier answer was given
};

// Asks the driver of this machine (libcuda and NVML, merged by UUID or PCI bus id), each in a child process
// with a deadline: a driver that crashes, prints or hangs cannot take the caller along. Never fails: what
// goes wrong is in the result. Devices come in CUDA's order, then those that only NVML shows, then, where
// the drivers do not answer, those that only the PCI bus shows; unless the status is `ok` none is visible.
// The first diagnostic names the cause of a status that is not `ok`. No CUDA context is created. The
// children come from fork(), so no other thread of the caller should hold a lock that the loader needs; on
// Windows they are the calling program started anew, which must call became_driver_child() first of all.
// With a `cache_file` the answer is taken from there where it still holds, and kept there
// (device/answer_cache.h).
ProbeResult probe_this_machine(std::chrono::milliseconds timeout, const std::string& cache_file = {});

// True where this process is a child of probe_this_machine() and has done what it was started for.
bool became_driver_child(const std::vector<std::string>& arguments);

}  // namespace archguard
