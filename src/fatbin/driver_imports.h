#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "fatbin/fatbin.h"

namespace archguard {

// Functions of the driver API that a linked object calls by name, from libcuda.so.1 or nvcuda.dll. What it
// asks for while it runs (cuGetProcAddress, dlsym), as the CUDA runtime does, is no part of them.
struct DriverImports {
  std::string object;                  // as messages name it
  std::vector<std::string> functions;  // those that first_driver_with() knows, sorted
  // The loader looks for all of them, and ends the program where one is not there (`ld -z now`). Else it may
  // look for each when it is called, as it does for delayed imports of PE images, too.
  bool at_start = false;
};
DriverImports driver_imports(const DeviceObject& object, const ByteSource& file);

}  // namespace archguard
