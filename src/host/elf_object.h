#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "host/host_file.h"

namespace archguard {

// Fills format, linked and sections of `object`, whose bytes are `source` and begin with ELF's magic. What is
// damaged goes to `errors` under the name `where`, at most one error a table.
void read_elf_object(const ByteSource& source, const std::string& where, HostObject& object,
                     std::vector<Error>& errors);

}  // namespace archguard
