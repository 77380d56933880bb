#pragma once

#include "fatbin/fatbin.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// What the host code of a linked file names of device code made with -rdc=true, as nvcc lists it for the
// device linker: docs/reference/fatbin.md#what-host-code-names.
HostReferences read_host_references(const ByteSource& source, const HostObject& host,
                                    const std::vector<Fatbin>& fatbins);

}  // namespace archguard::fatbin
