#include "base/printable.h"
#include "base/write_file.h"
#include "commands.h"
#include "device/fleet.h"
#include "device/platform.h"

namespace archguard {
namespace {

// The devices of the files, as if a machine had them all.
Result<ProbeResult> read_fleets(const std::vector<std::string>& paths) {
  ProbeResult result;
  for (const auto& path : paths) {
    ARCHGUARD_TRY(devices, read_fleet(path));
    result.devices.insert(result.devices.end(), devices.begin(), devices.end());
    if (!devices.empty()) continue;
    const Error error = no_device_in_fleet(path);
    result.diagnostics.push_back({"fleet", std::nullopt, "", error.text(), error.fix});
  }
  result.status = result.devices.empty() ? ProbeStatus::none : ProbeStatus::ok;
  return result;
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
  return {2, "", error_lines("error", error)};
}

Answer run_probe_command(const ProbeOptions& options, bool colour) {
  ProbeResult probe;
  if (options.fleets.empty()) {
    probe = probe_this_machine(options.timeout, options.cache);
  } else {
    auto fleet = read_fleets(options.fleets);
    if (!fleet) return usage_answer(fleet.error());
    probe = std::move(*fleet);
  }
  Answer answer;
  answer.exit_code = exit_code_of(probe.status);
  if (!options.write_devices.empty())
    if (const auto written = write_file(options.write_devices, write_fleet(probe.devices)); !written)
      return usage_answer(written.error());

  switch (options.format) {
    case ProbeFormat::table:
      answer.out = devices_table(probe, colour);
      break;
    case ProbeFormat::json:
      answer.out = devices_json(probe);
      break;
    case ProbeFormat::csv:
      if (options.fleets.empty())  // so that the outputs of several machines can be told apart
        for (auto& device : probe.devices) device.host = environment("SLURMD_NODENAME").value_or(host_name());
      answer.out = write_fleet(probe.devices);
      for (const auto& each : probe.diagnostics)
        answer.err +=
            error_lines(answer.exit_code == 0 ? "warning" : "error", {each.stage, each.cause, each.fix});
      break;
  }
  return answer;
}

}  // namespace archguard
