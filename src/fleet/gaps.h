#pragma once

#include <string>
#include <vector>

#include "device/device_list.h"

namespace archguard::fleet {

// Something that a fleet does not tell, or tells in two ways: what a verification against it cannot judge.
struct FleetGap {
  std::string what;                  // "no driver"
  std::string consequence;           // "errors 35 and 222 cannot be judged"
  std::string fix;                   // what to write
  std::vector<std::string> devices;  // the first of them, described
  std::size_t lines = 0;             // of the fleet
};

// Of the devices that are wanted; what needs no device to be complete is none.
std::vector<FleetGap> gaps_of(const DeviceList& devices);

}  // namespace archguard::fleet
