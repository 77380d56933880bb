#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/version.h"
#include "compat/arch.h"

namespace archguard {

// Spellings of devices and drivers other than those of ArchGuard, for the fix in a message. None is taken as
// it is: what is guessed is shown.

// Without what looks like a blank, or like nothing, and comes from web pages and spreadsheets: no-break
// spaces (U+00A0, U+202F, U+2060), ideographic and zero-width ones, byte order marks.
std::string without_wide_blanks(std::string_view text);

// sm_86, compute_90a, 86, 8, 9.0a. A number under 20 is a major version, since nothing makes code for 1.x.
std::optional<ComputeCapability> meant_capability(std::string_view text);

// The CUDA that a driver offers, X.Y and nothing else. The driver's own version may look like it (580.95),
// and is none.
std::optional<Version> parse_driver_cuda(std::string_view text);

struct MeantCuda {
  Version version;
  bool of_driver = false;  // the text is a driver's version, and this is the CUDA that it offers
};

// 580.95.05, 12, 12.4.1. A driver's version tells nothing of a Tegra device.
std::optional<MeantCuda> meant_driver_cuda(std::string_view text, std::optional<ComputeCapability> device);
// "write the CUDA that it offers: 8.6@13.0"; `before` is "8.6@". Empty where that cannot be told.
std::string driver_fix(std::string_view text, std::optional<ComputeCapability> device,
                       const std::string& before);

// Is it a driver's own version, digits and dots? What begins below 100 is one of CUDA, of Jetson Linux, or of
// Windows, whose display drivers end with the digits of NVIDIA's: 31.0.15.3623 is 536.23.
bool is_driver_version(std::string_view text);
std::string driver_version_fix(std::string_view text);

// For a value of --device: "write 8.6", or "give --device twice: --device 8.6 --device 9.0"; else empty.
std::string device_fix(std::string_view text);

}  // namespace archguard
