#pragma once

#include <cstddef>
#include <vector>

#include "coverage/fatbin_code.h"

namespace archguard {

// Which fat binaries of one file, or of an object that goes into one, stand among its data, where nothing is
// known to register them (Fatbin::in_data): the program hands them to the driver or to a linker itself, as it
// does bare images.
class DataFatbins {
 public:
  // `object` outlives it.
  explicit DataFatbins(const DeviceObject& object);

  bool holds(std::size_t index) const;  // in object.fatbins

 private:
  const DeviceObject& object_;
  std::vector<bool> registered_;  // by fat binary
};

// LTO-IR and nothing else: no driver loads that, so it is for a linker that the program calls (nvJitLink).
bool is_ltoir_alone(const FatbinCode& code);

// The same LTO-IR as an image that a program holds as data (Fatbin::bare).
FatbinCode as_bare_ltoir(FatbinCode code);

}  // namespace archguard
