#pragma once

#include <string>

#include "base/version.h"
#include "compat/arch.h"

// What messages say of drivers.
namespace archguard {

std::string cuda_text(Version version);  // "CUDA 13.0"
// "CUDA 12.4 (driver 550)"; without the branch where it is not known.
std::string driver_text(Version driver_cuda);

// Of a device that no release in the table compiles for: "42.0 is not a compute capability of any CUDA up to
// 13.5: check the number". Empty for one that is known.
std::string unknown_device_text(ComputeCapability device);

// Why a driver that offers this CUDA does not know the device, or not for certain (driver_knows()): "the last
// driver for 6.1 is branch 580 (CUDA 13.0)", "drivers know 12.0 from CUDA 12.8 on".
std::string unknown_to_driver_text(ComputeCapability device, Version driver);

// Is this driver newer than the last for the device?
bool is_beyond_last_driver(ComputeCapability device, Version driver);
// What to do then: "keep its driver at branch 580, or leave this device out of the fleet".
std::string last_driver_advice(ComputeCapability device);

}  // namespace archguard
