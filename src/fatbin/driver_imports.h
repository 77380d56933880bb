#pragma once

#include <set>
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
  // and ends it where one is not there: all of them with `ld -z now` and in a module of Python, which loads
  // it so, else those whose address the program holds. The others it looks for when they are called, as it
  // may do for the imports of PE images.
  std::set<std::string> at_start, at_call;
  bool shared = false;              // a library, whose loader chooses when the others are looked for
  bool needs_libcuda = true;        // itself; else others may
  std::vector<std::string> needed;  // libraries that may define such functions, too
};
DriverImports driver_imports(const DeviceObject& object, const ByteSource& file);

// May a library of that name define functions of the driver API, as a shim does that stands before libcuda?
// Those of compilers, of the CUDA toolkit and of PyTorch do not.
bool may_define_driver_functions(const std::string& library);

}  // namespace archguard
