#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "host/host_file.h"

namespace archguard {

// A PE image (.exe, .dll) or a COFF object (.obj), by the first bytes of the file.
bool is_pe(ByteView start);
bool is_coff_object(ByteView start, std::uint64_t file_size);

// Fills format, linked and sections of `object`, which is_pe() or is_coff_object() has recognized. What is
// damaged goes to `errors` under the name `where`.
void read_pe_object(const ByteSource& source, const std::string& where, HostObject& object,
                    std::vector<Error>& errors);

}  // namespace archguard
