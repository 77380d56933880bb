#include "report/tables.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "coverage/any_of.h"
#include "host/host_file.h"
#include "report/any_of_text.h"
#include "report/device_text.h"
#include "report/failure_text.h"
#include "report/names.h"

namespace archguard {
namespace {

std::string cell_word(const CoverageCell& cell) {
  switch (cell.state) {
    case CoverageCell::State::elsewhere:
      return "elsewhere";
    case CoverageCell::State::partly:
      return "partly";
    case CoverageCell::State::error:
      return kind_of_error(cell.error);
    case CoverageCell::State::unknown:
      return "unknown";
    default:
      return "covered";
  }
}

Shown painted(const CoverageCell& cell, const std::string& text, Style style) {
  if (cell.state == CoverageCell::State::elsewhere) return text;
  if (cell.state == CoverageCell::State::partly) return style.warning(text);
  return is_good(cell) ? style.good(text) : style.error(text);
}

// Do all rows name members of one wheel? Its path, else nothing.
std::string common_path(const Verification& all, const CoverageTable& table) {
  const std::string& path = all.files[table.rows.front().files.front()].path;
  for (const CoverageTable::Row& row : table.rows)
    for (const std::size_t file : row.files)
      if (all.files[file].path != path || all.files[file].member.empty()) return {};
  return path;
}

std::string name_of_row(const Verification& all, const CoverageTable::Row& row, bool members) {
  const FileResult& first = all.files[row.files.front()];
  std::string name = members ? first.member : object_name(first.path, first.member);
  if (!first.needed_by.empty()) name += ", needed by " + first.needed_by;
  if (row.files.size() > 1) name += fmt::format(" and {} more", row.files.size() - 1);
  return name;
}

}  // namespace

std::string counts_text(const DeviceResult& result) {
  const FatbinCounts& counts = result.fatbins;
  std::vector<std::string> parts;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count != 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(counts.sass, "SASS");
  add(counts.jit - counts.linked_at_load, "PTX");
  add(counts.linked_at_load, "linked when loaded");
  const auto all_failed_by = [&](int code) {
    return std::all_of(result.failures.begin(), result.failures.end(), [&](const Failure& failure) {
      const bool partly = failure.cause == FailureCause::partly && code == kNoKernelImage;
      return failure.unknown || partly || (failure.code == code && failure.cause != FailureCause::partly);
    });
  };
  const bool refused = result.partly && result.partly->needs_driver;
  add(counts.uncovered, refused                         ? "without an image that runs"
                        : all_failed_by(kNoKernelImage) ? "without an image"
                        : all_failed_by(0)              ? "not as asked for"
                                                        : "that cannot run");
  add(counts.unknown, "unknown");
  add(counts.specific, "for other devices only");
  const EmbeddedResult& embedded = result.embedded;
  std::string text;
  if (counts.total != 0)
    text = fmt::format("{}: {}", count_of(counts.total, "fat binary", "fat binaries"), join(parts, ", "));
  if (embedded.total != 0)
    text += fmt::format("{}embedded images: {} of {}", text.empty() ? "" : "; ", embedded.fitting,
                        embedded.total);
  if (result.kernels.covered != 0 && result.kernels.covered != result.kernels.total)
    text += fmt::format("; {} of {} kernels", result.kernels.covered, result.kernels.total);
  if (const std::size_t missing = result.variables.missing.size(); missing != 0)
    text += "; " + count_of(missing, "variable is", "variables are") + " missing";
  if (const std::size_t some = result.variables.unregistered.size(); some != 0)
    text += "; " + count_of(some, "variable is", "variables are") + " not registered";
  if (result.needs_driver && !result.toolkit_ahead && result.coverage == Coverage::covered)
    text += "; needs a driver that offers CUDA " + to_string(*result.needs_driver);
  if (result.toolkit_ahead && result.coverage == Coverage::covered)
    text += fmt::format("; {} {} the runtime of CUDA {}", kind_of_error(kInsufficientDriver),
                        result.runtime_elsewhere ? "under" : "from", to_string(*result.toolkit_ahead));
  return text;
}

std::string table_of_devices(const Verification& verification, const FileResult& file, Style style) {
  std::string out;
  if (!file.has_code) return out;
  std::size_t width = 0;
  for (std::size_t i = 0; i < file.devices.size(); ++i)
    width = std::max(width, devices_of(verification, i).size());
  for (std::size_t i = 0; i < file.devices.size(); ++i) {
    const CoverageCell cell = cell_of(verification, file, i);
    std::string detail = counts_text(file.devices[i]);
    if (const auto elsewhere = covered_elsewhere(verification, file, i))
      detail += (detail.empty() ? "" : "; ") + ("covered by " + name_beside(verification, *elsewhere, file));
    out += line_of({"  ", painted(cell, fmt::format("{:<9}", cell_word(cell)), style),
                    fmt::format("  {:<{}}  {}", devices_of(verification, i), width, detail)});
  }
  return out;
}

std::string table_of_files(const Verification& verification, Style style, std::size_t columns,
                           TableRows rows) {
  const CoverageTable table = coverage_table(verification, rows);
  if (table.rows.empty()) return {};
  std::size_t cells = 2;
  for (const std::string& title : table.titles) cells += 2 + std::max<std::size_t>(6, title.size());
  const std::size_t most = columns == 0 ? 0 : columns - std::min(columns - 1, cells);
  const std::string common = common_path(verification, table), path = shortened(common, most);
  std::vector<std::string> names;
  std::size_t width = path.size();
  for (const CoverageTable::Row& row : table.rows) {
    names.push_back(shortened(name_of_row(verification, row, !common.empty()), most));
    width = std::max(width, names.back().size());
  }
  const auto in_column = [&](std::size_t device, const std::string& text) {
    return fmt::format("  {:>{}}", text, std::max<std::size_t>(6, table.titles[device].size()));
  };
  std::string head = fmt::format("  {:<{}}", path, width);
  for (std::size_t device = 0; device < table.titles.size(); ++device)
    head += in_column(device, table.titles[device]);
  std::string out = line_of({head});
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<Shown> parts = {fmt::format("  {:<{}}", names[i], width)};
    for (std::size_t device = 0; device < table.titles.size(); ++device) {
      const CoverageCell& cell = table.rows[i].cells[device];
      parts.push_back(painted(cell, in_column(device, letter_of(cell)), style));
    }
    out += line_of(parts);
  }
  return out + line_of({"  " + legend_of(table)});
}

}  // namespace archguard
