#pragma once

#include <vector>

#include "coverage/container_code.h"

namespace archguard {

// Images that a file holds as data, which the search for a fix sees as one container (Container::bare): the
// program hands one of them to the driver, so that each is judged alone, and one that fits is enough.

// One container for each of the images.
std::vector<ContainerCode> choices_of(const ContainerCode& code);

bool is_plain_ptx(const Image& image);
bool holds_plain_ptx_as_data(const ContainerCode& code);

// Adds the images of a bare container to those of `all`, up to a thousand. All then hold the same kernels,
// since it is the program that knows which it asks for.
void add_choice(ContainerCode& all, const ContainerCode& code);

}  // namespace archguard
