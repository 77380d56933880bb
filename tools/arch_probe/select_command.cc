#include <algorithm>
#include <string>
#include <vector>

#include "base/printable.h"
#include "base/text.h"
#include "base/write_file.h"
#include "commands.h"
#include "device/exclusion.h"
#include "device/fleet.h"
#include "device_models.h"

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

// May the fleet say why such devices are left out, so that nobody is told again?
bool is_to_excuse(const Device& device) {
  return is_wanted(device) && device.capability && !how_to_exclude(device).empty();
}

// Of several models, the lines of the first few.
std::string advice_on_excuses(const std::vector<const LeftOutModel*>& models) {
  constexpr std::size_t kLinesNamed = 4;
  Device device = models.front()->first;
  for (std::size_t i = 1; i < std::min(models.size(), kLinesNamed); ++i)
    device.origin += ", " + models[i]->first.origin;
  const bool several = models.size() > 1 || models.front()->count > 1;
  return (several ? "if they are left out on purpose, " : "if it is left out on purpose, ") +
         how_to_exclude(device) +
         (several ? std::string(" and of the lines like ") + (models.size() == 1 ? "it" : "them") : "");
}

std::string advice_on_capability(const LeftOutModel& model) {
  const std::string line = is_wanted(model.first) ? how_to_exclude(model.first) : std::string();
  if (line.empty() || model.first.capability) return {};
  return model.count > 1 ? "write their compute_cap, or " + line + " and of the lines like it"
                         : "write its compute_cap, or " + line;
}

// A line for each model and reason; what mends all of them stands below the last.
void write_excluded(const SelectReport& report, TextSink& err) {
  const LeftOut left_out = left_out_models(report);
  std::vector<const LeftOutModel*> to_excuse;
  for (const LeftOutModel& each : left_out.models)
    if (is_to_excuse(each.first)) to_excuse.push_back(&each);
  for (const LeftOutModel& each : left_out.models)
    err.write(error_lines(
        is_excluded(each.first) ? "note" : "warning",
        {"", "left out: " + describe(each.first) + more_like_it(each.count) + ": " + printable(each.reason),
         !to_excuse.empty() && &each == to_excuse.back() ? advice_on_excuses(to_excuse)
                                                         : advice_on_capability(each)}));
  if (left_out.others != 0)
    err.write(error_lines(
        "warning",
        {"", "left out: " + count_of(left_out.others, "more device") + "; --format json has all", ""}));
  if (!report.selection.toolkits_note.empty())
    err.write(error_lines("note", {"", report.selection.toolkits_note, ""}));
}

Result<Compiler> compiler_for(const SelectOptions& options) {
  ARCHGUARD_TRY(nvcc,
                options.toolkit ? compiler_of_toolkit(*options.toolkit) : compiler_of_nvcc(options.nvcc));
  if (options.clang.empty()) return nvcc;
  return compiler_of_clang(options.clang, nvcc);
}

Status write_reports(const SelectOptions& options, const SelectReport& report) {
  if (!options.write_devices.empty())
    ARCHGUARD_CHECK(write_file(options.write_devices, FleetText(report.devices)));
  if (!options.write_json.empty()) ARCHGUARD_CHECK(write_file(options.write_json, SelectionJson(report)));
  return Done{};
}

}  // namespace

int run_select_command(const SelectOptions& options, TextSink& out, TextSink& err) {
  auto devices = read_sources(options.sources);
  if (!devices) return end_with(devices.error(), err);
  auto compiler = compiler_for(options);
  if (!compiler) return end_with(compiler.error(), err);
  if (const auto makeable = check_policy(options.policy, *compiler); !makeable)
    return end_with(makeable.error(), err);

  SelectReport report;
  report.compiler = std::move(*compiler);
  if (!options.sources.empty()) {
    report.probe.status = ProbeStatus::ok;
    report.devices = std::move(*devices);
  } else {
    report.probe = options.detect ? probe_this_machine(options.timeout, options.cache) : undetected();
    report.devices = report.probe.devices;
  }
  const bool found = report.probe.status == ProbeStatus::ok;
  if (report.devices.any_kind(is_excluded) && !report.devices.any_kind(is_wanted))
    return end_with(all_excluded(), err);
  const bool stop =
      report.probe.status == ProbeStatus::none ? options.error_on_no_device : options.error_on_detect_failure;
  if (!found && stop) {
    for (const auto& each : report.probe.diagnostics)
      err.write(error_lines("error", {each.stage, each.cause, each.fix}));
    return exit_code_of(report.probe.status);
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
  if (const auto written = write_reports(options, report); !written) return end_with(written.error(), err);

  const bool is_json = options.format == SelectFormat::json;
  const bool is_torch = options.format == SelectFormat::torch;
  if (!is_json) err.write(reason_lines(report));
  for (const auto& warning : report.selection.warnings) err.write(error_lines("warning", {"", warning, ""}));
  for (const auto& unmade : report.unmade) err.write(error_lines("warning", {"", unmade.reason, ""}));
  write_excluded(report, err);
  if (is_torch)
    for (const auto& note : torch_notes(report.selection)) err.write(error_lines("note", {"", note, ""}));
  const std::string list = is_json ? std::string() : formatted(options.format, report.selection);
  const bool none_served = report.selection.entries.empty();
  const bool none_listed = none_served || (is_torch && list == "\n");
  if (none_served) {
    const auto is_known = [](const Device& device) { return device.capability.has_value(); };
    const bool any_known = report.devices.any_kind(is_known);
    err.write(error_lines(
        "error", any_known
                     ? Error{"", name_of(report.compiler) + " supports none of the devices", ""}
                     : Error{"", "of no device the compute capability is known",
                             "write them to a fleet file (name, compute_cap), and name it: --fleet FILE"}));
  } else if (none_listed)
    err.write(
        error_lines("error", {"", "torch takes none of these architectures", "choose another --format"}));
  err.flush();
  if (is_json)
    SelectionJson(report).write_to(out);
  else if (!none_listed)
    out.write(list);
  return none_listed ? 1 : 0;
}

}  // namespace archguard
