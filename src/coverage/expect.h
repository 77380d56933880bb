#pragma once

#include <string>
#include <vector>

#include "coverage/container_code.h"

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
  nothing,  // not asked: the linker's own container without kernels, or the relocatable part of a linked file
};

struct Expectation {
  ExpectVerdict verdict = ExpectVerdict::nothing;
  std::vector<ExpectedImage> absent;  // with `lacks`
};

// Holds one container against the list. LTO-IR answers for the SASS of its arch, which the linker will make
// of it; relocatable PTX answers for PTX.
Expectation expect_images(const ContainerCode& code, const std::vector<ExpectedImage>& expected);

// The same for a container that the device linker made of the containers `parts`: SASS is asked of itself,
// PTX of each of them, since nvcc leaves it there.
Expectation expect_linked(const Container& linked, const std::vector<const Container*>& parts,
                          const std::vector<ExpectedImage>& expected);

// "SASS of sm_80", "PTX of compute_90"
std::string to_string(const ExpectedImage& image);

}  // namespace archguard
