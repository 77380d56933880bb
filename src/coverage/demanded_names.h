#pragma once

#include <functional>
#include <string>
#include <vector>

#include "coverage/judge_fatbin.h"

// What a fix of a fat binary has to hold: its kernels and variables, but for those that are waived, and for
// those that the image which supports the device today lacks as well. No driver and no toolkit brings these,
// and they have an error and a fix of their own (500, 13).

namespace archguard {

// The names, sorted, that a fix need not bring. `waived`: is this one waived on the device? The judgement is
// of this fat binary, by itself.
std::vector<std::string> excused_names(const FatbinCode& code, const Judgement& judgement,
                                       const std::function<bool(const std::string&)>& waived);

// Does this image hold all that the fat binary is needed for, but for what is excused?
bool holds_all(const FatbinCode& code, std::size_t image, const std::vector<std::string>& excused = {});

// Enough of a fat binary to judge it, whose images may have thousands of kernels: two stand for all kernels
// and variables, and an image that lacks any which is not excused lacks the first.
FatbinCode without_names(const FatbinCode& code, const std::vector<std::string>& excused = {});

}  // namespace archguard
