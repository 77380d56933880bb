#pragma once

#include <string>
#include <vector>

#include "host/host_file.h"

namespace archguard::fatbin {

// The functions that a linked file imports and that compile device code, or load some that the caller hands
// over: nvrtcCompileProgram, cuModuleLoadData, …; sorted. From the dynamic symbols of ELF files, and the
// import tables of PE images. Functions that a program looks up by name itself (dlsym, GetProcAddress,
// cuGetProcAddress) are not among them.
std::vector<std::string> runtime_code_of(const ByteSource& source, const HostObject& host);

// Is one of these what compiles device code: NVRTC?
bool compiles_code(const std::vector<std::string>& functions);

}  // namespace archguard::fatbin
