#pragma once

#include <string>
#include <vector>

#include "coverage/fatbin_code.h"

namespace archguard {

// One image that a build asked for: SASS or PTX of an arch.
struct ExpectedImage {
  Arch arch;
  bool sass = true;  // else PTX
};

enum class ExpectVerdict {
  holds,
  lacks,
  specific,  // exempt: `a` and `f` images only, made by flags of one source file, where plain ones were asked
             // for
  nothing,   // not asked: the linker's own fat binary without kernels, or the relocatable part of a linked
             // file
};

struct Expectation {
  ExpectVerdict verdict = ExpectVerdict::nothing;
  std::vector<ExpectedImage> absent;  // with `lacks`
};

// Holds one fat binary against the list. LTO-IR answers for the SASS of its arch, which the linker will make
// of it; relocatable PTX answers for PTX.
Expectation expect_images(const FatbinCode& code, const std::vector<ExpectedImage>& expected);

// The same for a fat binary that the device linker made of the fat binaries `parts`: SASS is asked of itself,
// PTX of each of them, since nvcc leaves it there.
Expectation expect_linked(const Fatbin& linked, const std::vector<const Fatbin*>& parts,
                          const std::vector<ExpectedImage>& expected);

// "SASS of sm_80", "PTX of compute_90"; several with ", " between them
std::string to_string(const ExpectedImage& image);
std::string to_string(const std::vector<ExpectedImage>& images);

}  // namespace archguard
