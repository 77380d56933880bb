#pragma once

#include "coverage/runtime.h"
#include "coverage/verify.h"

namespace archguard {

// The newest driver that the device can have: its own, or the last that ever comes for it. Nothing where
// neither is known.
std::optional<Version> newest_driver(const Device& device);

// The lowest CUDA of a driver that loads the image, or compiles it, where it fits.
std::optional<Version> driver_for(const Image& image);

// A stated driver may not know its device ("--device 12.0@12.0"): then there is no such device. What a file
// holds is judged as on a driver that does, so that what fails besides is told as well.
struct KnownDevices {
  DeviceClass devices;
  VerifyPolicy policy;
  std::optional<Version> needs_driver;  // of one that does; nothing where the stated one does, or is too new
};
KnownDevices with_driver_that_knows(const DeviceClass& devices, const VerifyPolicy& policy);

// The numbers that this driver has: until here PTX that is too new is kUnsupportedPtxVersion under each,
// which a newer driver mends.
void number_for_driver(DeviceResult& result, const Device& device);

// Adds to a result that was judged so what the stated driver makes of the device. Where the file's runtime
// fails on that driver, that error comes first.
void judge_device_driver(DeviceResult& result, const DeviceClass& stated, const VerifyPolicy& policy,
                         RuntimeUse& runtime);

}  // namespace archguard
