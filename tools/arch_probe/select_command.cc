#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "base/write_file.h"
#include "commands.h"
#include "device/exclusion.h"
#include "device/fleet.h"

namespace archguard {
namespace {

Result<std::vector<Device>> read_sources(const std::vector<SelectOptions::Source>& sources) {
  std::vector<Device> devices;
  for (const auto& source : sources) {
    if (source.fleet) {
      ARCHGUARD_TRY(fleet, read_fleet(source.text));
      if (fleet.empty()) return no_device_in_fleet(source.text);
      devices.insert(devices.end(), fleet.begin(), fleet.end());
    } else {
      ARCHGUARD_TRY(device, parse_device_option(source.text));
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

ProbeResult undetected() {
  ProbeResult result;
  result.diagnostics.push_back({"environment", std::nullopt, "", "detection is switched off",
                                "name the GPUs to build for in a fleet file: --fleet, or FLEET in CMake"});
  return result;
}

// Why there is no device to select for, and what is taken instead.
std::string baseline_warning(const SelectReport& report, bool given) {
  const auto& diagnostics = report.probe.diagnostics;
  const std::string cause = diagnostics.empty() ? "no device was found" : diagnostics.front().cause;
  const std::string fix = diagnostics.empty() ? "" : diagnostics.front().fix;
  std::string text = cause + "; taking the " +
                     (given ? "given baseline" : "baseline of " + name_of(report.compiler)) +
                     " instead: " + format_cmake(report.selection);
  return fix.empty() ? text : text + " (fix: " + fix + ")";
}

std::string select_output(SelectFormat format, const SelectReport& report) {
  switch (format) {
    case SelectFormat::cmake:
      return format_cmake(report.selection) + "\n";
    case SelectFormat::torch:
      return format_torch(report.selection) + "\n";
    case SelectFormat::gencode:
      return format_gencode(report.selection) + "\n";
    case SelectFormat::json:
      break;
  }
  return selection_json(report);
}

// One line for each entry and each device left out, for people.
std::string reason_lines(const SelectReport& report) {
  std::size_t width = 0;
  for (const auto& chosen : report.selection.entries) width = std::max(width, to_string(chosen.entry).size());
  std::string text;
  for (const auto& chosen : report.selection.entries) {
    std::string entry = to_string(chosen.entry);
    entry.resize(width, ' ');
    text += entry + "  " + printable(chosen.reason) + "\n";
  }
  return text;
}

std::string excluded_lines(const SelectReport& report) {
  std::string text;
  for (const auto& excluded : report.selection.excluded) {
    const Device& device = report.probe.devices[excluded.device];
    const bool on_purpose = !device.excluded.empty();
    const std::string line = is_wanted(device) ? how_to_exclude(device) : std::string();
    const std::string advice = line.empty()        ? ""
                               : device.capability ? "if it is left out on purpose, " + line
                                                   : "write its compute_cap, or " + line;
    text += error_lines(on_purpose ? "note" : "warning",
                        {"", "left out: " + describe(device) + ": " + printable(excluded.reason), advice});
  }
  if (!report.selection.toolkits_note.empty())
    text += error_lines("note", {"", report.selection.toolkits_note, ""});
  return text;
}

Result<Compiler> compiler_for(const SelectOptions& options) {
  ARCHGUARD_TRY(nvcc,
                options.toolkit ? compiler_of_toolkit(*options.toolkit) : compiler_of_nvcc(options.nvcc));
  if (options.clang.empty()) return nvcc;
  return compiler_of_clang(options.clang, nvcc);
}

Status write_reports(const SelectOptions& options, const SelectReport& report) {
  if (!options.write_devices.empty())
    ARCHGUARD_CHECK(write_file(options.write_devices, write_fleet(report.probe.devices)));
  if (!options.write_json.empty()) ARCHGUARD_CHECK(write_file(options.write_json, selection_json(report)));
  return Done{};
}

}  // namespace

Answer run_select_command(const SelectOptions& options) {
  auto devices = read_sources(options.sources);
  if (!devices) return usage_answer(devices.error());
  auto compiler = compiler_for(options);
  if (!compiler) return usage_answer(compiler.error());
  if (const auto makeable = check_policy(options.policy, *compiler); !makeable)
    return usage_answer(makeable.error());

  SelectReport report;
  report.compiler = std::move(*compiler);
  if (!options.sources.empty()) {
    report.probe.status = ProbeStatus::ok;
    report.probe.devices = std::move(*devices);
  } else {
    report.probe = options.detect ? probe_this_machine(options.timeout, options.cache) : undetected();
  }
  Answer answer;
  const bool found = report.probe.status == ProbeStatus::ok;
  const auto is_excluded = [](const Device& device) { return !device.excluded.empty(); };
  if (const auto& all = report.probe.devices; !all.empty() &&
                                              std::any_of(all.begin(), all.end(), is_excluded) &&
                                              std::none_of(all.begin(), all.end(), is_wanted))
    return usage_answer(all_excluded());
  const bool stop =
      report.probe.status == ProbeStatus::none ? options.error_on_no_device : options.error_on_detect_failure;
  if (!found && stop) {
    answer.exit_code = exit_code_of(report.probe.status);
    for (const auto& each : report.probe.diagnostics)
      answer.err += error_lines("error", {each.stage, each.cause, each.fix});
    return answer;
  }

  // A driver that fails may still list devices; none of them is selected.
  report.selection = select_architectures(found ? report.probe.devices : std::vector<Device>{},
                                          report.compiler, options.policy);
  if (!found) {
    auto& warnings = report.selection.warnings;
    warnings.insert(warnings.begin(), baseline_warning(report, !options.policy.baseline.empty()));
  }
  if (found && !options.judge.empty())
    report.judged = judge_list(report.probe.devices, report.compiler, options.judge);
  report.unmade = unmade_entries(report.compiler, options.judge);
  if (const auto written = write_reports(options, report); !written) return usage_answer(written.error());

  if (options.format != SelectFormat::json) answer.err += reason_lines(report);
  for (const auto& warning : report.selection.warnings)
    answer.err += error_lines("warning", {"", warning, ""});
  for (const auto& unmade : report.unmade) answer.err += error_lines("warning", {"", unmade.reason, ""});
  answer.err += excluded_lines(report);
  if (options.format == SelectFormat::torch)
    for (const auto& note : torch_notes(report.selection)) answer.err += error_lines("note", {"", note, ""});
  if (report.selection.entries.empty()) {
    answer.exit_code = 1;
    answer.err += error_lines("error", {"", name_of(report.compiler) + " can serve none of the devices", ""});
    if (options.format != SelectFormat::json) return answer;
  }
  answer.out = select_output(options.format, report);
  if (options.format == SelectFormat::torch && answer.out == "\n") {
    answer.exit_code = 1;
    answer.out.clear();
    answer.err +=
        error_lines("error", {"", "torch takes none of these architectures", "choose another --format"});
  }
  return answer;
}

}  // namespace archguard
