#pragma once

#include <optional>
#include <string>

#include "coverage/verify.h"

namespace archguard {

// The line to type for a device that a file does not cover. `toolkit` made the file's images, where they
// tell; a fix never names what that toolkit cannot do.
std::string fix_for(const DeviceResult& result, const Device& device, const VerifyPolicy& policy,
                    std::optional<Version> toolkit);

// The same where the driver is too old for the file's CUDA runtime (error 35): `result` tells which CUDA it
// must offer.
std::string fix_old_driver(const DeviceResult& result, const DeviceClass& devices,
                           const VerifyPolicy& policy);

// The same for images that were asked for and are not there: at least one. `target` is the CMake target whose
// CUDA_ARCHITECTURES asked for them, or empty.
std::string fix_for_absent(const std::vector<ExpectedImage>& absent, const std::string& target);

}  // namespace archguard
