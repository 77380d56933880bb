#include "base/text.h"
#include "image/builtin_functions.h"
#include "image/image.h"

namespace archguard {

void add_defined(LinkNames& names, std::string_view name, bool once) {
  names.defines = true;
  if (once) names.once.emplace_back(name);
  names.defined.emplace_back(name);
  // In libcudadevrt of every release from CUDA 5.0 on: device code that launches a kernel calls it.
  names.is_runtime |= name == "cudaGetParameterBuffer";
}

// Every function of libcudadevrt 13.0 begins so: cudaLaunchDeviceV2, __cudaCDP2Malloc. What the driver and
// ptxas bring along has an underscore there: __cuda_syscall_…, __cuda_sm70_….
bool is_of_device_runtime(std::string_view name) {
  const bool internal = starts_with(name, "__cuda") && !starts_with(name, "__cuda_");
  return starts_with(name, "cuda") || internal;
}

void add_wanted(LinkNames& names, std::string_view name, bool surely) {
  if (builtin_function_since(name)) return;
  names.wanted.emplace_back(name);
  if (surely) names.surely.emplace_back(name);
  names.wants_runtime |= is_of_device_runtime(name);
}

}  // namespace archguard
