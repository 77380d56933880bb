#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coverage/functions_elsewhere.h"
#include "coverage/verify.h"
#include "fatbin/driver_imports.h"

namespace archguard {

// The functions of the driver API that a file calls by name. A driver that is too old for one does not have
// it: the program does not start, or ends at the call.
class DriverFunctions {
 public:
  // `code` was read from `file`; both outlive this. `ask`: see verify_file().
  DriverFunctions(const DeviceCode& code, const ByteSource& file, const AskElsewhere& ask)
      : code_(code), file_(file), ask_(ask) {}

  enum class End {
    start,  // it does not load
    load,   // of a library: likewise, where it is loaded with RTLD_NOW; else at the call
    call,
  };
  struct Lacking {
    std::string function;
    Version first;      // of a driver that has it
    std::string where;  // the object that calls it
    End end = End::start;
    bool shared = false;  // in a library
    bool certain = true;  // false: unless another library, or the program, has the function
  };
  // The newest function that a driver of that CUDA lacks: of those that certainly end the program at its
  // start, or of the others.
  std::optional<Lacking> beyond(Version driver_cuda, bool at_start);
  // Libraries that were not found, and may have it.
  const std::vector<std::string>& not_found() { return elsewhere().not_found; }

 private:
  const std::vector<DriverImports>& imports();
  const FunctionsElsewhere& elsewhere();

  const DeviceCode& code_;
  const ByteSource& file_;
  const AskElsewhere& ask_;
  std::optional<std::vector<DriverImports>> imports_;  // of each object
  std::optional<FunctionsElsewhere> elsewhere_;        // asked where a driver lacks one
};

// Adds to a device's result, whose fat binaries and embedded images are judged, what its driver lacks for the
// program to start. `known`: as with_driver_that_knows() has it.
void judge_driver_functions(DeviceResult& result, const Device& stated, const Device& known,
                            const VerifyPolicy& policy, DriverFunctions& functions);

// A warning of the functions that a device's driver lacks, where the program may start all the same.
std::optional<Error> warning_of_calls(const std::vector<DeviceClass>& classes, DriverFunctions& functions);

}  // namespace archguard
