#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// What an object holds in GCC's own form for the link step to compile, where that may be device code, as
// errors: what -flto leaves of host code that registers fat binaries, and what -fopenmp and -fopenacc leave
// for a device (GCC, "mkoffload"; verified on the output of GCC 12). `fat_binaries`: the object holds some
// beside.
std::vector<Error> link_time_code_in(const ByteSource& source, const HostObject& host, bool fat_binaries,
                                     const std::string& object);

}  // namespace archguard::fatbin
