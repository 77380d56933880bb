#pragma once

#include <string>

#include "device/device_list.h"

namespace archguard {

// A line for each kind of device that the fleet leaves out or the environment hides, with its reason:
// "archguard: note: not judged: NVIDIA GeForce GT 710 (3.5, fleet.csv:3) and 1 more like it: display card".
std::string left_out_text(const DeviceList& devices);

}  // namespace archguard
