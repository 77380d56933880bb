#pragma once

#include <string>

#include "image/image.h"

namespace archguard::test {

// "gemm real, copy empty", or the error.
inline std::string kernels_of(const Result<ImageKernels>& code) {
  static const char* const states[] = {"real", "empty", "trap", "prints", "unknown"};
  if (!code) return code.error().text();
  std::string text;
  for (const Kernel& kernel : code->kernels)
    text += (text.empty() ? "" : ", ") + kernel.name + " " + states[static_cast<int>(kernel.state)];
  return text;
}

}  // namespace archguard::test
