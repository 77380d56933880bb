#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coverage/verification.h"

namespace archguard {

// What one file gets on one class of devices.
struct CoverageCell {
  enum class State { sass, ptx, data, none, elsewhere, partly, error, unknown };
  State state = State::unknown;
  int error = 0;  // CUDA's number, with State::error; 0 where it has none
};
bool operator==(const CoverageCell& a, const CoverageCell& b);
CoverageCell cell_of(const Verification& verification, const FileResult& file, std::size_t device);

// "S", "P", "209", "partly", "?".
std::string letter_of(const CoverageCell& cell);
// Does the device run it?
bool is_good(const CoverageCell& cell);

// Files with device code × classes of devices. Files with the same answers share a row.
struct CoverageTable {
  struct Row {
    std::vector<std::size_t> files;   // indices, ascending
    std::vector<CoverageCell> cells;  // one for each class
  };
  std::vector<Row> rows;            // in the order of their first files
  std::vector<std::string> titles;  // of the classes: "9.0", "9.0@12.4" where that alone tells two apart
};
enum class TableRows { folded, unfolded };  // unfolded: one for each file
CoverageTable coverage_table(const Verification& verification, TableRows rows = TableRows::folded);

// What the letters that stand in the table mean, in one line.
std::string legend_of(const CoverageTable& table);

}  // namespace archguard
