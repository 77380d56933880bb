#pragma once

#include "coverage/verify.h"

namespace archguard {

// What the policy makes of code among the data of a file, of which no image runs on the device: a failure of
// the result, or a warning. The program chooses among such images, so that none of them is asked for alone.
// All else of the result is judged. `compiles_code`: the file compiles more when it runs (NVRTC), and may
// need these images on other devices alone.
void add_embedded_failure(DeviceResult& result, const VerifyPolicy& policy, bool compiles_code);

}  // namespace archguard
