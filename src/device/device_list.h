#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"

namespace archguard {

// Devices in the order in which they were named. A fleet may list a million, of which few differ in what a
// rule reads: each such kind is held once, and of a device only what tells it from others of its kind, in as
// many bytes as the file spends on it. A Device is put together where one is asked for.
class DeviceList {
 public:
  DeviceList() = default;
  DeviceList(std::initializer_list<Device> devices);
  DeviceList(const std::vector<Device>& devices);

  // With a line, `origin` names the file that it is of.
  void push_back(const Device& device, std::size_t line = 0);
  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  Device operator[](std::size_t index) const;

  // What rules read: devices without name, driver_version, uuid, pci_bus_id, count, host, extra and the line
  // in `origin`. A kind stays when its last device is removed.
  const std::vector<Device>& kinds() const { return kinds_; }
  std::size_t devices_of_kind(std::size_t number) const { return devices_of_kind_[number]; }  // how many
  std::size_t kind_number(std::size_t index) const { return rows_[index].kind; }  // index into kinds()
  const Device& kind(std::size_t index) const { return kinds_[rows_[index].kind]; }
  int count(std::size_t index) const { return rows_[index].count; }

  // The columns that `extra` has in some device.
  const std::vector<std::string>& extra_columns() const { return columns_; }

  // Does it hold of the kind of any device?
  bool any_kind(bool holds(const Device&)) const;
  // Removes the devices of these indices, which ascend.
  void remove(const std::vector<std::size_t>& which);

 private:
  struct Row {
    std::uint32_t kind = 0, line = 0;
    std::int32_t count = 1;
    std::uint32_t chunk = 0, begin = 0;  // where its texts begin
  };

  std::uint32_t kind_of(const Device& device);
  std::uint32_t column_of(const std::string& name);
  std::string packed_texts(const Device& device);

  std::vector<Row> rows_;
  std::vector<Device> kinds_;
  std::vector<std::size_t> devices_of_kind_;
  std::map<std::string, std::uint32_t> kind_numbers_;
  std::vector<std::string> columns_;
  std::map<std::string, std::uint32_t> column_numbers_;
  std::vector<std::string> chunks_;  // the texts of the devices, of which none is in two chunks
};

}  // namespace archguard
