#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "diff/side.h"

namespace archguard {

// A side that was written down: the member "coverage" of the JSON of inspect --coverage. The bytes of the
// files are not needed to compare it with another.
void write_baseline(const DiffSide& side, JsonWriter& json);

// Reads it back. An error, with the line that writes one, where the text is cut, is another document, or one
// without verdicts. `path` names it in messages; `options` are those of the line to type that would ask for
// what is asked (" --fleet fleet.csv").
Result<DiffSide> parse_baseline(std::string_view text, const std::string& path,
                                const std::string& options = {});

// The side with the verdicts for these devices alone, in their order; an error that names one of which it has
// none.
Result<DiffSide> for_devices(DiffSide side, const std::vector<DiffDevice>& devices,
                             const std::string& options);

// Of the line to type.
std::string write_line(const std::string& options, const std::string& path);

}  // namespace archguard
