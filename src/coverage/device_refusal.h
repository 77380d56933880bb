#pragma once

#include <optional>
#include <string>

#include "base/version.h"
#include "compat/arch.h"
#include "coverage/fatbin_code.h"

namespace archguard {

// Why compilers make no SASS for a device of PTX that fits it.
struct DeviceRefusal {
  int code = 0;
  std::string reason, mend;
  std::optional<Version> taken_from;          // those of this CUDA and newer do; nothing where none does
  bool in_doubt = false;                      // some may
  std::optional<CudaRange> not_refused = {};  // by the compilers of these, and what comes of it is not known
};

// "its PTX calls cudaGraphLaunch, which drivers bring along from CUDA 12.0 on"
std::string call_text(const std::string& image, const DriverFunction& call);

// Is it PTX that calls cudaDeviceSynchronize on the device?
bool wants_device_sync(const Image& image);

// Nothing where none is known: PTX is taken to be what a compiler has assembled.
std::optional<DeviceRefusal> device_refusal_of(const Image& image, ComputeCapability device);

}  // namespace archguard
