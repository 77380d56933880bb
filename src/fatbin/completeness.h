#pragma once

#include <vector>

#include "fatbin/fatbin.h"
#include "fatbin/fatbin_list.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// How to get back what was removed from a file or overwritten.
inline constexpr const char* kRebuild =
    "build it anew, and keep the sections .nv_fatbin, __nv_relfatbin and .nvFatBinSegment";

// Is all device code there that the host code of an object tells of? Reads the object's registrations into
// `out`, whose fat binaries are `list`. `whole`: no error was found before; else what is missing may be a
// consequence of it, and nothing more is said.
//  - A fat binary that is registered and not there, or cannot be read, was removed (objcopy -R) or
//    overwritten: that is no file without device code. Where the file does not tell the place of some, at
//    least their number must be there.
//  - A linked file whose relocatable fat binaries were never device-linked: no kernel of them runs.
//  - An object whose device code stands in the compiler's form, for the linker to compile.
std::vector<Error> check_completeness(const ByteSource& source, const HostObject& host, DeviceObject& out,
                                      const FatbinList& list, bool whole);

}  // namespace archguard::fatbin
