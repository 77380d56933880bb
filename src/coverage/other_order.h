#pragma once

#include <optional>
#include <string>

#include "coverage/judge_fatbin.h"

namespace archguard {

// nvJitLink, which links what a driver links, chooses an image of a fat binary as judge() does
// (is_taken_before), but for one thing: the nearest arch, of SASS and PTX alike, and SASS only where both are
// for one arch. It makes no second choice either. (Measured with nvJitLink 13.0 and 13.5,
// tests/real/other_order.cc. Where PTX is nearer than SASS that fits, no driver was recorded yet: that takes
// a device with a minor number.)

// The image that it would take for the device: index into images. Nothing where none fits.
std::optional<std::size_t> linker_choice(const FatbinCode& code, ComputeCapability device);

// Where that order leads to another end than `judgement`, which judge() gave: what is to be said of it, "it
// goes by sm_80; by nvJitLink's order compute_86 would be taken, and fail with error 222". Nothing where both
// orders cover the device or neither does, and where the environment of the program decides.
std::optional<std::string> other_order(const FatbinCode& code, const Device& device,
                                       const JudgePolicy& policy, const Judgement& judgement);

}  // namespace archguard
