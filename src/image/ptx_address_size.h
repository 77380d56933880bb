#pragma once

#include <string_view>

namespace archguard {

// Do compilers take PTX that has no `.address_size` for one of 32 bits? As ptxas 11.8 to 13.5 does: where an
// instruction takes an address in global memory, or a generic one, from a register of 32 bits. It is taken to
// have no other ones where no type of 64 bits stands in it; where one does, nothing is known of that.
bool has_32_bit_addresses(std::string_view ptx);

}  // namespace archguard
