// archguard: what runs after the build. Options here; each command in its own file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <unistd.h>

#include "base/standard_streams.h"
#include "base/text.h"
#include "check_target.h"
#include "cmakedir.h"
#include "commands.h"
#include "report_files.h"
#include "terminal.h"

namespace {

using namespace archguard;

// An option that takes one value and may be repeated.
void add_each(CLI::App& command, const char* name, std::vector<std::string>& values, const char* value,
              const std::string& help) {
  command.add_option(name, values, help + "; may be repeated")
      ->type_name(value)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

void add_one(CLI::App& command, const char* name, std::string& text, const char* value,
             const std::string& help) {
  command.add_option(name, text, help)->type_name(value);
}

// What is wrong with a value, and in a second line the fix: describe_usage() takes both apart.
CLI::Validator one_of(const std::vector<std::string>& choices) {
  return CLI::Validator(
      [choices](const std::string& text) {
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) return std::string();
        const auto meant = did_you_mean(text, choices);
        return "is '" + text + "', expected " + join(choices, ", ") +
               (meant ? "\ndid you mean " + *meant + "?" : std::string());
      },
      "");
}

void add_choice(CLI::App& command, const char* name, std::string& text,
                const std::vector<std::string>& choices, const std::string& help) {
  command.add_option(name, text, help)->type_name(join(choices, "|"))->check(one_of(choices));
}

// `takes` tells the formats that the command has.
void add_format(CLI::App& command, const ReportFormat*& format, bool (*takes)(const ReportFormat&)) {
  std::vector<std::string> names;
  for (const ReportFormat& each : report_formats())
    if (takes(each)) names.emplace_back(each.name);
  const auto take = [&format](const std::string& name) {
    for (const ReportFormat& each : report_formats())
      if (each.name == name) format = &each;
  };
  command.add_option_function<std::string>("--format", take, "[" + names.front() + "]")
      ->type_name(join(names, "|"))
      ->check(one_of(names));
}

CLI::Option* add_paths(CLI::App& command, std::vector<std::string>& paths) {
  return command
      .add_option("PATH", paths,
                  "executable, library, object, archive, .fatbin, .cubin, .ptx, wheel, zip file or folder")
      ->type_name("");
}

void add_needed_options(CLI::App& command, NeededOptions& options) {
  add_one(command, "--sysroot", options.sysroot, "DIR",
          "the root of the system that they are for, where it is another");
  add_each(command, "--rpath-link", options.rpath_link, "DIR",
           "a folder where the linker found them, asked after the loader's own");
}

CLI::App* add_inspect(CLI::App& app, InspectOptions& options) {
  CLI::App* command = app.add_subcommand("inspect", "list the device code that files hold");
  add_paths(*command, options.paths)->required();
  command->add_flag("--kernels", options.kernels,
                    "read every image and list its kernels: real, empty, trap, unknown");
  command->add_flag("--needed", options.needed,
                    "also the libraries that ELF files need, found as the loader would");
  add_needed_options(*command, options.where);
  add_choice(*command, "--by", options.by, {"arch", "kernel", "fatbin", "container"},
             "what the text is grouped by; the JSON always holds all [arch]");
  add_choice(*command, "--sort", options.sort, {"name", "size"},
             "with --by kernel: size tells what each kernel costs, over all files, the largest first [name]");
  command->add_option("--top", options.top, "the N largest kernels: --by kernel --sort size")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 32).description(""));
  command->add_flag(
      "--coverage", options.coverage,
      "also what verify says of each device of the table: a baseline for diff; with --format json");
  add_each(*command, "--fleet", options.fleets, "FILE", "with --coverage: of the devices of this fleet, too");
  add_each(*command, "--device", options.devices, "CC[@CUDA]", "with --coverage: of this device, too");
  add_choice(*command, "--scope", options.scope, {"fatbin", "library"},
             "with --coverage: as verify has it [fatbin]");
  add_choice(*command, "--embedded", options.embedded, {"error", "warn", "off"},
             "with --coverage: as verify has it [warn]");
  add_format(*command, options.format, [](const ReportFormat& format) { return format.inspect != nullptr; });
  command->footer("Exit: 0 all was read, 2 something could not be read or is unknown.");
  return command;
}

CLI::App* add_verify(CLI::App& app, VerifyOptions& options) {
  CLI::App* command = app.add_subcommand("verify", "prove that files run on every device, or say why not");
  add_paths(*command, options.paths);
  add_one(*command, "--files-from", options.files_from, "FILE",
          "a file with more PATHs, one a line or ended by NUL; what is no binary is passed over");
  add_each(*command, "--fleet", options.fleets, "FILE",
           "the devices: CSV as nvidia-smi --query-gpu prints it; a line whose column excluded says why is "
           "left out; - is standard input");
  add_each(*command, "--device", options.devices, "CC[@CUDA]",
           "one device: 8.6, or 8.6@12.4 with the CUDA that its driver offers");
  command->add_flag("--this-machine", options.this_machine, "the GPUs of this machine");
  add_each(*command, "--env", options.environment, "NAME=VALUE",
           "the program runs with this: CUDA_FORCE_PTX_JIT=1, CUDA_DISABLE_PTX_JIT=1");
  add_one(*command, "--expect", options.expect, "LIST",
          "each fat binary holds these images: 80-real;90-virtual, or 8.0;9.0+PTX");
  add_one(*command, "--excluded", options.excluded, "FILE",
          "JSON of arch_probe select: devices that it left out are no failure");
  command->add_flag("--needed", options.needed,
                    "also the libraries that ELF files need, found as the loader would; scope library");
  command->add_flag("--needed-only", options.needed_only,
                    "these libraries, and not the files that need them");
  add_one(*command, "--needed-list", options.needed_list, "FILE",
          "write the paths of these libraries to this file");
  add_needed_options(*command, options.where);
  add_each(*command, "--cache", options.cache, "FOLDER",
           "keep the verdicts on these libraries there, and take them again while the files are the same");
  add_choice(
      *command, "--scope", options.scope, {"fatbin", "container", "library"},
      "library: some image fits; for libraries that choose among images; container is fatbin [fatbin]");
  add_choice(*command, "--require", options.require, {"sass", "any"}, "sass: PTX is no answer [any]");
  command->add_flag("--require-ptx", options.require_ptx,
                    "each fat binary holds plain PTX, for GPUs to come");
  command->add_flag("--require-driver", options.require_driver,
                    "every device must tell its driver where PTX is needed");
  add_choice(*command, "--driver", options.driver, {"error", "warn"},
             "a driver too old for the file's CUDA runtime, error 35 [error]");
  add_choice(*command, "--hollow", options.hollow, {"error", "warn", "off"},
             "kernels that do nothing on a device [warn]");
  add_choice(*command, "--partly", options.partly, {"error", "warn", "off"},
             "scope library: a device that gets far fewer kernels than others [error]");
  add_choice(*command, "--embedded", options.embedded, {"error", "warn", "off"},
             "a device that none of the images fits that a file holds as data (bin2c) [warn]");
  add_each(*command, "--any-of", options.any_of, "GLOB",
           "of the files that match, a device needs one: 'libx_cuda*.so', 'sm*/x.so'");
  add_one(*command, "--waivers", options.waivers, "FILE",
          "CSV kernel,compute_cap,reason: kernels that may be absent");
  add_one(*command, "--target", options.target, "TARGET", "the CMake target that a fix names");
  add_format(*command, options.format, [](const ReportFormat& format) { return format.is_printed; });
  add_one(*command, "--output", options.output, "FILE", "write the report to this file");
  add_each(*command, "--report", options.reports, "FORMAT=FILE",
           "also write a report to this file, - is standard output: " + names_of_reports());
  command->add_flag("--brief", options.brief, "only failures, warnings and one line a file");
  command->add_flag("--full", options.full, "name every file and device of a failure, and names whole");
  command->footer(
      "Exit: 0 every device covered, 1 a device is not covered, 2 usage, unreadable or unknown, 3 no device "
      "code.");
  return command;
}

CLI::App* add_report(CLI::App& app, ReportCommandOptions& options) {
  CLI::App* command =
      app.add_subcommand("report", "join what runs of verify found, as one run over all files would have");
  command->add_option("RESULT.json", options.results, "what verify --report json=FILE wrote")
      ->type_name("")
      ->required();
  add_format(*command, options.format, [](const ReportFormat& format) { return format.is_printed; });
  add_one(*command, "--output", options.output, "FILE", "write the report to this file");
  add_each(*command, "--report", options.reports, "FORMAT=FILE",
           "also write a report to this file, - is standard output: " + names_of_reports());
  command->add_flag("--brief", options.brief, "only failures, warnings and one line a file");
  command->add_flag("--full", options.full, "name every file and device of a failure, not the first few");
  command->footer("Exit: as verify would have over all files; 2 also where results do not go together.");
  return command;
}

CLI::App* add_diff(CLI::App& app, DiffOptions& options) {
  CLI::App* command = app.add_subcommand(
      "diff", "compare what two releases run on, and what they weigh; or one on two fleets");
  command
      ->add_option("PATH", options.paths,
                   "OLD and NEW: a file, wheel, folder, or JSON of inspect --coverage; with --fleet-from and "
                   "--fleet-to the files that run on both fleets")
      ->required()
      ->type_name("");
  add_each(*command, "--fleet", options.fleets, "FILE",
           "the devices that are asked for, as verify has them; without any: each that some CUDA knows");
  add_each(*command, "--device", options.devices, "CC[@CUDA]",
           "one device: 8.6, or 8.6@12.4 with the CUDA that its driver offers");
  add_one(*command, "--fleet-from", options.fleet_from, "OLD.csv", "the devices that there are");
  add_one(*command, "--fleet-to", options.fleet_to, "NEW.csv", "those that take their place");
  add_one(*command, "--grow", options.grow, "PERCENT", "the bytes of device code may grow by so much");
  add_choice(*command, "--scope", options.scope, {"fatbin", "library"}, "as verify has it [fatbin]");
  add_choice(*command, "--embedded", options.embedded, {"error", "warn", "off"}, "as verify has it [warn]");
  std::vector<std::string> names;
  for (const DiffFormat& each : diff_formats()) names.emplace_back(each.name);
  const auto take = [&options](const std::string& name) {
    for (const DiffFormat& each : diff_formats())
      if (each.name == name) options.format = &each;
  };
  command->add_option_function<std::string>("--format", take, "[" + names.front() + "]")
      ->type_name(join(names, "|"))
      ->check(one_of(names));
  command->footer(
      "Exit: 0 nothing lost, 1 a device lost coverage, or the size grew too much, 2 usage, unreadable or "
      "unknown.");
  return command;
}

// What the CMake package runs: neither in --help nor for anybody else.
CLI::App* add_hidden(CLI::App& app, const char* name, std::string& argument) {
  CLI::App* command = app.add_subcommand(name)->group("");
  command->add_option("PARAMETERS", argument)->required();
  return command;
}

CLI::App* add_check_target(CLI::App& app, CheckTargetOptions& options) {
  CLI::App* command = add_hidden(app, "check-target", options.parameters);
  command->add_option("--built", options.built)->required();
  command->add_option("--stamp", options.stamp);
  command->add_option("--state", options.state);
  command->add_option("--report", options.report);
  command->add_option("--reports", options.reports);
  command->add_option("--attach", options.attach);
  command->add_option("--only", options.only);
  command->add_flag("--post-build", options.post_build);
  command->add_flag("--strict", options.strict);
  return command;
}

CLI::App* add_check_files(CLI::App& app, CheckFilesOptions& options) {
  CLI::App* command = add_hidden(app, "check-files", options.parameters);
  command->add_option("--files", options.files)->required();
  command->add_flag("--installed", options.installed);
  command->add_option("--destdir", options.destdir);
  command->add_option("--component", options.component);
  command->add_option("--stamp", options.stamp);
  command->add_option("--state", options.state);
  command->add_option("--report", options.report);
  add_each(*command, "--also", options.also, "FORMAT=FILE", "");
  command->add_option("--attach", options.attach);
  return command;
}

CLI::App* add_check_report(CLI::App& app, CheckReportOptions& options) {
  CLI::App* command = add_hidden(app, "check-report", options.list);
  add_each(*command, "--report", options.reports, "FORMAT=FILE", "");
  return command;
}

// "unknown option --flet; did you mean --fleet?"
Error describe_usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  for (const CLI::App* chosen : app.get_subcommands()) command = chosen;
  Error usage{{}, error.what(), "archguard " + (command == &app ? "" : command->get_name() + " ") + "--help"};
  // "--scope: is 'file', …" and "--hollow: 1 required error|warn|off missing", as CLI11 has them.
  const auto colon = usage.what.find(": ");
  if (starts_with(usage.what, "--") && colon != std::string::npos) {
    if (starts_with(std::string_view(usage.what).substr(colon), ": is ")) {
      usage.what.erase(colon, 1);
    } else if (error.get_name() == "ArgumentMismatch") {
      usage.what = usage.what.substr(0, colon) + " needs a value";
      usage.fix = "give it one, or leave it out";
    }
  }
  if (const auto end = usage.what.find('\n'); end != std::string::npos) {
    usage.fix = usage.what.substr(end + 1);
    usage.what.resize(end);
  }
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  if (command == &app)
    for (const CLI::App* sub : app.get_subcommands({})) known.push_back(sub->get_name());
  for (const std::string& extra : command->remaining()) {
    usage.what = "unknown option or argument '" + extra + "'";
    const std::string name = extra.substr(0, extra.find('='));
    if (const auto meant = did_you_mean(name, known)) usage.what += "; did you mean '" + *meant + "'?";
    break;
  }
  return usage;
}

int finish(const Result<int>& result) {
  if (result) return *result;
  print_error(result.error());
  return kExitUnreadable;
}

// An exception without memory for itself: what std::bad_alloc would have said, and nothing that allocates.
[[noreturn]] void end_without_memory() {
  if (std::current_exception() != nullptr) std::abort();
  constexpr std::string_view kMessage = "archguard: error: not enough memory to begin\n";
  if (write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0) std::_Exit(kExitUnreadable);
  std::_Exit(kExitUnreadable);
}

// Before anything else of the program is made.
__attribute__((constructor(101))) void prepare_for_no_memory() {
  std::set_terminate(end_without_memory);
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_streams_apart();
  CLI::App app("archguard proves that CUDA binaries run on every device of a fleet", "archguard");
  app.set_version_flag("--version", "archguard " ARCHGUARD_VERSION);
  bool cmakedir = false;
  app.add_flag("--cmakedir", cmakedir, "print the folder of ArchGuardConfig.cmake");
  app.require_subcommand(0, 1);
  InspectOptions inspect_options;
  VerifyOptions verify_options;
  const CLI::App* inspect = add_inspect(app, inspect_options);
  const CLI::App* verify = add_verify(app, verify_options);
  ReportCommandOptions report_options;
  const CLI::App* report = add_report(app, report_options);
  DiffOptions diff_options;
  const CLI::App* diff = add_diff(app, diff_options);
  CheckTargetOptions target_options;
  CheckFilesOptions files_options;
  CheckChangesOptions changes_options;
  const CLI::App* check_target = add_check_target(app, target_options);
  const CLI::App* check_files = add_check_files(app, files_options);
  CheckReportOptions check_report_options;
  const CLI::App* check_report = add_check_report(app, check_report_options);
  const CLI::App* check_changes = add_hidden(app, "check-changes", changes_options.list);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      const int status = app.exit(error);
      if (const auto printed = finish_printing(); !printed) return finish(Result<int>(printed.error()));
      return status;
    }
    print_error(describe_usage(app, error));
    return kExitUnreadable;
  }
  try {
    if (inspect->parsed()) return finish(run_inspect(inspect_options));
    if (verify->parsed()) return finish(run_verify(verify_options));
    if (report->parsed()) return finish(run_report(report_options));
    if (diff->parsed()) return finish(run_diff(diff_options));
    if (check_target->parsed()) return finish(run_check_target(target_options));
    if (check_files->parsed()) return finish(run_check_files(files_options));
    if (check_report->parsed()) return finish(run_check_report(check_report_options));
    if (check_changes->parsed()) return finish(run_check_changes(changes_options));
  } catch (const std::bad_alloc&) {
    print_error({{}, "not enough memory for an image of these files", {}});
    return kExitUnreadable;
  }
  if (cmakedir) return finish(print_cmakedir());
  print_error({{}, "no command", "archguard --help"});
  return kExitUnreadable;
}
