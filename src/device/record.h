#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace archguard {

// A few texts that belong together, as one line: in the pipe from a child, and in the file that keeps an
// answer.
using Record = std::vector<std::string>;

std::string encode_record(const Record& record);  // with its line end
Record decode_record(std::string_view line);      // without

}  // namespace archguard
