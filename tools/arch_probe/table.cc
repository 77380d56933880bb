#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"

namespace archguard {
namespace {

constexpr char kBold[] = "\033[1m";
constexpr char kYellow[] = "\033[33m";
constexpr char kReset[] = "\033[0m";
constexpr std::size_t kColumns = 8;

using TableRow = std::vector<std::string>;

std::string paint(const std::string& text, const char* colour, bool colours) {
  return colours ? colour + text + kReset : text;
}

// Columns on a terminal: UTF-8 letters, not bytes.
std::size_t table_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++width;
  return width;
}

TableRow table_row(const Device& device) {
  std::vector<std::string> notes;
  if (device.count > 1) notes.push_back(std::to_string(device.count) + " of them");
  if (device.mig) notes.emplace_back("MIG");
  if (!device.visible) notes.emplace_back("not usable here");
  if (!device.excluded.empty()) notes.push_back("left out: " + printable(device.excluded));
  return {device.name.empty() ? "?" : printable(device.name),
          device.capability ? to_string(*device.capability) : "unknown",
          printable(device.driver_version),
          device.driver_cuda ? to_string(*device.driver_cuda) : "",
          printable(device.pci_bus_id),
          printable(device.uuid),
          printable(device.host.value_or("")),
          join(notes, ", ")};
}

std::string table_of(const std::vector<Device>& devices, bool colour) {
  std::vector<TableRow> rows = {
      {"name", "compute capability", "driver", "CUDA", "PCI bus id", "UUID", "host", "note"}};
  for (const auto& device : devices) rows.push_back(table_row(device));
  std::size_t widths[kColumns] = {};
  for (std::size_t column = 0; column < kColumns; ++column) {
    bool used = false;
    for (const auto& row : rows) used = used || (&row != &rows.front() && !row[column].empty());
    for (const auto& row : rows)
      if (used) widths[column] = std::max(widths[column], table_width(row[column]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < kColumns; ++column)
      if (widths[column] != 0)
        line += row[column] + std::string(widths[column] - table_width(row[column]) + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += (&row == &rows.front() ? paint(line, kBold, colour) : line) + "\n";
  }
  return text;
}

// Which driver it was that gave no device: the two parts may be of different versions.
std::string driver_line(const ProbeResult& probe) {
  std::string line;
  if (!probe.library.empty()) line = "driver library: " + printable(probe.library);
  if (!probe.library_version.empty()) line += " (" + probe.library_version + ")";
  if (!probe.driver_version.empty())
    line += (line.empty() ? "kernel driver: " : "; kernel driver: ") + printable(probe.driver_version);
  return line.empty() ? line : line + "\n";
}

}  // namespace

std::string devices_table(const ProbeResult& probe, bool colour) {
  std::string text;
  if (probe.status != ProbeStatus::ok)
    text +=
        paint(probe.status == ProbeStatus::none ? "no usable GPU" : "the driver fails", kBold, colour) + "\n";
  if (!probe.devices.empty()) text += table_of(probe.devices, colour);
  for (const auto& each : probe.diagnostics) {
    if (!text.empty() && &each == &probe.diagnostics.front() && probe.status == ProbeStatus::ok) text += "\n";
    std::string where = each.stage;
    if (each.code) where += " " + std::to_string(*each.code);
    if (!each.name.empty()) where += " " + each.name;
    text += paint(where, kYellow, colour) + ": " + printable(each.cause) + "\n";
    if (!each.fix.empty()) text += "  fix: " + printable(each.fix) + "\n";
  }
  if (probe.status != ProbeStatus::ok) text += driver_line(probe);
  return text;
}

}  // namespace archguard
