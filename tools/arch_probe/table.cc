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

std::string table_line(const TableRow& row, const std::size_t (&widths)[kColumns]) {
  std::string line;
  for (std::size_t column = 0; column < kColumns; ++column)
    if (widths[column] != 0)
      line += row[column] + std::string(widths[column] - table_width(row[column]) + 2, ' ');
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// The rows are made twice, which takes less than to keep them.
void write_table(const DeviceList& devices, bool colour, TextSink& sink) {
  const TableRow head = {"name", "compute capability", "driver", "CUDA", "PCI bus id", "UUID", "host",
                         "note"};
  std::size_t widths[kColumns] = {};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const TableRow row = table_row(devices[i]);
    for (std::size_t column = 0; column < kColumns; ++column)
      if (!row[column].empty())
        widths[column] = std::max({widths[column], table_width(head[column]), table_width(row[column])});
  }
  sink.write(paint(table_line(head, widths), kBold, colour) + "\n");
  for (std::size_t i = 0; i < devices.size(); ++i)
    sink.write(table_line(table_row(devices[i]), widths) + "\n");
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

void write_devices_table(const ProbeReport& report, bool colour, TextSink& sink) {
  const ProbeResult& probe = report.probe;
  if (probe.status != ProbeStatus::ok)
    sink.write(
        paint(probe.status == ProbeStatus::none ? "no usable GPU" : "the driver fails", kBold, colour) +
        "\n");
  if (!report.devices.empty()) write_table(report.devices, colour, sink);
  std::string text;
  if (probe.status == ProbeStatus::ok && !report.devices.empty() && !probe.diagnostics.empty()) text = "\n";
  for (const auto& each : probe.diagnostics) {
    std::string where = each.stage;
    if (each.code) where += " " + std::to_string(*each.code);
    if (!each.name.empty()) where += " " + each.name;
    text += paint(where, kYellow, colour) + ": " + printable(each.cause) + "\n";
    if (!each.fix.empty()) text += "  fix: " + printable(each.fix) + "\n";
  }
  if (probe.status != ProbeStatus::ok) text += driver_line(probe);
  sink.write(text);
}

}  // namespace archguard
