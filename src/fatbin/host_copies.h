#pragma once

#include <optional>
#include <set>
#include <string>

#include "fatbin/fatbin.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// Which of these variables' copies in host memory the host code uses. cudafe++ leaves a static variable of
// the same name for each that the host sees, registered or not, and its address is what host code names it
// by: cudaMemcpyToSymbol fails with error 13 (recorded) where nothing registered that. Compilers drop one
// that nothing uses, but not with -O0. So what has no symbol is not used, and neither is what nothing in
// memory points to. What this was seen on: docs/reference/fatbin.md#what-host-code-registers.
struct UsedCopies {
  std::set<std::string> perhaps;  // also where the file does not tell
  std::set<std::string> surely;   // of these: the copy is in an object that registers device code
};
// Nothing where the file does not tell at all: other files than ELF, and without local symbols.
std::optional<UsedCopies> used_host_copies(const ByteSource& source, const HostObject& host,
                                           const DeviceObject& object, const std::set<std::string>& names);

}  // namespace archguard::fatbin
