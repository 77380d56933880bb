#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coverage/verification.h"

namespace archguard {

// Images of one folder that differ by a number in their names (k80.cubin, k90.cubin), of which none covers
// all devices, and which cover all of them together: most likely the program picks one.
struct Pickable {
  std::string glob;  // for --any-of
  std::size_t files = 0;
};

// Of a verification without alternatives; in the order of their names.
std::vector<Pickable> pickable_images(const Verification& verification);

}  // namespace archguard
