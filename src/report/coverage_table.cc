#include "report/coverage_table.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "report/failure_text.h"

namespace archguard {
namespace {

using State = CoverageCell::State;

CoverageCell covered_cell(const DeviceResult& result) {
  if (result.partly) return {State::partly, 0};
  const FatbinCounts& counts = result.fatbins;
  if (counts.jit != 0) return {State::ptx, 0};
  if (counts.sass != 0) return {State::sass, 0};
  return {result.embedded.total != 0 ? State::data : State::none, 0};
}

// The driver, the name, or at last the number of the class.
std::vector<std::string> titles_of(const std::vector<DeviceClass>& classes) {
  std::map<std::string, std::size_t> count;
  for (const DeviceClass& each : classes) ++count[to_string(*each.device.capability)];
  std::vector<std::string> titles;
  std::set<std::string> known;
  for (const DeviceClass& each : classes) {
    std::string title = to_string(*each.device.capability);
    if (count[title] > 1 && each.device.driver_cuda) title += "@" + to_string(*each.device.driver_cuda);
    std::string own = title;
    for (std::size_t number = 2; !known.insert(own).second; ++number)
      own = title + " (" + std::to_string(number) + ")";
    titles.push_back(std::move(own));
  }
  return titles;
}

}  // namespace

bool operator==(const CoverageCell& a, const CoverageCell& b) {
  return a.state == b.state && a.error == b.error;
}

CoverageCell cell_of(const Verification& verification, const FileResult& file, std::size_t device) {
  const DeviceResult& result = file.devices[device];
  if (covered_elsewhere(verification, file, device)) return {State::elsewhere, 0};
  if (result.coverage == Coverage::covered) return covered_cell(result);
  for (const Failure& failure : result.failures)
    if (!failure.unknown) return {State::error, error_number_of(failure)};
  return {State::unknown, 0};
}

std::string letter_of(const CoverageCell& cell) {
  switch (cell.state) {
    case State::sass:
      return "S";
    case State::ptx:
      return "P";
    case State::data:
      return "D";
    case State::none:
      return "-";
    case State::elsewhere:
      return "other";
    case State::partly:
      return "partly";
    case State::error:
      return cell.error == 0 ? "error" : std::to_string(cell.error);
    case State::unknown:
      break;
  }
  return "?";
}

bool is_good(const CoverageCell& cell) {
  return cell.state != State::error && cell.state != State::unknown;
}

CoverageTable coverage_table(const Verification& verification, TableRows rows) {
  CoverageTable table;
  table.titles = titles_of(verification.classes);
  std::map<std::string, std::size_t> known;  // by all letters
  for (std::size_t i = 0; i < verification.files.size(); ++i) {
    const FileResult& file = verification.files[i];
    if (outcome_of(verification, file) == Outcome::no_device_code || file.devices.empty()) continue;
    std::vector<CoverageCell> cells;
    std::string letters;
    for (std::size_t device = 0; device < file.devices.size(); ++device) {
      cells.push_back(cell_of(verification, file, device));
      letters += letter_of(cells.back()) + " ";
    }
    if (rows == TableRows::unfolded) letters = std::to_string(i);
    const auto [at, is_new] = known.try_emplace(std::move(letters), table.rows.size());
    if (is_new) table.rows.push_back({{}, std::move(cells)});
    table.rows[at->second].files.push_back(i);
  }
  return table;
}

std::string legend_of(const CoverageTable& table) {
  std::set<State> used;
  for (const CoverageTable::Row& row : table.rows)
    for (const CoverageCell& cell : row.cells) used.insert(cell.state);
  std::vector<std::string> parts;
  const auto add = [&](State state, const char* text) {
    if (used.count(state) != 0) parts.emplace_back(text);
  };
  add(State::sass, "S SASS");
  add(State::ptx, "P compiled from PTX when it is loaded");
  add(State::data, "D images held as data");
  add(State::none, "- nothing is asked of the device");
  add(State::elsewhere, "other: another file covers the device");
  add(State::partly, "partly: far less than other devices get, or than with a newer driver");
  add(State::error, "numbers are CUDA's errors");
  add(State::unknown, "? cannot be told");
  return join(parts, "; ");
}

}  // namespace archguard
