#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coverage/verify.h"
#include "fatbin/driver_imports.h"

namespace archguard {

// The functions of the driver API that a file calls by name. A driver that is too old for one does not have
// it: the program does not start, or ends at the call.
class DriverFunctions {
 public:
  // `code` was read from `file`; both outlive this.
  DriverFunctions(const DeviceCode& code, const ByteSource& file) : code_(code), file_(file) {}

  struct Lacking {
    std::string function;  // the newest of them
    Version first;         // of a driver that has it
    std::string where;     // the object that calls it
  };
  // What a driver of that CUDA lacks of those that the loader looks for at the start, or of the others.
  std::optional<Lacking> beyond(Version driver_cuda, bool at_start);

 private:
  const std::vector<DriverImports>& imports();

  const DeviceCode& code_;
  const ByteSource& file_;
  std::optional<std::vector<DriverImports>> imports_;  // of each object
};

// Adds to a device's result, whose fat binaries and embedded images are judged, what its driver lacks for the
// program to start.
void judge_driver_functions(DeviceResult& result, const DeviceClass& devices, const VerifyPolicy& policy,
                            DriverFunctions& functions);

// A warning of the functions that are looked for when they are called, and that a device's driver lacks.
std::optional<Error> warning_of_calls(const std::vector<DeviceClass>& classes, DriverFunctions& functions);

}  // namespace archguard
