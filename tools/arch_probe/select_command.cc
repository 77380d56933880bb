#include <algorithm>
#include <memory>

#include "base/printable.h"
#include "base/text.h"
#include "base/write_file.h"
#include "commands.h"
#include "device/exclusion.h"
#include "device/fleet.h"

namespace archguard {
namespace {

Result<DeviceList> read_sources(const std::vector<SelectOptions::Source>& sources) {
  DeviceList devices;
  for (const auto& source : sources) {
    if (source.fleet) {
      ARCHGUARD_TRY(added, read_fleet(source.text, devices));
      if (added == 0) return no_device_in_fleet(source.text);
    } else {
      ARCHGUARD_TRY(device, parse_device_option(source.text));
      devices.push_back(device);
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

std::string formatted(SelectFormat format, const Selection& selection) {
  const std::string text = format == SelectFormat::torch     ? format_torch(selection)
                           : format == SelectFormat::gencode ? format_gencode(selection)
                                                             : format_cmake(selection);
  return text + "\n";
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

// A line for each of them.
void write_excluded(const SelectReport& report, const TextSink& sink) {
  for (const auto& excluded : report.selection.excluded) {
    const Device device = report.devices[excluded.device];
    const std::string line = is_wanted(device) ? how_to_exclude(device) : std::string();
    const std::string advice = line.empty()        ? ""
                               : device.capability ? "if it is left out on purpose, " + line
                                                   : "write its compute_cap, or " + line;
    sink(error_lines(is_excluded(device) ? "note" : "warning",
                     {"", "left out: " + describe(device) + ": " + printable(excluded.why->reason), advice}));
  }
  if (!report.selection.toolkits_note.empty())
    sink(error_lines("note", {"", report.selection.toolkits_note, ""}));
}

Result<Compiler> compiler_for(const SelectOptions& options) {
  ARCHGUARD_TRY(nvcc,
                options.toolkit ? compiler_of_toolkit(*options.toolkit) : compiler_of_nvcc(options.nvcc));
  if (options.clang.empty()) return nvcc;
  return compiler_of_clang(options.clang, nvcc);
}

Status write_reports(const SelectOptions& options, const SelectReport& report) {
  if (!options.write_devices.empty())
    ARCHGUARD_CHECK(write_file(options.write_devices, write_fleet(report.devices)));
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
    report.devices = std::move(*devices);
  } else {
    report.probe = options.detect ? probe_this_machine(options.timeout, options.cache) : undetected();
    report.devices = report.probe.devices;
  }
  Answer answer;
  const bool found = report.probe.status == ProbeStatus::ok;
  if (report.devices.any_kind(is_excluded) && !report.devices.any_kind(is_wanted))
    return usage_answer(all_excluded());
  const bool stop =
      report.probe.status == ProbeStatus::none ? options.error_on_no_device : options.error_on_detect_failure;
  if (!found && stop) {
    answer.exit_code = exit_code_of(report.probe.status);
    std::string errors;
    for (const auto& each : report.probe.diagnostics)
      errors += error_lines("error", {each.stage, each.cause, each.fix});
    answer.err = text_source(errors);
    return answer;
  }

  // A driver that fails may still list devices; none of them is selected.
  const DeviceList none;
  report.selection = select_architectures(found ? report.devices : none, report.compiler, options.policy);
  if (!found) {
    auto& warnings = report.selection.warnings;
    warnings.insert(warnings.begin(), baseline_warning(report, !options.policy.baseline.empty()));
  }
  if (found && !options.judge.empty())
    report.judged = judge_list(report.devices, report.compiler, options.judge);
  report.unmade = unmade_entries(report.compiler, options.judge);
  if (const auto written = write_reports(options, report); !written) return usage_answer(written.error());

  const bool is_json = options.format == SelectFormat::json;
  std::string before = is_json ? std::string() : reason_lines(report), after;
  for (const auto& warning : report.selection.warnings) before += error_lines("warning", {"", warning, ""});
  for (const auto& unmade : report.unmade) before += error_lines("warning", {"", unmade.reason, ""});
  if (options.format == SelectFormat::torch)
    for (const auto& note : torch_notes(report.selection)) after += error_lines("note", {"", note, ""});
  std::string list = is_json ? std::string() : formatted(options.format, report.selection);
  if (report.selection.entries.empty()) {
    answer.exit_code = 1;
    after += error_lines("error", {"", name_of(report.compiler) + " can serve none of the devices", ""});
    list.clear();
  } else if (options.format == SelectFormat::torch && list == "\n") {
    answer.exit_code = 1;
    after += error_lines("error", {"", "torch takes none of these architectures", "choose another --format"});
    list.clear();
  }
  const auto held = std::make_shared<const SelectReport>(std::move(report));
  answer.out = [held, list, is_json](const TextSink& sink) {
    return is_json ? selection_json(*held)(sink) : sink(list);
  };
  answer.err = [held, before, after](const TextSink& sink) {
    sink(before);
    write_excluded(*held, sink);
    sink(after);
  };
  return answer;
}

}  // namespace archguard
