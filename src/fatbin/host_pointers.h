#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "fatbin/fatbin.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// Visits each pointer in the data and code of a linked file to one of these places in memory, by where it
// stands itself. Those of a section ascend, but for the few at the borders of blocks, which may come twice.
// Any bytes of that value count. False where the file does not tell: another than ELF for x86-64, and what
// others than GCC compiled. What this was seen on: docs/reference/fatbin.md#what-host-code-registers.
bool visit_host_pointers(const ByteSource& source, const HostObject& host, const DeviceObject& object,
                         const std::set<std::uint64_t>& places,
                         const std::function<void(std::uint64_t at, std::uint64_t place)>& visit);

}  // namespace archguard::fatbin
