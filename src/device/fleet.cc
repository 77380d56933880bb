#include "device/fleet.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/bytes.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/text_file.h"
#include "compat/driver.h"
#include "device/answers.h"
#include "device/csv.h"
#include "device/exclusion.h"
#include "device/not_a_fleet.h"
#include "device/spelling.h"

namespace archguard {
namespace {

constexpr std::size_t kMostFleetDevices = 1'000'000;
constexpr std::size_t kFleetMostShown = 60;  // of a wrong value, in a message

const std::vector<std::string>& fleet_columns() {
  static const std::vector<std::string> columns = {
      "name",  "compute_cap",      "driver_version", "driver_cuda", "uuid",    "pci.bus_id",
      "count", "mig.mode.current", "host",           "visible",     "excluded"};
  return columns;
}

// What people write for a column, far from its name, and nvidia-smi never does in a table: without blanks,
// `_`, `-` and dots.
struct ColumnAlias {
  const char* written;
  const char* column;
};
constexpr const char* kCapabilityAliases[] = {"cc", "capability", "computecapability", "cudacapability",
                                              "sm", "computecap", "smversion",         "gpucapability"};
constexpr ColumnAlias kColumnAliases[] = {{"driver", "driver_version"},
                                          {"driverver", "driver_version"},
                                          {"displaydriver", "driver_version"},
                                          {"displaydriverversion", "driver_version"},
                                          {"nvidiadriver", "driver_version"},
                                          {"nvidiadriverversion", "driver_version"},
                                          {"cuda", "driver_cuda"},
                                          {"cudadriver", "driver_cuda"},
                                          {"cudadriverversion", "driver_cuda"},
                                          {"cudaversion", "driver_cuda"},
                                          {"drivercudaversion", "driver_cuda"}};

constexpr char kHeaderFix[] = "begin with a header line such as: name, compute_cap, driver_version";
constexpr char kNvidiaSmi[] = "nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv";
// The line that nvidia-smi prints instead of a table begins so where the driver (R470 and older) does not
// know the column.
constexpr char kUnknownColumnText[] = "Field \"compute_cap\" is not a valid field";

// nvidia-smi's ways to say that it does not know: "[N/A]", "[Not Supported]", "[Unknown Error]", "N/A".
bool says_unknown(std::string_view value) {
  return value == "N/A" || (value.size() >= 2 && value.front() == '[' && value.back() == ']');
}

struct FleetHeader {
  std::size_t line = 0;
  std::vector<std::string> columns;
  // Those that are not read and mean what a column tells that is: that column.
  std::vector<std::pair<std::size_t, std::string>> drivers = {};
};

// Called for every field of every line: no allocation.
bool is_column(std::string_view field, std::string_view column) {
  if (field.size() != column.size()) return false;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const char c = field[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != column[i]) return false;
  }
  return true;
}

bool is_known_column(std::string_view field) {
  for (const auto& column : fleet_columns())
    if (is_column(field, column)) return true;
  return false;
}

bool is_fleet_header(const CsvRow& row) {
  for (const auto& field : row.fields)
    if (is_column(field, "compute_cap")) return true;
  return false;
}

// In small letters, without blanks, `_`, `-` and dots.
std::string bare_letters(std::string_view field) {
  std::string letters;
  for (const char c : to_lower(field))
    if (std::string_view(" _-.").find(c) == std::string_view::npos) letters += c;
  return letters;
}

// The column that tells the driver, where people write another name for it.
std::optional<std::string> column_of_driver(std::string_view field) {
  if (field.size() > kFleetMostShown) return std::nullopt;
  const std::string letters = bare_letters(field);
  for (const ColumnAlias& alias : kColumnAliases)
    if (letters == alias.written) return alias.column;
  return std::nullopt;
}

// The known column that an unknown one of this header most likely means; nothing where the header has it too.
// A short name is near to many a word (cost, node), so there the first letter has to be right.
std::optional<std::string> meant_column(const CsvRow& header, const std::string& field) {
  if (field.size() > kFleetMostShown) return std::nullopt;
  const auto has = [&](std::string_view column) {
    for (const auto& each : header.fields)
      if (is_column(each, column)) return true;
    return false;
  };
  const std::string lower = to_lower(field);
  if (!has("driver_version") && !has("driver_cuda"))  // either column tells the driver
    if (const auto column = column_of_driver(field)) return column;
  if (starts_with(lower, "in")) return std::nullopt;  // "included" is near "excluded", and means its opposite
  auto meant = did_you_mean(lower, fleet_columns());
  if (!meant || has(*meant) || (meant->size() <= 5 && lower[0] != (*meant)[0])) return std::nullopt;
  return meant;
}

// Do other separators than commas make a header of this field?
bool is_header_without_commas(const std::string& field) {
  for (const char separator : {';', '\t', '|'})
    for (const auto piece : split(field, separator))
      if (piece.size() < field.size() && is_column(trim(piece), "compute_cap")) return true;
  return false;
}

// What a spreadsheet writes for a row without values: commas.
bool is_empty(const CsvRow& row) {
  return std::all_of(row.fields.begin(), row.fields.end(),
                     [](const std::string& field) { return field.empty(); });
}

// What nvidia-smi prints in the place of a table.
bool says_failure(std::string_view field) {
  for (const char* start : {"NVIDIA-SMI has failed", "No devices were found", "Failed to initialize NVML",
                            "Unable to determine the device handle"})
    if (starts_with(field, start)) return true;
  return false;
}

bool means_capability(std::string_view field) {
  const std::string_view start = field.substr(0, 40);
  const std::string letters = bare_letters(start);
  return std::any_of(std::begin(kCapabilityAliases), std::end(kCapabilityAliases),
                     [&](const char* alias) { return letters == alias; }) ||
         did_you_mean(to_lower(start), {"compute_cap", "compute_capability", "computecap"}).has_value();
}

bool names_gpu(std::string_view field) {  // nvidia-smi's query knows both
  return is_column(field, "name") || is_column(field, "gpu_name");
}

// The header of a table whose compute_cap nobody asked for, or a driver up to R470 does not tell.
bool is_header_without_capability(const CsvRow& row) {
  return std::any_of(row.fields.begin(), row.fields.end(), names_gpu) &&
         std::none_of(row.fields.begin(), row.fields.end(), means_capability);
}

// Would this row be a header, had it the column compute_cap?
bool names_columns_only(const CsvRow& row) {
  for (const auto& field : row.fields)
    if (!is_known_column(field)) return false;
  return true;
}

class FleetParser {
 public:
  // `may_lack_capability`: so may a table.
  FleetParser(const std::string& path, DeviceList& devices, bool may_lack_capability = false)
      : path_(path), before_(devices.size()), may_lack_(may_lack_capability), devices_(devices) {}

  // How many devices there were.
  Result<std::size_t> parse(std::string_view text) {
    CsvReader reader(text, path_);
    CsvRow row;
    for (;;) {
      ARCHGUARD_TRY(more, reader.next(row));
      if (!more) return devices_.size() - before_;
      if (is_empty(row)) continue;
      if (is_fleet_header(row) || is_lacking_header(row)) {
        ARCHGUARD_CHECK(take_header(row));
      } else {
        ARCHGUARD_CHECK(take_device(row));
      }
    }
  }

 private:
  Error error(std::size_t line, std::string what, std::string fix) const {
    return {path_ + ":" + std::to_string(line), std::move(what), std::move(fix)};
  }

  bool is_lacking_header(const CsvRow& row) const {
    return may_lack_ && (header_.columns.empty() || names_columns_only(row)) &&
           is_header_without_capability(row);
  }

  Status take_header(const CsvRow& row) {
    header_ = {row.line, {}};
    std::map<std::string, std::string> seen;
    for (const auto& written : row.fields) {
      const std::string field = may_lack_ && names_gpu(written) ? "name" : written;
      const std::string column = to_lower(field);
      if (column.empty() && row.fields.size() > 1)
        return error(row.line, "the header has a column without a name", "remove the stray comma");
      const bool known = is_known_column(field);
      if (const auto meant = known ? std::nullopt : meant_column(row, field))
        return misspelt_column(row.line, field, *meant);
      std::string& first = seen[known ? column : field];
      if (!first.empty())
        return error(row.line, "the header names the column '" + excerpt(column, kFleetMostShown) + "' twice",
                     "remove one of them");
      first = field;
      if (const auto meant = known ? std::nullopt : column_of_driver(field))
        header_.drivers.emplace_back(header_.columns.size(), *meant);
      header_.columns.push_back(known ? column : field);
    }
    return Done{};
  }

  // A column that means the driver and is not read, beside one that is and tells nothing in this line.
  Status check_driver_told(const CsvRow& row, const Device& device) const {
    if (device.driver_cuda || !device.driver_version.empty()) return Done{};
    for (const auto& [i, meant] : header_.drivers) {
      if (row.fields[i].empty() || says_unknown(row.fields[i])) continue;
      return error(row.line,
                   "the driver stands in the column '" + excerpt(header_.columns[i], kFleetMostShown) +
                       "' alone, which is not read",
                   "write it in a column " + meant);
    }
    return Done{};
  }

  Error misspelt_column(std::size_t line, const std::string& field, const std::string& column) const {
    return error(line,
                 "the header has no column " + column + ", but '" + excerpt(field, kFleetMostShown) + "'",
                 "rename it to " + column);
  }

  // Names alone are looked up by archguard, which knows them.
  std::string fix_of_columns(const CsvRow& row) const {
    const bool any_name = std::any_of(row.fields.begin(), row.fields.end(),
                                      [](const std::string& field) { return is_column(field, "name"); });
    if (!any_name || !header_.columns.empty()) return kHeaderFix;
    const std::string file = path_ == text_file_name("-") ? "-" : path_;
    return "add the column compute_cap, or look the names up: " + import_line(file);
  }

  Error no_header(const CsvRow& row) const {
    if (starts_with(row.fields[0], kUnknownColumnText))
      return error(row.line, "the driver that wrote this is too old to tell compute_cap",
                   "write the file by hand: name, compute_cap, driver_version");
    if (says_failure(row.fields[0]))
      return error(
          row.line,
          "nvidia-smi failed where this was written: '" + excerpt(row.fields[0], kFleetMostShown) + "'",
          "write it on a machine whose driver works: " + std::string(kNvidiaSmi));
    for (const auto& field : row.fields) {
      if (means_capability(field)) return misspelt_column(row.line, field, "compute_cap");
      if (is_header_without_commas(field))
        return error(row.line, "the columns of the header are not separated by commas",
                     "separate with commas, here and in each line");
    }
    if (names_columns_only(row))
      return error(row.line, "the header has no column compute_cap", fix_of_columns(row));
    return error(row.line,
                 "expected a header line that names the column compute_cap, found '" +
                     excerpt(row.fields[0], kFleetMostShown) + "'",
                 std::string(kHeaderFix) + "; this writes one: " + kNvidiaSmi);
  }

  Status take_device(const CsvRow& row) {
    if (header_.columns.empty() || names_columns_only(row) || says_failure(row.fields[0]))
      return no_header(row);
    if (row.fields.size() != header_.columns.size())
      return error(row.line,
                   "the line has " + count_of(row.fields.size(), "field") + ", the header in line " +
                       std::to_string(header_.line) + " names " + std::to_string(header_.columns.size()),
                   row.fields.size() > header_.columns.size()
                       ? "put a field that holds a comma in double quotes"
                   : row.fields.back().find_first_of(";\t|") != std::string::npos ? "separate with commas"
                                                                                  : "");
    if (devices_.size() - before_ == kMostFleetDevices)
      return error(row.line, "more than " + std::to_string(kMostFleetDevices) + " devices",
                   "list equal devices once, with a count");
    Device device;
    device.origin = path_;
    const auto is_capability = [&](std::size_t i) { return header_.columns[i] == "compute_cap"; };
    for (const bool first : {true, false})  // what a driver's number tells depends on the device
      for (std::size_t i = 0; i < row.fields.size(); ++i)
        if (is_capability(i) == first)
          ARCHGUARD_CHECK(take_field(header_.columns[i], row.fields[i], row.line, device));
    // nvidia-smi's column `count` is the number of GPUs in the system; a line with an identity is one of
    // them.
    if (!device.uuid.empty() || !device.pci_bus_id.empty()) device.count = 1;
    ARCHGUARD_CHECK(check_driver_told(row, device));
    if (!device.driver_cuda && !device.driver_version.empty()) {
      device.driver_cuda = driver_cuda_of(device.driver_version, device.capability);
      device.cuda_by_branch = device.driver_cuda.has_value();
      device.cuda_at_least = device.cuda_by_branch && is_driver_beyond_table(device.driver_version);
      if (device.driver_cuda) device.source["driver_cuda"] = "fleet";
    }
    if (has_cuda_of_compat(device)) return cuda_of_compat(row.line, device);
    devices_.push_back(device, row.line);
    return Done{};
  }

  Error cuda_of_compat(std::size_t line, const Device& device) const {
    const std::string own = to_string(*driver_cuda_of(device.driver_version, device.capability));
    return error(
        line,
        "driver_cuda is " + to_string(*device.driver_cuda) + ", and driver " + device.driver_version +
            " comes with CUDA " + own + ": more is there with cuda-compat alone, which '" +
            excerpt(printable(device.name), kFleetMostShown) + "' does not run (error 804 in that container)",
        "write " + own +
            ", and take cuda-compat out of the container; or write the driver's version "
            "as it is now");
  }

  Error bad_value(std::size_t line, const std::string& column, const std::string& value,
                  const std::string& expected, std::string fix = "") const {
    const std::string found = value.empty() ? "empty" : "'" + excerpt(value, kFleetMostShown) + "'";
    return error(line, column + " is " + found + ", expected " + expected, std::move(fix));
  }

  Status take_field(const std::string& column, const std::string& value, std::size_t line, Device& device) {
    if (column == "compute_cap") {
      if (says_unknown(value)) return Done{};
      device.capability = parse_capability(value);
      if (!device.capability) {
        const auto meant = meant_capability(value);
        return bad_value(line, column, value, "X.Y such as 8.6, or [N/A]",
                         meant           ? "write " + to_string(*meant)
                         : value.empty() ? "write it, or [N/A]"
                                         : "");
      }
      device.source["compute_capability"] = "fleet";
      return Done{};
    }
    if (value.empty()) return Done{};
    if (column == "excluded") {  // before what nvidia-smi writes for unknown: no reason either
      if (!is_reason(value))
        return bad_value(line, column, value, "the reason why the device is left out, or nothing",
                         fix_for_reason(value));
      device.excluded = value;
      device.source[column] = "fleet";
      return Done{};
    }
    if (says_unknown(value)) return Done{};
    if (column == "driver_cuda") {
      device.driver_cuda = parse_driver_cuda(value);
      if (!device.driver_cuda) {
        return bad_value(line, column, value, "X.Y such as 12.4", driver_fix(value, device.capability, ""));
      }
    } else if (column == "driver_version") {
      if (!is_driver_version(value))
        return bad_value(line, column, value, "a driver's version such as 580.95.05",
                         driver_version_fix(value));
      device.driver_version = value;
    } else if (column == "count") {
      const auto count = parse_number(value, kMostEqualDevices);
      if (!count || *count == 0)
        return bad_value(line, column, value, "a number from 1 to " + std::to_string(kMostEqualDevices),
                         count ? "leave the line out, or give its column excluded the reason"
                               : "write how many there are");
      device.count = static_cast<int>(*count);
    } else if (column == "mig.mode.current") {
      device.mig = to_lower(value) == "enabled";
    } else if (column == "visible") {
      const std::string lower = to_lower(value);
      if (lower != "true" && lower != "false") return bad_value(line, column, value, "true or false");
      device.visible = lower == "true";
    } else if (column == "name") {
      device.name = value;
    } else if (column == "uuid") {
      device.uuid = value;
    } else if (column == "pci.bus_id") {
      device.pci_bus_id = value;
    } else if (column == "host") {
      device.host = value;
    } else {
      device.extra[column] = value;
      return Done{};
    }
    device.source[column == "pci.bus_id"         ? "pci_bus_id"
                  : column == "mig.mode.current" ? "mig"
                                                 : column] = "fleet";
    return Done{};
  }

  const std::string& path_;
  FleetHeader header_;
  std::size_t before_;
  bool may_lack_;
  DeviceList& devices_;
};

std::string fleet_value(const Device& device, const std::string& column) {
  if (column == "name") return device.name;
  if (column == "compute_cap") return device.capability ? to_string(*device.capability) : "[N/A]";
  if (column == "driver_version") return device.driver_version;
  if (column == "driver_cuda")  // what nobody stated is found again when the file is read
    return device.driver_cuda && !device.cuda_by_branch ? to_string(*device.driver_cuda) : "";
  if (column == "uuid") return device.uuid;
  if (column == "pci.bus_id") return device.pci_bus_id;
  if (column == "count") return std::to_string(device.count);
  if (column == "host") return device.host.value_or("");
  if (column == "mig.mode.current") return device.mig ? "Enabled" : "Disabled";
  if (column == "visible") return device.visible ? "true" : "false";
  if (column == "excluded") return device.excluded;
  const auto found = device.extra.find(column);
  return found == device.extra.end() ? std::string() : found->second;
}

std::vector<std::string> columns_to_write(const DeviceList& devices) {
  std::vector<std::string> columns = {"name", "compute_cap", "driver_version", "driver_cuda",
                                      "uuid", "pci.bus_id",  "count",          "host"};
  if (devices.any_kind([](const Device& kind) { return kind.mig; })) columns.emplace_back("mig.mode.current");
  if (devices.any_kind([](const Device& kind) { return !kind.visible; })) columns.emplace_back("visible");
  if (devices.any_kind(is_excluded)) columns.emplace_back("excluded");
  std::vector<std::string> unknown = devices.extra_columns();
  std::sort(unknown.begin(), unknown.end());
  columns.insert(columns.end(), unknown.begin(), unknown.end());
  return columns;
}

bool is_told(const DeviceList& devices, const std::string& column) {
  if (column == "name" || column == "compute_cap" || column == "count") return true;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (!fleet_value(devices[i], column).empty()) return true;
  return false;
}

}  // namespace

Result<DeviceList> parse_fleet(std::string_view text, const std::string& path) {
  DeviceList devices;
  ARCHGUARD_CHECK(FleetParser(path, devices).parse(text));
  return devices;
}

Result<DeviceList> parse_gpu_table(std::string_view text, const std::string& path) {
  DeviceList devices;
  ARCHGUARD_CHECK(FleetParser(path, devices, true).parse(text));
  return devices;
}

Result<std::size_t> read_fleet(const std::string& path, DeviceList& devices, const std::string& option) {
  auto text = read_text_file(path);
  if (!text) {
    Error error = std::move(text).error();
    if (is_missing(error) && !file_meant_by(path))
      error.fix += ", or write one where the GPUs are: arch_probe --format csv > " + quoted_for_shell(path);
    if (!option.empty() && path != "-") error.where = option + " " + error.where;
    return error;
  }
  if (auto refused = refuse_other_text(*text, path)) return std::move(*refused);
  return FleetParser(text_file_name(path), devices).parse(*text);
}

Error no_device_in_fleet(const std::string& path) {
  return {text_file_name(path), "names no device",
          "add a line for each device, such as: NVIDIA A100, 8.0 (below the header: name, compute_cap)"};
}

Error all_excluded() {
  return {{},
          "every device is left out by the column excluded: nothing is asked for",
          "leave that field empty in the lines of the devices to build for"};
}

void FleetText::write_to(TextSink& sink) const {
  auto columns = columns_to_write(devices_);
  if (columns_ == FleetColumns::told)
    columns.erase(std::remove_if(columns.begin(), columns.end(),
                                 [&](const std::string& column) { return !is_told(devices_, column); }),
                  columns.end());
  std::vector<std::string> fields;
  for (const auto& column : columns) fields.push_back(csv_field(column));
  sink.write(join(fields, ", ") + "\n");
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Device device = devices_[i];
    fields.clear();
    for (const auto& column : columns) fields.push_back(csv_field(fleet_value(device, column)));
    sink.write(join(fields, ", ") + "\n");
  }
}

Result<Device> parse_device_option(std::string_view text) {
  const auto at = text.find('@');
  const std::string option = "--device " + excerpt(text, kFleetMostShown);
  Device device;
  device.origin = option;
  device.capability = parse_capability(text.substr(0, at));
  if (!device.capability)
    return Error{option,
                 "'" + excerpt(text.substr(0, at), kFleetMostShown) +
                     "' is no compute capability, expected X.Y such as 8.6",
                 text.size() <= kFleetMostShown ? device_fix(text) : ""};
  device.source["compute_capability"] = "option";
  if (at == std::string_view::npos) return device;
  const std::string_view driver = text.substr(at + 1);
  device.driver_cuda = parse_driver_cuda(driver);
  if (!device.driver_cuda) {
    const std::string capability = to_string(*device.capability);
    std::string fix = driver.empty() ? "write " + capability + ", or " + capability + "@12.4"
                                     : driver_fix(driver, device.capability, capability + "@");
    return Error{option,
                 "'" + excerpt(driver, kFleetMostShown) +
                     "' is no CUDA version of a driver, expected X.Y such as 12.4",
                 fix.empty() ? device_fix(text) : std::move(fix)};
  }
  device.source["driver_cuda"] = "option";
  return device;
}

}  // namespace archguard
