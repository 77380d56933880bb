#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fatbin/fatbin.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// A variable's copy in host memory. cudafe++ leaves a static variable of the same name for each that the host
// sees, registered or not, and its address is what host code names it by: cudaMemcpyToSymbol fails with error
// 13 (recorded) where nothing registered that. Compilers drop one that nothing uses, but not with -O0. So
// what has no symbol is not used, and neither is what nothing in memory points to (host_pointers.h). What
// this was seen on: docs/reference/fatbin.md#what-host-code-registers.
struct HostCopy {
  std::uint64_t begin = 0, end = 0;  // in memory
  std::set<std::string> names;       // of variables that it may be of
  std::string surely = {};           // of these, by its whole name, in an object that registers device code
  std::size_t file = 0;              // whose symbol it is
};
struct HostCopies {
  std::vector<HostCopy> copies;  // ascending, of no common bytes
  std::set<std::string> used;    // of variables that may be used, whatever points where
  // Where in memory the code stands that registers: begin and end, ascending.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> registering;
};
// Those of these variables. Nothing where the file does not tell: other files than ELF, and without local
// symbols.
std::optional<HostCopies> find_host_copies(const ByteSource& source, const HostObject& host,
                                           const DeviceObject& object, const std::set<std::string>& names);

}  // namespace archguard::fatbin
