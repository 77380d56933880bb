#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coverage/verification.h"

namespace archguard::requirements {

// What verify says of one compute capability with each driver that there is for it.
struct Served {
  ComputeCapability capability;
  Coverage coverage = Coverage::unknown;  // with the newest driver
  // Where that is covered: the lowest CUDA of a driver from which on it is, and whether there are older
  // drivers for the device, with which it is not.
  Version driver;
  bool driver_matters = false;
  std::string why;  // where it is not covered
};

// What files need, as verify tells it of each compute capability that some CUDA knows.
struct Needs {
  std::vector<Served> devices;    // ascending
  Served newer;                   // a GPU that no known CUDA knows
  bool on_x86 = false;            // the files are for hosts that no Tegra has
  std::vector<Coverage> further;  // of those devices that machines_to_ask() was given
};

// What to ask verify: each device of the table with each driver that knows it, a GPU that no known CUDA
// knows, and `further`.
DeviceList machines_to_ask(const DeviceList& further);

// `verification` was asked of machines_to_ask(), and all files of it could be read.
Needs needs_of(const Verification& verification, bool on_x86);

// Can the files meet this device?
bool is_met(const Needs& needs, ComputeCapability device);

bool is_served(const Served& device);
// Is there no machine with this device and a driver that offers such a CUDA, or a newer one?
bool is_shut_out(const Served& device, std::optional<Version> driver);

// Neighbours in the table that are all served, from the same driver on.
struct Range {
  std::vector<ComputeCapability> devices;
  bool open = false;              // and whatever comes behind the last
  std::optional<Version> driver;  // nothing: each that knows the devices
};
std::vector<Range> ranges_of(const Needs& needs);

// The driver of all ranges, where it is one.
bool share_driver(const std::vector<Range>& ranges);

}  // namespace archguard::requirements
