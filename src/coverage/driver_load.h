#pragma once

#include <string>

#include "coverage/judge_fatbin.h"

namespace archguard {

// What happens to a fat binary: the driver loads it, under this environment; or the device linker is about to
// link it, as part of an object; or the driver links it again when it loads the program.
enum class Step { load, link, relink };
struct Use {
  Step step = Step::load;
  const JitEnvironment& environment;
  bool newer_sass = false;
  std::optional<Version> stated_driver = {};  // JudgePolicy's
  bool last_driver = false;  // nobody told the driver: it is taken to be the newest that the device ever gets
};

// What happens when the driver, or a linker, takes that image of the fat binary, which fits the device?
Judgement judge_loading(const FatbinCode& code, std::size_t index, const Device& device, const Use& use);

// The lowest CUDA of a driver that loads this cubin; nothing where nothing is known of it.
std::optional<Version> lowest_driver_for_sass(const Image& image);

// Does a driver of this CUDA load this cubin, which fits its device?
Fit driver_loads(const Image& image, Version driver_cuda);

Judgement failed(int code, std::string reason, std::optional<std::size_t> image = {});
Judgement not_known(std::string reason);

}  // namespace archguard
