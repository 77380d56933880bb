#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "host/host_file.h"

namespace archguard::fatbin {

// The section of that name, where the file has its bytes.
const Section* section_of(const HostObject& host, std::string_view name);

struct WantedSymbol {
  std::uint32_t name = 0;  // where it begins in .dynstr
};

// Of a linked ELF file, each symbol that the loader has to find elsewhere: `visit` returns whether to go on.
// False where there is no such table, or no table of sections.
bool visit_wanted_symbols(const ByteSource& source, const HostObject& host,
                          const std::function<bool(const WantedSymbol&)>& visit);

}  // namespace archguard::fatbin
