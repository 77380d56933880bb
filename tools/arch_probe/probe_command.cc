#include "base/printable.h"
#include "base/write_file.h"
#include "commands.h"
#include "device/fleet.h"
#include "device/platform.h"

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

Answer usage_answer(const Error& error) {
  return {2, {}, text_source(error_lines("error", error))};
}

Answer run_probe_command(const ProbeOptions& options, bool colour) {
  ProbeReport report;
  if (options.fleets.empty()) {
    report.probe = probe_this_machine(options.timeout, options.cache);
    report.devices = report.probe.devices;
  } else {
    auto fleets = read_fleets(options.fleets);
    if (!fleets) return usage_answer(fleets.error());
    report = std::move(*fleets);
  }
  Answer answer;
  answer.exit_code = exit_code_of(report.probe.status);
  if (!options.write_devices.empty())
    if (const auto written = write_file(options.write_devices, write_fleet(report.devices)); !written)
      return usage_answer(written.error());

  if (options.format == ProbeFormat::csv) {
    if (options.fleets.empty()) report.devices = with_host(report.probe.devices);
    const char* severity = answer.exit_code == 0 ? "warning" : "error";
    std::string messages;
    for (const auto& each : report.probe.diagnostics)
      messages += error_lines(severity, {each.stage, each.cause, each.fix});
    answer.err = text_source(messages);
  }
  answer.out = [report = std::move(report), format = options.format, colour](const TextSink& sink) {
    switch (format) {
      case ProbeFormat::table:
        return devices_table(report, colour)(sink);
      case ProbeFormat::json:
        return devices_json(report)(sink);
      case ProbeFormat::csv:
        return write_fleet(report.devices)(sink);
    }
  };
  return answer;
}

}  // namespace archguard
