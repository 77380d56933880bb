#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text_source.h"
#include "device/device_list.h"

namespace archguard {

// Reads a fleet file: CSV as nvidia-smi --query-gpu=… --format=csv prints it. See docs/reference/fleet.md for
// the columns. `path` names it in messages and in Device::origin ("fleet.csv:4"). The first bad line is the
// error, with its number. driver_cuda wins over driver_version; a device whose compute_cap is "[N/A]" has no
// capability.
Result<DeviceList> parse_fleet(std::string_view text, const std::string& path);
// Adds its devices to those that are there, and returns how many; see base/text_file.h.
Result<std::size_t> read_fleet(const std::string& path, DeviceList& devices);
// What a fleet that is empty is refused with, where devices are needed.
Error no_device_in_fleet(const std::string& path);

// What a fleet is refused with whose column `excluded` leaves nothing.
Error all_excluded();

// The file that parse_fleet reads back to the same devices, header line first.
class FleetText : public TextSource {
 public:
  explicit FleetText(const DeviceList& devices) : devices_(devices) {}
  void write_to(TextSink& sink) const override;

 private:
  const DeviceList& devices_;
};

// "8.6" or "8.6@12.4", the value of --device.
Result<Device> parse_device_option(std::string_view text);

}  // namespace archguard
