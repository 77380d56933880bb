#pragma once

#include <string>

#include "base/result.h"
#include "result/join.h"

namespace archguard {

// What a run of verify found, from the JSON that it wrote: whole, or an error. `name` is that of the file.
Result<ResultPart> parse_result(const std::string& text, const std::string& name);

}  // namespace archguard
