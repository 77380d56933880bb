#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text_source.h"
#include "device/device_list.h"

namespace archguard {

// What the column `count` of a line may say.
constexpr int kMostEqualDevices = 1'000'000;

// Reads a fleet file: CSV as nvidia-smi --query-gpu=… --format=csv prints it. See docs/reference/fleet.md for
// the columns. `path` names it in messages and in Device::origin ("fleet.csv:4"). The first bad line is the
// error, with its number. driver_cuda wins over driver_version; a device whose compute_cap is "[N/A]" has no
// capability.
Result<DeviceList> parse_fleet(std::string_view text, const std::string& path);
// As parse_fleet, and reads a table that lacks compute_cap, too: one with the column name or gpu_name.
Result<DeviceList> parse_gpu_table(std::string_view text, const std::string& path);
// Adds its devices to those that are there, and returns how many; see base/text_file.h. A file that cannot be
// read is named with the option that names it.
Result<std::size_t> read_fleet(const std::string& path, DeviceList& devices,
                               const std::string& option = "--fleet");
// What a fleet that is empty is refused with, where devices are needed.
Error no_device_in_fleet(const std::string& path);

// What a fleet is refused with whose column `excluded` leaves nothing.
Error all_excluded();

// Each column that is known, or those alone that tell something of some device.
enum class FleetColumns { known, told };

// The file that parse_fleet reads back to the same devices, header line first.
class FleetText : public TextSource {
 public:
  explicit FleetText(const DeviceList& devices, FleetColumns columns = FleetColumns::known)
      : devices_(devices), columns_(columns) {}
  void write_to(TextSink& sink) const override;

 private:
  const DeviceList& devices_;
  FleetColumns columns_;
};

// "8.6" or "8.6@12.4", the value of --device.
Result<Device> parse_device_option(std::string_view text);

}  // namespace archguard
