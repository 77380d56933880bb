#pragma once

#include "base/bytes.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// The first table of symbols, their names, groups or relocations of a 64-bit ELF file of which a part was
// overwritten by zeros; null where there is none. A linker or loader takes it, and the program then registers
// something else, or crashes. Fails where the file cannot be read.
Result<const Section*> find_zeroed_table(const ByteSource& source, const HostObject& object);

}  // namespace archguard::fatbin
