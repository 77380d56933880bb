#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fatbin/fatbin.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// May the file launch a kernel that it does not register? nvcc makes such a launch, of an instance of a
// template, a call of the runtime with no kernel: `cudaLaunchKernel(0, 0, 0, 0, 0, 0)` (seen of nvcc 11.8 to
// 13.5, which registered ones hand a function or a handle). False where each call hands over something; true
// where that is not told: of what is not linked, other files than ELF for x86-64, and without all symbols.
bool may_launch_unregistered(const ByteSource& source, const HostObject& host,
                             const std::vector<Fatbin>& fatbins);

// The functions whose names begin so: does each launch in one hand over something that is registered? Host
// code and device code may choose another overload of a kernel each (std::enable_if): host code then
// registers and launches its own function under the name of what it sees for the device. False where that is
// not told: likewise, and where no launch is seen, as without optimization. Nothing at all where no symbols
// are read.
std::map<std::string, bool> launching_themselves(const ByteSource& source, const HostObject& host,
                                                 const std::vector<Fatbin>& fatbins,
                                                 const std::set<std::string>& beginnings);

}  // namespace archguard::fatbin
