#pragma once

#include <chrono>
#include <vector>

#include "commands.h"
#include "coverage/verification.h"
#include "coverage/verify.h"

namespace archguard {

// For the machine's drivers to answer.
inline constexpr std::chrono::seconds kProbeTimeout{15};

// What the options of verify ask: of which devices, and what of each file.
struct VerifyQuestion {
  DeviceList devices;
  std::vector<ExcludedDevice> excluded;  // that the selection left out
  Waivers waivers;
  VerifyRequest of_file;
  VerifyRequest of_library;  // of one that is needed
};

// Reads the fleets, waivers and exclusions, and asks this machine where that was said. An error where there
// is nothing to ask.
Result<VerifyQuestion> question_of(const VerifyOptions& options);

}  // namespace archguard
