#pragma once

#include <cstddef>

#include "fatbin/fatbin.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// What the host code of a linked file names of device code made with -rdc=true, as nvcc lists it for the
// device linker: docs/reference/fatbin.md#what-host-code-names.
HostReferences read_host_references(const ByteSource& source, const HostObject& host,
                                    const std::vector<Fatbin>& fatbins);

// Of an object of that many fat binaries: the section of such a list that was overwritten by
// zeros. nvlink takes it for one that names nothing, and leaves the kernels out without a word.
const Section* find_lost_list(const ByteSource& source, const HostObject& host, std::size_t fat_binaries);

}  // namespace archguard::fatbin
