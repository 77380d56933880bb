#pragma once

#include <optional>
#include <set>
#include <string>

#include "fatbin/fatbin.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// Which of these variables' copies in host memory the host code may use. cudafe++ leaves a static variable of
// the same name for each that the host sees, registered or not, and its address is what host code names it
// by: cudaMemcpyToSymbol fails with error 13 (recorded) where nothing registered that. Compilers drop one
// that nothing uses, but not with -O0. So what has no symbol is not used, and neither is what nothing in
// memory points to. Nothing where the file does not tell: other files than ELF, and without local symbols.
// What this was seen on: docs/reference/fatbin.md#what-host-code-registers.
std::optional<std::set<std::string>> used_host_copies(const ByteSource& source, const HostObject& host,
                                                      const DeviceObject& object,
                                                      const std::set<std::string>& names);

}  // namespace archguard::fatbin
