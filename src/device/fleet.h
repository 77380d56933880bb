#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"

namespace archguard {

// Reads a fleet file: CSV as nvidia-smi --query-gpu=… --format=csv prints it. See docs/reference/fleet.md for
// the columns. `path` names it in messages and in Device::origin ("fleet.csv:4"). The first bad line is the
// error, with its number. driver_cuda wins over driver_version; a device whose compute_cap is "[N/A]" has no
// capability.
Result<std::vector<Device>> parse_fleet(std::string_view text, const std::string& path);
Result<std::vector<Device>> read_fleet(const std::string& path);  // see base/text_file.h
// What a fleet that is empty is refused with, where devices are needed.
Error no_device_in_fleet(const std::string& path);

// What a fleet is refused with whose column `excluded` leaves nothing.
Error all_excluded();

// The file that parse_fleet reads back to the same devices, header line first.
std::string write_fleet(const std::vector<Device>& devices);

// "8.6" or "8.6@12.4", the value of --device.
Result<Device> parse_device_option(std::string_view text);

}  // namespace archguard
