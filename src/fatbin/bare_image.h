#pragma once

#include "fatbin/fatbin.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// A file that is one image and no fat binary, as a fat binary of one entry at offset 0: a cubin (its arch
// from its own header and notes) or PTX (from `.version` and `.target`).
Result<Fatbin> read_bare_cubin(const ByteSource& source, const HostObject& object);
Result<Fatbin> read_bare_ptx(const ByteSource& source);

}  // namespace archguard::fatbin
