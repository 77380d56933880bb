#pragma once

#include "device/isolated_child.h"

namespace archguard {

// The bodies that ask one driver library each; they run in a child (run_isolated) and write answers.h's
// records. Neither creates a context, so no memory of a GPU is touched.

// The CUDA driver API: the truth about what a program of this environment can use. Devices in the order of
// CUDA_DEVICE_ORDER, those that CUDA_VISIBLE_DEVICES leaves.
void ask_cuda_driver(const RecordSink& sink);

// NVML: every GPU of the machine or container, whatever CUDA_VISIBLE_DEVICES says, and the driver's version.
void ask_nvml(const RecordSink& sink);

}  // namespace archguard
