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

  // In object.fatbins. A fat binary that is a file of its own is one as well.
  bool holds(std::size_t index) const;

  // May it be one of several of which the program loads the one that fits? Only where all that is registered
  // is known, and where it is understood and linked.
  bool may_be_alternative(std::size_t index, const FatbinCode& code) const;

 private:
  const DeviceObject& object_;
  std::vector<bool> registered_;  // by fat binary
  bool all_known_ = true, any_held_ = false;
};

// One fat binary for each architecture, as data: fat binaries of the very same kernels and variables, no two
// of which hold an image of the same kind and arch, are taken for one, with the bare images beside them that
// have these, too. The others stay what they are: what
// shares an arch is no alternative to choose by it, but other code of the same names.
class DataAlternatives {
 public:
  bool is_full() const;  // so many are kept that no more may be added
  void add(FatbinCode code);
  // All that were added, in the order of their first; none are left.
  std::vector<FatbinCode> take();

 private:
  std::vector<FatbinCode> all_;
};

// LTO-IR and nothing else: no driver loads that, so it is for a linker that the program calls (nvJitLink).
bool is_ltoir_alone(const FatbinCode& code);

// The same LTO-IR as an image that a program holds as data (Fatbin::bare).
FatbinCode as_bare_ltoir(FatbinCode code);

}  // namespace archguard
