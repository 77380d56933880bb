#include "base/printable.h"
#include "base/write_file.h"
#include "commands.h"
#include "device/fleet.h"
#include "device/system.h"

namespace archguard {
namespace {

// The devices of the files, as if a machine had them all.
Result<ProbeReport> read_fleets(const std::vector<std::string>& paths) {
  ProbeReport report;
  for (const auto& path : paths) {
    ARCHGUARD_TRY(added, read_fleet(path, report.devices));
    if (added != 0) continue;
    const Error error = no_device_in_fleet(path);
    report.probe.diagnostics.push_back({"fleet", std::nullopt, "", error.text(), error.fix});
  }
  report.probe.status = report.devices.empty() ? ProbeStatus::none : ProbeStatus::ok;
  return report;
}

// So that the outputs of several machines can be told apart.
DeviceList with_host(std::vector<Device> devices) {
  for (Device& device : devices) device.host = environment("SLURMD_NODENAME").value_or(host_name());
  return devices;
}

}  // namespace

int exit_code_of(ProbeStatus status) {
  return status == ProbeStatus::ok ? 0 : status == ProbeStatus::none ? 3 : 4;
}

std::string error_lines(const char* severity, const Error& error) {
  std::string text = std::string("arch_probe: ") + severity + ": " + printable(error.text()) + "\n";
  if (!error.fix.empty()) text += "  fix: " + printable(error.fix) + "\n";
  return text;
}

int end_with(const Error& error, TextSink& err) {
  err.write(error_lines("error", error));
  return 2;
}

int run_probe_command(const ProbeOptions& options, bool colour, TextSink& out, TextSink& err) {
  ProbeReport report;
  if (options.fleets.empty()) {
    report.probe = probe_this_machine(options.timeout, options.cache);
    report.devices = report.probe.devices;
  } else {
    auto fleets = read_fleets(options.fleets);
    if (!fleets) return end_with(fleets.error(), err);
    report = std::move(*fleets);
  }
  const int exit_code = exit_code_of(report.probe.status);
  if (!options.write_devices.empty())
    if (const auto written = write_file(options.write_devices, FleetText(report.devices)); !written)
      return end_with(written.error(), err);

  switch (options.format) {
    case ProbeFormat::table:
      write_devices_table(report, colour, out);
      break;
    case ProbeFormat::json:
      write_devices_json(report, out);
      break;
    case ProbeFormat::csv:
      for (const auto& each : report.probe.diagnostics)
        err.write(error_lines(exit_code == 0 ? "warning" : "error", {each.stage, each.cause, each.fix}));
      err.flush();
      if (options.fleets.empty()) report.devices = with_host(report.probe.devices);
      FleetText(report.devices).write_to(out);
      break;
  }
  return exit_code;
}

}  // namespace archguard
