#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
  DeviceList(std::initializer_list<Device> devices) : DeviceList(std::vector<Device>(devices)) {}
  DeviceList(const std::vector<Device>& devices);

  // With a line, `origin` names the file that it is of.
  void push_back(const Device& device, std::size_t line = 0);
  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  Device operator[](std::size_t index) const;

  // What rules read, in constant time: the device without name, driver_version, uuid, pci_bus_id, count,
  // host, extra and the line in `origin`.
  const Device& kind(std::size_t index) const { return kinds_[rows_[index].kind].device; }
  // Devices of one number are of one kind; the numbers are less than number_of_kinds().
  std::size_t kind_number(std::size_t index) const { return rows_[index].kind; }
  std::size_t number_of_kinds() const { return kinds_.size(); }
  int count(std::size_t index) const { return rows_[index].count; }

  // The columns that `extra` has in some device.
  const std::vector<std::string>& extra_columns() const { return columns_; }

  // Does it hold of the kind of any device?
  bool any_kind(bool holds(const Device&)) const;
  // Removes the devices for which it does not hold.
  void keep_if(const std::function<bool(std::size_t)>& holds);

 private:
  struct Kind {
    Device device;
    std::size_t devices = 0;  // how many
  };
  struct Row {
    std::uint32_t kind = 0, line = 0;
    std::int32_t count = 1;
    std::uint32_t chunk = 0, begin = 0;  // where its texts begin
  };

  std::uint32_t kind_of(const Device& device);
  std::uint32_t column_of(const std::string& name);
  std::string packed_texts(const Device& device);

  std::vector<Row> rows_;
  std::vector<Kind> kinds_;
  std::map<std::string, std::uint32_t> kind_numbers_;
  std::vector<std::string> columns_;
  std::map<std::string, std::uint32_t> column_numbers_;
  std::vector<std::string> chunks_;  // the texts of the devices, of which none is in two chunks
};

}  // namespace archguard
