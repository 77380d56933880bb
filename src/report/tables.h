#pragma once

#include <string>

#include "coverage/verification.h"
#include "report/coverage_table.h"
#include "report/style.h"

namespace archguard {

// What a device gets of a file, in numbers: "2 fat binaries: 1 SASS, 1 without an image; 1 of 2 kernels".
std::string counts_text(const DeviceResult& result);

// What one file gets on each class of devices, a line each; empty for a file without device code.
std::string table_of_devices(const Verification& verification, const FileResult& file, Style style);

// What all files get (coverage_table.h), with what its letters mean; empty where none holds device code.
// `columns`: the names are cut to fit that width, where it is not 0.
std::string table_of_files(const Verification& verification, Style style, std::size_t columns,
                           TableRows rows);

}  // namespace archguard
