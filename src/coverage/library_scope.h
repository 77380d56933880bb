#pragma once

#include "coverage/library_census.h"
#include "coverage/verify.h"

namespace archguard {

// With scope library, what does not fit is the library's own affair: it chooses among its fat binaries. What
// counts is that it has about as much for this device as for others. Takes back from `result` what was said
// of its fat binaries, and says what `got`, of all that the file holds, means.
struct LibraryQuestion {
  LibraryCensus& census;
  const KernelSum& got;  // by this device
  ComputeCapability device;
  std::optional<Version> driver;  // the CUDA that it offers, where that is stated
  PartlyPolicy partly;
  bool any_fits;    // a fat binary with kernels has an image for the device
  bool loads_code;  // the library compiles code when it runs, or loads some that it is handed
};
void judge_as_library(DeviceResult& result, const LibraryQuestion& question);

}  // namespace archguard
