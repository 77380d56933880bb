#include "device/device_list.h"

#include <algorithm>

namespace archguard {
namespace {

// So large that few of them are needed, and so small that what the last one leaves empty is nothing.
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

// Seven bits a byte, the lowest first; all but the last have the eighth.
void put_packed_number(std::string& packed, std::size_t number) {
  for (; number >= 0x80; number >>= 7U) packed += static_cast<char>(0x80U | (number & 0x7fU));
  packed += static_cast<char>(number);
}

void put_text(std::string& packed, const std::string& text) {
  put_packed_number(packed, text.size());
  packed += text;
}

std::size_t take_packed_number(std::string_view& packed) {
  std::size_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(packed.front());
    packed.remove_prefix(1);
    number |= static_cast<std::size_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) return number;
  }
}

std::string take_text(std::string_view& packed) {
  const std::size_t size = take_packed_number(packed);
  std::string text(packed.substr(0, size));
  packed.remove_prefix(size);
  return text;
}

// Equal for devices of one kind, and for no others.
std::string key_of_kind(const Device& device) {
  std::string key = device.capability ? to_string(*device.capability) : "";
  key += device.driver_cuda ? "@" + to_string(*device.driver_cuda) : "";
  for (const bool flag : {device.cuda_by_branch, device.cuda_at_least, device.visible, device.mig})
    key += flag ? '+' : '-';
  put_text(key, device.excluded);
  put_text(key, device.origin);
  for (const auto& [field, source] : device.source) {
    put_text(key, field);
    put_text(key, source);
  }
  return key;
}

// From 0, in the order in which the names came.
std::uint32_t number_of(std::map<std::string, std::uint32_t>& numbers, const std::string& name) {
  std::uint32_t& number = numbers[name];
  if (number == 0) number = static_cast<std::uint32_t>(numbers.size());  // held from 1: what is new has 0
  return number - 1;
}

}  // namespace

DeviceList::DeviceList(std::initializer_list<Device> devices) {
  for (const Device& device : devices) push_back(device);
}

DeviceList::DeviceList(const std::vector<Device>& devices) {
  for (const Device& device : devices) push_back(device);
}

std::uint32_t DeviceList::kind_of(const Device& device) {
  const std::uint32_t number = number_of(kind_numbers_, key_of_kind(device));
  if (number == kinds_.size()) {
    Device kind = device;
    kind.count = 1;
    kind.host.reset();
    kind.extra.clear();
    for (std::string* text : {&kind.name, &kind.driver_version, &kind.uuid, &kind.pci_bus_id})
      *text = std::string();
    kinds_.push_back(std::move(kind));
    devices_of_kind_.push_back(0);
  }
  return number;
}

std::uint32_t DeviceList::column_of(const std::string& name) {
  const std::uint32_t number = number_of(column_numbers_, name);
  if (number == columns_.size()) columns_.push_back(name);
  return number;
}

std::string DeviceList::packed_texts(const Device& device) {
  std::string packed;
  put_text(packed, device.name);
  put_text(packed, device.driver_version);
  put_text(packed, device.uuid);
  put_text(packed, device.pci_bus_id);
  put_packed_number(packed, device.host ? 1 : 0);
  if (device.host) put_text(packed, *device.host);
  put_packed_number(packed, device.extra.size());
  for (const auto& [column, value] : device.extra) {
    put_packed_number(packed, column_of(column));
    put_text(packed, value);
  }
  return packed;
}

void DeviceList::push_back(const Device& device, std::size_t line) {
  const std::string packed = packed_texts(device);
  if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < packed.size()) {
    chunks_.emplace_back();
    chunks_.back().reserve(std::max(packed.size(), kChunkBytes));
  }
  Row row;
  row.kind = kind_of(device);
  row.line = static_cast<std::uint32_t>(line);
  row.count = device.count;
  row.chunk = static_cast<std::uint32_t>(chunks_.size() - 1);
  row.begin = static_cast<std::uint32_t>(chunks_.back().size());
  chunks_.back() += packed;
  rows_.push_back(row);
  ++devices_of_kind_[row.kind];
}

Device DeviceList::operator[](std::size_t index) const {
  const Row& row = rows_[index];
  std::string_view packed = std::string_view(chunks_[row.chunk]).substr(row.begin);
  Device device = kinds_[row.kind];
  device.count = row.count;
  device.name = take_text(packed);
  device.driver_version = take_text(packed);
  device.uuid = take_text(packed);
  device.pci_bus_id = take_text(packed);
  if (take_packed_number(packed) != 0) device.host = take_text(packed);
  for (std::size_t left = take_packed_number(packed); left != 0; --left) {
    const std::string& column = columns_[take_packed_number(packed)];
    device.extra[column] = take_text(packed);
  }
  if (row.line != 0) device.origin += ":" + std::to_string(row.line);
  return device;
}

bool DeviceList::any_kind(bool holds(const Device&)) const {
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    if (devices_of_kind_[i] != 0 && holds(kinds_[i])) return true;
  return false;
}

void DeviceList::remove(const std::vector<std::size_t>& which) {
  std::size_t kept = 0, removed = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (removed == which.size() || which[removed] != i) {
      rows_[kept++] = rows_[i];
      continue;
    }
    ++removed;
    --devices_of_kind_[rows_[i].kind];
  }
  rows_.resize(kept);
}

}  // namespace archguard
