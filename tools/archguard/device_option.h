#pragma once

#include <string>

#include "base/result.h"
#include "device/device.h"

namespace archguard {

// The device of --device, as parse_device_option() reads it. One that is named like a product is refused with
// its compute capability: `fix: write 9.0 (H100)`.
Result<Device> device_of_option(const std::string& text);

}  // namespace archguard
