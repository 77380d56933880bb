#pragma once

#include "base/bytes.h"
#include "fatbin/fatbin.h"

namespace archguard {

// Is the object NVIDIA's driver library, libcuda, or another `part` of the driver, as libnvoptix and
// libnvcuvid are? Their device code is for the driver's own use. Or of its `profiler`, Perfworks, which asks
// whether it supports the device first: from 7.0 on (cupti_profiler_target.h).
// `renamed`: under another name than programs ask for, as auditwheel puts it into a wheel
// (libcuda-b1c54397.so.1).
enum class DriverLibrary { no, libcuda, part, profiler, renamed };
DriverLibrary driver_library(const DeviceObject& object, const ByteSource& file);

// Does the object hold Perfworks (libnvperf_host_static.a, or what is linked with it), as far as its symbols
// tell?
bool holds_profiler(const DeviceObject& object, const ByteSource& file);
// The kernel that Perfworks holds as PTX for 7.0, and launches where it supports the device.
inline constexpr const char* kKernelOfProfiler = "WaitNs";

}  // namespace archguard
