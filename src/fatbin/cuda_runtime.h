#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/version.h"
#include "fatbin/fatbin.h"

// The CUDA runtime that host code hands its fat binaries to (__cudaRegisterFatBinary).
namespace archguard {

// A library that is the runtime: "libcudart.so.13" → 13.0, "libcudart-8774224f.so.12.4.127" (of a wheel) →
// 12.4, "cudart64_110.dll" → 11.0; no version where the name tells none.
struct RuntimeLibrary {
  std::string name;
  std::optional<Version> version;
};
// Nothing for the name of any other library.
std::optional<RuntimeLibrary> runtime_library(std::string_view name);

// The one that a linked object of `file` needs (DT_NEEDED; the import table of a PE image): nvcc -cudart
// shared. Nothing where it needs none, or where that cannot be read.
std::optional<RuntimeLibrary> needed_runtime(const DeviceObject& object, const ByteSource& file);

// Is the runtime linked into it: -cudart static, the default of nvcc? Else it is in another file: -cudart
// none, or a stub that looks for one when the program runs. Searches the data of the object for texts that
// the releases of the runtime have.
bool holds_runtime(const DeviceObject& object, const ByteSource& file);

// Does this stand where what the runtime gets stands, as far as the file tells? Not what a program keeps
// among its other data.
bool may_be_registered(const Container& container);

}  // namespace archguard
