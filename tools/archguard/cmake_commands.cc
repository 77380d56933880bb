#include "check_target.h"
#include "command_line.h"
#include "option_kinds.h"

namespace archguard {
namespace {

void add_outputs(CLI::App& command, CheckOutputs& options) {
  command.add_option("--stamp", options.stamp);
  command.add_option("--state", options.state);
  command.add_option("--report-json", options.report_json);
  command.add_option("--attach", options.attach);
}

void define_check_target(CLI::App& command, CheckTargetOptions& options) {
  command.add_option("PARAMETERS", options.parameters)->required();
  command.add_option("--built", options.built)->required();
  add_outputs(command, options);
  command.add_option("--report-folder", options.report_folder);
  command.add_option("--only", options.only);
  command.add_flag("--post-build", options.post_build);
  command.add_flag("--strict", options.strict);
}

void define_check_files(CLI::App& command, CheckFilesOptions& options) {
  command.add_option("PARAMETERS", options.parameters)->required();
  command.add_option("--files", options.files)->required();
  command.add_flag("--installed", options.installed);
  command.add_option("--destdir", options.destdir);
  command.add_option("--component", options.component);
  add_outputs(command, options);
  add_each(command, "--report", options.reports, "FORMAT=FILE", "");
}

void define_check_report(CLI::App& command, CheckReportOptions& options) {
  command.add_option("PARAMETERS", options.list)->required();
  add_each(command, "--report", options.reports, "FORMAT=FILE", "");
}

void define_check_changes(CLI::App& command, CheckChangesOptions& options) {
  command.add_option("PARAMETERS", options.list)->required();
}

}  // namespace

void add_cmake_commands(std::vector<Command>& commands, CLI::App& app) {
  const auto hide = [](CLI::App* command) { command->group(""); };
  hide(add_command(commands, app, "check-target", "", define_check_target, run_check_target));
  hide(add_command(commands, app, "check-files", "", define_check_files, run_check_files));
  hide(add_command(commands, app, "check-report", "", define_check_report, run_check_report));
  hide(add_command(commands, app, "check-changes", "", define_check_changes, run_check_changes));
}

}  // namespace archguard
