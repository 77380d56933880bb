#pragma once

#include <string>
#include <vector>

#include "host/coff.h"
#include "host/host_file.h"

namespace archguard {

// Fills format, linked and sections of `object`, which is_pe() or is_coff_object() has recognized. What is
// damaged goes to `errors` under the name `where`.
void read_coff_object(const ByteSource& source, const std::string& where, HostObject& object,
                      std::vector<Error>& errors);

}  // namespace archguard
