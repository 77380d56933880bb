#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "coverage/verification.h"

namespace archguard {

// "NVIDIA T4 (7.5, fleet.csv:4) and 3 more like it".
std::string devices_of(const Verification& verification, std::size_t device_class);

// A line of a fleet may stand for many equal devices.
std::uint64_t count_of_class(const Verification& verification, std::size_t device_class);

struct CoveredText {
  std::string text;      // "2 of 3 covered"
  std::string excluded;  // "; 1 excluded at configure: 6.1, last toolkit 12.9", or empty
};
// Of what covers these classes; empty where no device is known.
CoveredText covered_text(const Verification& verification, const std::vector<Coverage>& classes);

// Of a device without a compute capability, and so many more like it.
Error unjudged_device(const Device& device, std::size_t more);

}  // namespace archguard
