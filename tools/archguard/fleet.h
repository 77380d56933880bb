#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace archguard {

struct FleetImportOptions {
  std::vector<std::string> files;  // or "-" for standard input
  std::string from;                // the name of a format; empty: recognised by the content
  bool hosts = false;              // a line a host
  std::string output;              // is refused: the fleet goes to standard output
};

struct FleetCheckOptions {
  std::vector<std::string> files;
};

// Writes the fleet to standard output, and what is to be known of it to standard error.
Result<int> run_fleet_import(const FleetImportOptions& options);
// What a fleet does not tell. Exit 1 where that is anything.
Result<int> run_fleet_check(const FleetCheckOptions& options);

}  // namespace archguard
