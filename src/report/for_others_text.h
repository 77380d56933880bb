#pragma once

#include <optional>
#include <string>

#include "coverage/verification.h"

namespace archguard {

// That a file is covered rests on fat binaries for other devices that are not asked for: said once for all
// of its devices.
struct ForOthersText {
  bool warning = false;  // of some device they are at least as many as those that run; else a note
  std::string text;
  std::string fix;  // the line to type
};
std::optional<ForOthersText> for_others_text(const Verification& verification, const FileResult& file);

// Likewise of kernels of images that the file holds as data.
std::optional<ForOthersText> embedded_for_others_text(const Verification& verification,
                                                      const FileResult& file);

}  // namespace archguard
