#pragma once

#include <string>
#include <vector>

#include "coverage/verification.h"

namespace archguard {

// That a file is covered rests on fat binaries, or on kernels of images that it holds as data, that are for
// other devices and not asked for: said once for all of its devices of which the same is true.
struct ForOthersText {
  bool warning = false;  // of some device they are at least as many as those that run; else a note
  std::string text;
  std::string fix;  // the line to type
};
std::vector<ForOthersText> for_others_texts(const Verification& verification, const FileResult& file);

}  // namespace archguard
