#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
// shared. The newest where it needs several. Nothing where it needs none, or where that cannot be read.
std::optional<RuntimeLibrary> needed_runtime(const DeviceObject& object, const ByteSource& file);

// Does it call a runtime that it needs: does it want any of its functions from elsewhere? True where the file
// does not tell what it wants.
bool calls_runtime(const DeviceObject& object, const ByteSource& file);

// The runtime that is linked into a file: -cudart static, the default of nvcc. `at_least`: no older than this
// release, as its texts tell; of one of CUDA 11 or older they tell nothing.
struct HeldRuntime {
  std::optional<Version> at_least;
};
// Nothing where it is in another file: -cudart none, or a stub that looks for one when the program runs.
// Searches the data of the object for texts that the releases of the runtime have.
std::optional<HeldRuntime> held_runtime(const DeviceObject& object, const ByteSource& file);
// The newest release that HeldRuntime::at_least may name.
Version newest_release_told();

// Which fat binaries of one object the runtime gets, as far as the file tells: what its registrations point
// at, and what stands in the sections for it. Not what a program keeps among its other data.
class Registered {
 public:
  // `object` outlives this.
  explicit Registered(const DeviceObject& object);
  bool has(const Fatbin& fatbin) const;

 private:
  std::vector<std::uint64_t> offsets_;  // of the fat binaries, ascending
};

}  // namespace archguard
