#pragma once

#include <vector>

#include "coverage/fatbin_code.h"

namespace archguard {

// Images that a file holds as data, which the search for a fix sees as one fat binary (Fatbin::bare): the
// program hands one of them to the driver, so that each is judged alone, and one that fits is enough.

// One fat binary for each of the images.
std::vector<FatbinCode> choices_of(const FatbinCode& code);

bool is_plain_ptx(const Image& image);
bool holds_plain_ptx_as_data(const FatbinCode& code);

// Adds the images of a bare fat binary to those of `all`, up to a thousand. All then hold the same kernels,
// since it is the program that knows which it asks for.
void add_choice(FatbinCode& all, const FatbinCode& code);

}  // namespace archguard
