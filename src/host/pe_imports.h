#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace archguard {

// The DLLs that a PE image names in its import table, and in that of delayed imports, in order. Nothing for
// what is no PE image. An error is damage: the loader would refuse the file.
Result<std::optional<std::vector<std::string>>> read_pe_imports(const ByteSource& source);

// Where in the file the names of these DLLs stand, as far as the tables can be read.
std::vector<std::uint64_t> find_pe_import_names(const ByteSource& source);

// The functions that it imports by name from any of them, those of delayed imports last; what it imports by
// number is passed over. Of what is no PE image none. An error is damage, or more than 65,536 of them: what
// stands before was visited.
Status visit_pe_functions(const ByteSource& source, const std::function<void(std::string_view)>& visit);

}  // namespace archguard
