#pragma once

#include <functional>
#include <vector>

#include "fatbin/fatbin.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// Visits the bytes of these sections of an object, but for its fat binaries, which ascend: `visit` gets a
// piece, from `at` within the object, and returns whether it could be read. False where one could not, the
// object has no sections, or some that share bytes would let a small file cost without end.
bool visit_host_bytes(
    const ByteSource& source, const HostObject& host, const std::vector<Fatbin>& fatbins,
    const std::function<bool(const Section& section)>& is_wanted,
    const std::function<bool(const Section& section, std::uint64_t at, std::uint64_t size)>& visit);

}  // namespace archguard::fatbin
