#pragma once

#include "image/image.h"
#include "targets.h"

namespace archguard::fuzz {

inline void check_image(const Result<ImageKernels>& code, std::size_t size) {
  if (!code) return promise(!code.error().what.empty());
  std::uint64_t names = 0, machine_code = 0;
  for (std::size_t i = 0; i < code->kernels.size(); ++i) {
    const Kernel& kernel = code->kernels[i];
    promise(!kernel.name.empty() && (i == 0 || code->kernels[i - 1].name <= kernel.name));
    names += kernel.name.size();
    machine_code += kernel.code_size;
  }
  for (std::size_t i = 0; i < code->variables.size(); ++i) {
    const DeviceVariable& variable = code->variables[i];
    promise(!variable.name.empty() && (i == 0 || code->variables[i - 1].name <= variable.name));
    names += variable.name.size();
  }
  promise(names <= size && machine_code <= size);
  promise(code->archs.size() <= 3 && code->warnings.size() <= 2);
}

}  // namespace archguard::fuzz
