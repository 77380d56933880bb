#pragma once

#include <string>
#include <vector>

#include "support/builders/byte_writer.h"

namespace archguard::fuzz {

// Small well-formed inputs of one target, built here: the seed corpus. Empty for a name that is no target.
std::vector<test::Bytes> seeds_of(const std::string& target);

}  // namespace archguard::fuzz
