#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "fatbin/fatbin.h"

namespace archguard {

// Functions of the driver API that a linked object calls by name, from libcuda.so.1 or nvcuda.dll. What it
// asks for while it runs (cuGetProcAddress, dlsym), as the CUDA runtime does, is no part of them.
struct DriverImports {
  std::string object;  // as messages name it
  // Those that first_driver_with() knows, sorted. The loader looks for the first before the program begins,
  // and ends it where one is not there: all of them with `ld -z now`, else those whose address the program
  // holds. The others it looks for when they are called, as it may do for the imports of PE images.
  std::vector<std::string> at_start, at_call;
};
DriverImports driver_imports(const DeviceObject& object, const ByteSource& file);

}  // namespace archguard
