#pragma once

#include "base/json.h"
#include "device/device.h"

namespace archguard {

// What documents tell of a device.
enum class DeviceMembers {
  found,   // where each value is from, and what else a fleet says of it
  judged,  // what a verdict rests on
};

// Members of the object that is open.
void write_members(const Device& device, DeviceMembers members, JsonWriter& json);

}  // namespace archguard
